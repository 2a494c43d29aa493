#include "program/call_site.h"

#include <algorithm>

namespace lw::program {

CallSite call_site(const ptx::Function& function, const ptx::Instruction& instruction) {
  CallSite site;
  for (const ptx::Operand& operand : function.operands_of(instruction)) {
    if (operand.kind == ptx::OperandKind::list)
      site.list = &operand;
    else if (operand.kind == ptx::OperandKind::arguments)
      (site.callee ? site.params : site.returns) = &operand;
    else if (!site.callee)
      site.callee = &operand;
  }
  return site;
}

ptx::FunctionId Callees::resolve_alias(ptx::FunctionId id) const {
  for (const ptx::Module::Alias& alias : module_.aliases)
    if (alias.name == id) return alias.target;
  return id;
}

void Callees::find_taken() {
  taken_.assign(module_.functions.size(), 0);
  for (const ptx::Variable& variable : module_.variables)
    for (const ptx::Initial& initial : variable.initial)
      if (initial.kind == ptx::Initial::Kind::function) taken_[initial.id] = 1;
  for (const ptx::Function& function : module_.functions)
    for (const ptx::Instruction& instruction : function.instructions) {
      if (module_.opcode_of(instruction).form == ptx::FormId::call) continue;
      for (const ptx::Operand& operand : function.operands_of(instruction))
        if (operand.kind == ptx::OperandKind::function) taken_[operand.id] = 1;
    }
}

std::vector<ptx::FunctionId> Callees::through_pointer(const ptx::Function& caller,
                                                      const CallSite& site) {
  if (taken_.empty()) find_taken();
  std::vector<uint32_t> named;
  if (site.list != nullptr) named = caller.targets[site.list->id].ids;
  std::vector<ptx::FunctionId> candidates;
  for (uint32_t id = 0; id < module_.functions.size(); ++id) {
    const bool may_be_meant = named.empty() ? taken_[id] : std::ranges::count(named, id) != 0;
    if (may_be_meant && fits(caller, site, ptx::FunctionId(id))) candidates.emplace_back(id);
  }
  return candidates;
}

bool Callees::fits(const ptx::Function& caller, const CallSite& site, ptx::FunctionId id) const {
  const ptx::Function& callee = module_.functions[id.value];
  return callee.defined && !callee.entry && same_sizes(caller, site.returns, callee.returns) &&
         same_sizes(caller, site.params, callee.params);
}

bool Callees::same_sizes(const ptx::Function& caller, const ptx::Operand* actual,
                         const std::vector<ptx::VariableId>& formal) const {
  if ((actual ? actual->count : 0) != formal.size()) return false;
  for (size_t i = 0; i < formal.size(); ++i) {
    const ptx::Operand& argument = caller.elements_of(*actual)[i];
    if (!same_size(caller, argument, module_.variables[formal[i].value])) return false;
  }
  return true;
}

bool Callees::same_size(const ptx::Function& caller, const ptx::Operand& argument,
                        const ptx::Variable& formal) const {
  if (argument.kind == ptx::OperandKind::symbol)
    return module_.variables[argument.id].size_bytes() == formal.size_bytes();
  if (!formal.dims.empty()) return false;
  return argument.kind != ptx::OperandKind::reg ||
         ptx::bits_of(caller.registers[argument.id].type) == ptx::bits_of(formal.type);
}

}  // namespace lw::program
