#include "program/nodes.h"

#include "program/operands.h"

namespace lw::program {
namespace {

using ptx::Effect;

class Describer {
 public:
  Describer(const ptx::Module& module, const FlatCode& code) : module_(module), code_(code) {}

  Node describe(const FlatInstruction& flat) const {
    Node node;
    if (flat.kind == FlatInstruction::Kind::pass) return describe(code_.passes[flat.index]);
    if (flat.source == nullptr) return node;
    const ptx::Function& function = module_.functions[code_.frames[flat.frame].function.value];
    const ptx::Opcode& opcode = module_.opcode_of(*flat.source);
    node.form = opcode.form;
    node.effect = ptx::row_of(opcode.form).effect;
    if (flat.source->guarded) node.guard = code_.virtual_of(flat.frame, flat.source->guard);
    const auto operands = function.operands_of(*flat.source);
    const bool result_first = writes_first(node, opcode);
    for (size_t i = 0; i < operands.size(); ++i)
      add_operand(node, flat.frame, function, operands[i], i == 0 && result_first);
    add_condition_code(node, opcode);
    return node;
  }

 private:
  static Node describe(const Pass& pass) {
    Node node;
    node.reads = pass.from;
    node.writes = pass.into;
    if (pass.kind == Pass::Kind::load) node.effect = Effect::load;
    if (pass.kind == Pass::Kind::store) node.effect = Effect::store;
    return node;
  }
  void add_condition_code(Node& node, const ptx::Opcode& opcode) const {
    const auto code = static_cast<uint32_t>(code_.registers.size());
    const std::string_view name = mnemonic(opcode);
    if (opcode.has(ptx::Mod::cc)) node.writes.push_back(code);
    if (name == "addc" || name == "subc" || name == "madc") node.reads.push_back(code);
  }

  // Whether operand 0 is written. Where it may be both (accumulators), it is read as well.
  static bool writes_first(const Node& node, const ptx::Opcode& opcode) {
    if (has_only_result_first(opcode)) return true;
    return node.effect != Effect::store && node.effect != Effect::control &&
           node.effect != Effect::async && node.effect != Effect::fence;
  }

  void add_operand(Node& node, uint32_t frame, const ptx::Function& function,
                   const ptx::Operand& operand, bool result) const {
    const bool in_address = operand.kind == ptx::OperandKind::address;
    for_each_register(function, operand, [&](const ptx::Operand& element) {
      const uint32_t first = code_.virtual_of(frame, element.reg());
      const uint32_t parts = slots_of(function.registers[element.reg().value]);
      const bool is_address = in_address || element.kind == ptx::OperandKind::address;
      std::vector<uint32_t>& list = is_address ? node.address : result ? node.writes : node.reads;
      for (uint32_t part = 0; part < parts; ++part) list.push_back(first + part);
    });
    for_each_symbol(function, operand,
                    [&](const ptx::Operand& symbol) { node.symbols.push_back(symbol.variable()); });
  }

  const ptx::Module& module_;
  const FlatCode& code_;
};

}  // namespace

std::vector<Node> describe_nodes(const ptx::Module& module, const FlatCode& code) {
  const Describer describer(module, code);
  std::vector<Node> nodes;
  nodes.reserve(code.instructions.size());
  for (const FlatInstruction& flat : code.instructions) nodes.push_back(describer.describe(flat));
  return nodes;
}

}  // namespace lw::program
