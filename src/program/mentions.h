#pragma once
// The virtual registers that an instruction of the flat code names, reads first.

#include <vector>

#include "program/flat.h"
#include "program/operands.h"

namespace lw::program {

class Mentions {
 public:
  Mentions(const ptx::Module& module, const FlatCode& code);

  // visit(virtual register, overwrites it in every lane that runs the instruction)
  template <class Visit>
  void visit(uint32_t index, Visit&& visit) const {
    const FlatInstruction& flat = code_.instructions[index];
    if (flat.kind == FlatInstruction::Kind::pass) {
      for (uint32_t reg : code_.passes[flat.index].from) visit(reg, false);
      for (uint32_t reg : code_.passes[flat.index].into) visit(reg, true);
      return;
    }
    if (flat.source == nullptr) return;
    const ptx::Function& function = module_.functions[code_.frames[flat.frame].function.value];
    auto operands = function.operands_of(*flat.source);
    bool result = first_is_result_[flat.source->opcode.value] && !flat.source->guarded;
    if (flat.source->guarded) each_part(flat.frame, function, flat.source->guard, 0, false, visit);
    // A call that was inlined names its operands elsewhere.
    if (flat.kind == FlatInstruction::Kind::jump) return;
    for (size_t i = result ? 1 : 0; i < operands.size(); ++i)
      registers(flat.frame, function, operands[i], false, visit);
    if (result && !operands.empty()) registers(flat.frame, function, operands[0], true, visit);
  }

 private:
  template <class Visit>
  void registers(uint32_t frame, const ptx::Function& function, const ptx::Operand& operand,
                 bool overwrites, Visit&& visit) const {
    for_each_register(function, operand, [&](const ptx::Operand& element) {
      each_part(frame, function, element.reg(), element.component, overwrites, visit);
    });
  }
  template <class Visit>
  void each_part(uint32_t frame, const ptx::Function& function, ptx::RegisterId id,
                 uint8_t component, bool overwrites, Visit&& visit) const {
    uint32_t first = code_.virtual_of(frame, id);
    if (component != 0) return visit(first + component - 1, overwrites);
    uint32_t parts = slots_of(function.registers[id.value]);
    for (uint32_t part = 0; part < parts; ++part) visit(first + part, overwrites);
  }

  const ptx::Module& module_;
  const FlatCode& code_;
  std::vector<char> first_is_result_;  // by OpcodeId
};

}  // namespace lw::program
