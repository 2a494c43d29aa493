#include "program/causes.h"

#include <utility>

#include "program/operands.h"
#include "ptx/forms.h"

namespace lw::program {

using ptx::Effect;
using ptx::FormId;

bool is_test(FormId form) {
  return form == FormId::mbarrier_test_wait || form == FormId::mbarrier_test_wait_parity ||
         form == FormId::mbarrier_try_wait || form == FormId::mbarrier_try_wait_parity;
}

bool is_strong_read(const ptx::Opcode& opcode, Effect effect) {
  using ptx::Mod;
  if (effect == Effect::atomic) return mnemonic(opcode) == "atom";
  return effect == Effect::load && (opcode.has(Mod::_volatile) || opcode.has(Mod::relaxed) ||
                                    opcode.has(Mod::acquire) || opcode.has(Mod::mmio));
}

namespace {

std::optional<Cause> cause_of_special(ptx::SpecialRegister special) {
  using S = ptx::SpecialRegister;
  switch (special) {
    case S::clock:
    case S::clock_hi:
    case S::clock64:
    case S::globaltimer:
    case S::globaltimer_lo:
    case S::globaltimer_hi:
      return Cause::clock;
    case S::smid:
    case S::nsmid:
    case S::warpid:
    case S::nwarpid:
      return Cause::placement;
    default:
      return std::nullopt;
  }
}

void find_special(Made& node, const ptx::Function& function, const ptx::Operand& operand) {
  if (operand.kind == ptx::OperandKind::special && !node.cause)
    node.cause = cause_of_special(operand.special());
  if (operand.kind == ptx::OperandKind::vector)
    for (const ptx::Operand& element : function.elements_of(operand))
      find_special(node, function, element);
}

void add_cause(Made& node, const ptx::Opcode& opcode) {
  if (is_test(node.form)) node.cause = Cause::mbarrier_test;
  if (node.form == FormId::activemask) node.cause = Cause::active_lanes;
  if (node.form == FormId::setmaxnreg && opcode.has(ptx::Mod::inc))
    node.cause = Cause::register_pool;
  if (node.form == FormId::tcgen05_alloc) node.cause = Cause::tensor_columns;
  if (is_strong_read(opcode, node.effect) && !node.writes.empty()) node.cause = Cause::strong_read;
}

}  // namespace

std::vector<Made> describe_made(const ptx::Module& module, const FlatCode& code) {
  std::vector<Made> nodes;
  for (Node& node : describe_nodes(module, code)) nodes.push_back({std::move(node), {}});
  for (size_t i = 0; i < nodes.size(); ++i) {
    const FlatInstruction& flat = code.instructions[i];
    if (flat.source == nullptr) continue;
    const ptx::Function& function = module.functions[code.frames[flat.frame].function.value];
    for (const ptx::Operand& operand : function.operands_of(*flat.source))
      find_special(nodes[i], function, operand);
    add_cause(nodes[i], module.opcode_of(*flat.source));
  }
  return nodes;
}

}  // namespace lw::program
