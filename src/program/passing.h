#pragma once
// How arguments and results come from the calling frame to the called one and back (PTX: call).
//
// An argument is a `.param` variable, a register or a constant, and so is each formal parameter a
// variable or a register. Two variables of an inlined call are one area; everything else is a
// `Pass` or two.

#include "program/flat.h"

namespace lw::program {

class Passing {
 public:
  Passing(const ptx::Module& module, FlatCode& code) : module_(module), code_(code) {}

  // The frame's room for a variable.
  uint64_t local_area(uint32_t frame, ptx::VariableId id);

  // Room of its own in the frame's memory.
  uint64_t take(uint32_t frame, uint64_t bytes, uint64_t align);

  // What stands before and behind the body of an inlined function. False: it cannot be said.
  bool bind_inlined(uint32_t outer, uint32_t inner, const ptx::Operand* params,
                    const ptx::Operand* returns, std::vector<Pass>& before,
                    std::vector<Pass>& behind);
  // What stands before and behind an invocation, and its areas.
  bool bind_invocation(Invocation& invocation, const ptx::Operand* params,
                       const ptx::Operand* returns, std::vector<Pass>& before,
                       std::vector<Pass>& behind);
  // The areas of a procedure, and what stands at its start and at its end.
  void bind_procedure(Procedure& procedure, std::vector<Pass>& start, std::vector<Pass>& end);

 private:
  const ptx::Function& function_of(uint32_t frame) const {
    return module_.functions[code_.frames[frame].function.value];
  }
  const ptx::Variable& variable(ptx::VariableId id) const { return module_.variables[id.value]; }
  uint64_t size_of(ptx::VariableId formal) const;
  ptx::RegisterId register_of(const ptx::Function& function, ptx::VariableId formal) const;

  std::vector<uint32_t> parts_of(uint32_t frame, const ptx::Operand& reg) const;
  std::vector<uint32_t> parts_of(uint32_t frame, ptx::RegisterId reg) const;
  // The source of a pass: a register or a constant.
  bool read_actual(uint32_t frame, const ptx::Operand& actual, ptx::Type type, Pass& pass) const;

  bool bind_param(uint32_t outer, uint32_t inner, const ptx::Operand& actual,
                  ptx::VariableId formal, std::vector<Pass>& before);
  bool bind_return(uint32_t outer, uint32_t inner, const ptx::Operand& actual,
                   ptx::VariableId formal, std::vector<Pass>& behind);
  bool area_of(uint32_t frame, const ptx::Operand& actual, ptx::VariableId formal, bool result,
               std::vector<Area>& areas, std::vector<Pass>& passes);

  const ptx::Module& module_;
  FlatCode& code_;
};

}  // namespace lw::program
