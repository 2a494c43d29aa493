#include "program/layout.h"

#include <algorithm>

#include "program/operands.h"

namespace lw::program {
namespace {

// The shared variables that the code names or that stand in its functions, in order of declaration.
std::vector<ptx::VariableId> shared_variables(const ptx::Module& module, const FlatCode& code) {
  std::vector<char> named(module.variables.size(), 0);
  for (const Frame& frame : code.frames) {
    for (const ptx::Item& item : module.functions[frame.function.value].items) {
      if (item.kind == ptx::Item::Kind::variable) named[item.index] = 1;
    }
  }
  for (const FlatInstruction& flat : code.instructions) {
    if (flat.source == nullptr) continue;
    const ptx::Function& function = module.functions[code.frames[flat.frame].function.value];
    for (const ptx::Operand& operand : function.operands_of(*flat.source)) {
      for_each_symbol(function, operand, [&](const ptx::Operand& symbol) { named[symbol.id] = 1; });
    }
  }
  std::vector<ptx::VariableId> result;
  for (uint32_t id = 0; id < named.size(); ++id) {
    if (named[id] && module.variables[id].space == ptx::Space::shared) result.emplace_back(id);
  }
  return result;
}

}  // namespace

uint64_t align_up(uint64_t value, uint64_t step) {
  return step < 2 ? value : (value + step - 1) / step * step;
}

void lay_out_parameters(const ptx::Module& module, ptx::FunctionId kernel, Program& program) {
  uint64_t end = 0;
  for (ptx::VariableId id : module.functions[kernel.value].params) {
    const ptx::Variable& variable = module.variables[id.value];
    end = align_up(end, variable.align_bytes());
    program.parameters.push_back({.name = variable.name,
                                  .offset = static_cast<uint32_t>(end),
                                  .size = static_cast<uint32_t>(variable.size_bytes()),
                                  .align = variable.align_bytes(),
                                  .type = variable.type,
                                  .pointer = variable.pointer});
    end += variable.size_bytes();
  }
  program.parameter_bytes = static_cast<uint32_t>(end);
}

void lay_out_shared(const ptx::Module& module, const FlatCode& code, Program& program) {
  uint64_t end = kSharedBase;
  uint64_t dynamic_align = 16;
  std::vector<ptx::VariableId> unsized;
  for (ptx::VariableId id : shared_variables(module, code)) {
    const ptx::Variable& variable = module.variables[id.value];
    if (variable.size_bytes() == 0) {
      dynamic_align = std::max<uint64_t>(dynamic_align, variable.align_bytes());
      unsized.push_back(id);
      continue;
    }
    end = align_up(end, variable.align_bytes());
    program.shared.push_back({.variable = id, .offset = end, .size = variable.size_bytes()});
    end += variable.size_bytes();
  }
  program.static_shared_bytes = static_cast<uint32_t>(end - kSharedBase);
  uint64_t dynamic = align_up(end, dynamic_align);
  program.dynamic_shared_offset = static_cast<uint32_t>(dynamic - kSharedBase);
  for (ptx::VariableId id : unsized)
    program.shared.push_back({.variable = id, .offset = dynamic, .size = 0});
}

uint64_t lay_out_constants(const ptx::Module& module, std::vector<VariablePlace>& places) {
  uint64_t end = 0;
  for (uint32_t id = 0; id < module.variables.size(); ++id) {
    const ptx::Variable& variable = module.variables[id];
    if (variable.space != ptx::Space::constant) continue;
    end = align_up(end, variable.align_bytes());
    places.push_back(
        {.variable = ptx::VariableId(id), .offset = end, .size = variable.size_bytes()});
    end += variable.size_bytes();
  }
  return end;
}

const VariablePlace* find_place(const std::vector<VariablePlace>& places, ptx::VariableId id) {
  auto found = std::ranges::find(places, id, &VariablePlace::variable);
  return found == places.end() ? nullptr : &*found;
}

}  // namespace lw::program
