#include "program/polls.h"

namespace lw::program {
namespace {

using ptx::FormId;
using ptx::Mod;

bool reads_clock(const ptx::Function& function, const ptx::Instruction& instruction) {
  for (const ptx::Operand& operand : function.operands_of(instruction)) {
    if (operand.kind != ptx::OperandKind::special) continue;
    switch (operand.special()) {
      case ptx::SpecialRegister::clock:
      case ptx::SpecialRegister::clock64:
      case ptx::SpecialRegister::globaltimer:
      case ptx::SpecialRegister::globaltimer_lo:
        return true;
      default:
        break;
    }
  }
  return false;
}

}  // namespace

bool is_poll(const ptx::Opcode& opcode) {
  switch (opcode.form) {
    case FormId::ld_volatile:
    case FormId::ld_relaxed:
    case FormId::ld_acquire:
    case FormId::ld_mmio:
    case FormId::nanosleep:
      return true;
    default:
      return ptx::row_of(opcode.form).effect == ptx::Effect::atomic || opcode.has(Mod::test_wait) ||
             opcode.has(Mod::try_wait);
  }
}

Polls::Polls(const ptx::Module& module, const FlatCode& code) {
  std::vector<char> polls;
  for (const ptx::Opcode& opcode : module.opcodes) polls.push_back(is_poll(opcode));
  before_.reserve(code.instructions.size() + 1);
  uint32_t count = 0;
  for (const FlatInstruction& flat : code.instructions) {
    before_.push_back(count);
    if (flat.source == nullptr) continue;
    const ptx::Function& function = module.functions[code.frames[flat.frame].function.value];
    if (polls[flat.source->opcode.value] || reads_clock(function, *flat.source)) ++count;
  }
  before_.push_back(count);
}

}  // namespace lw::program
