#include "program/passing.h"

#include <algorithm>

#include "program/immediate.h"
#include "program/layout.h"

namespace lw::program {
namespace {

using ptx::OperandKind;
using Kind = Pass::Kind;

// Of a part of a register in memory; a predicate is a byte.
uint32_t part_bytes(ptx::Type type) {
  return static_cast<uint32_t>(std::clamp(ptx::bits_of(type) / 8, 1, 8));
}

size_t count_of(const ptx::Operand* arguments) { return arguments ? arguments->count : 0; }

}  // namespace

uint64_t Passing::take(uint32_t frame, uint64_t bytes, uint64_t align) {
  const auto procedure = code_.frames[frame].procedure;
  uint64_t& end = procedure ? code_.procedures[*procedure].record_bytes : code_.local_bytes;
  end = align_up(end, align);
  const uint64_t area = end;
  end += bytes;
  return area;
}

uint64_t Passing::local_area(uint32_t frame, ptx::VariableId id) {
  const auto found = code_.frames[frame].local.find(id.value);
  if (found != code_.frames[frame].local.end()) return found->second;
  const uint64_t area =
      take(frame, variable(id).size_bytes(), std::max(1u, variable(id).align_bytes()));
  return code_.frames[frame].local[id.value] = area;
}

uint64_t Passing::size_of(ptx::VariableId formal) const {
  return std::max<uint64_t>(1, variable(formal).size_bytes());
}

// Formal parameters in registers are registers of the same name.
ptx::RegisterId Passing::register_of(const ptx::Function& function, ptx::VariableId formal) const {
  const auto found =
      std::ranges::find(function.registers, variable(formal).name, &ptx::Register::name);
  return ptx::RegisterId(static_cast<uint32_t>(found - function.registers.begin()));
}

std::vector<uint32_t> Passing::parts_of(uint32_t frame, ptx::RegisterId reg) const {
  const uint32_t first = code_.virtual_of(frame, reg);
  std::vector<uint32_t> parts(slots_of(function_of(frame).registers[reg.value]));
  for (size_t i = 0; i < parts.size(); ++i) parts[i] = first + static_cast<uint32_t>(i);
  return parts;
}

std::vector<uint32_t> Passing::parts_of(uint32_t frame, const ptx::Operand& reg) const {
  const std::vector<uint32_t> all = parts_of(frame, reg.reg());
  if (reg.component == 0) return all;
  return {all[reg.component - 1u]};
}

bool Passing::read_actual(uint32_t frame, const ptx::Operand& actual, ptx::Type type,
                          Pass& pass) const {
  pass.bytes = part_bytes(type);
  if (actual.kind == OperandKind::reg && !actual.negated) {
    pass.from = parts_of(frame, actual);
    return true;
  }
  if (actual.kind != OperandKind::immediate || ptx::bits_of(type) > 64) return false;
  pass.immediates = {immediate_bits(actual, type)};
  return true;
}

bool Passing::bind_param(uint32_t outer, uint32_t inner, const ptx::Operand& actual,
                         ptx::VariableId formal, std::vector<Pass>& before) {
  const bool in_register = variable(formal).space == ptx::Space::reg;
  Pass pass;
  if (actual.kind == OperandKind::symbol) {
    const uint64_t area = local_area(outer, actual.variable());
    if (!in_register) {
      code_.frames[inner].local[formal.value] = area;
      return true;
    }
    pass.kind = Kind::load;
    pass.frame = outer;
    pass.area = area;
    pass.bytes = part_bytes(variable(formal).type);
  } else if (!read_actual(outer, actual, variable(formal).type, pass)) {
    return false;
  } else if (!in_register) {
    pass.kind = Kind::store;
    pass.frame = inner;
    pass.area = local_area(inner, formal);
  }
  if (in_register) pass.into = parts_of(inner, register_of(function_of(inner), formal));
  before.push_back(std::move(pass));
  return true;
}

bool Passing::bind_return(uint32_t outer, uint32_t inner, const ptx::Operand& actual,
                          ptx::VariableId formal, std::vector<Pass>& behind) {
  const bool in_register = variable(formal).space == ptx::Space::reg;
  Pass pass;
  pass.bytes = part_bytes(variable(formal).type);
  if (in_register) pass.from = parts_of(inner, register_of(function_of(inner), formal));
  if (actual.kind == OperandKind::symbol) {
    const uint64_t area = local_area(outer, actual.variable());
    if (!in_register) {
      code_.frames[inner].local[formal.value] = area;
      return true;
    }
    pass.kind = Kind::store;
    pass.frame = outer;
    pass.area = area;
  } else if (actual.kind == OperandKind::sink) {
    return true;
  } else if (actual.kind != OperandKind::reg) {
    return false;
  } else {
    pass.into = parts_of(outer, actual);
    if (!in_register) {
      pass.kind = Kind::load;
      pass.frame = inner;
      pass.area = local_area(inner, formal);
    }
  }
  behind.push_back(std::move(pass));
  return true;
}

bool Passing::bind_inlined(uint32_t outer, uint32_t inner, const ptx::Operand* params,
                           const ptx::Operand* returns, std::vector<Pass>& before,
                           std::vector<Pass>& behind) {
  const ptx::Function& caller = function_of(outer);
  const ptx::Function& callee = function_of(inner);
  if (count_of(params) < callee.params.size() || count_of(returns) < callee.returns.size())
    return false;
  for (size_t i = 0; i < callee.params.size(); ++i)
    if (!bind_param(outer, inner, caller.elements_of(*params)[i], callee.params[i], before))
      return false;
  for (size_t i = 0; i < callee.returns.size(); ++i)
    if (!bind_return(outer, inner, caller.elements_of(*returns)[i], callee.returns[i], behind))
      return false;
  return true;
}

// The area of an actual parameter, through which a register or a constant goes too.
bool Passing::area_of(uint32_t frame, const ptx::Operand& actual, ptx::VariableId formal,
                      bool result, std::vector<Area>& areas, std::vector<Pass>& passes) {
  const uint64_t bytes = size_of(formal);
  if (actual.kind == OperandKind::symbol) {
    areas.push_back({local_area(frame, actual.variable()), bytes});
    return true;
  }
  Pass pass;
  pass.kind = result ? Kind::load : Kind::store;
  pass.frame = frame;
  pass.area = take(frame, bytes, variable(formal).align_bytes());
  areas.push_back({pass.area, bytes});
  if (result && actual.kind == OperandKind::sink) return true;
  if (!read_actual(frame, actual, variable(formal).type, pass)) return false;
  if (result) std::swap(pass.into, pass.from);
  if (result && pass.into.empty()) return false;
  passes.push_back(std::move(pass));
  return true;
}

bool Passing::bind_invocation(Invocation& invocation, const ptx::Operand* params,
                              const ptx::Operand* returns, std::vector<Pass>& before,
                              std::vector<Pass>& behind) {
  const uint32_t frame = invocation.frame;
  const ptx::Function& caller = function_of(frame);
  const ptx::Function& callee = function_of(code_.procedures[invocation.procedure].frame);
  if (count_of(params) < callee.params.size() || count_of(returns) < callee.returns.size())
    return false;
  for (size_t i = 0; i < callee.params.size(); ++i)
    if (!area_of(frame, caller.elements_of(*params)[i], callee.params[i], false, invocation.params,
                 before))
      return false;
  for (size_t i = 0; i < callee.returns.size(); ++i)
    if (!area_of(frame, caller.elements_of(*returns)[i], callee.returns[i], true,
                 invocation.returns, behind))
      return false;
  return true;
}

void Passing::bind_procedure(Procedure& procedure, std::vector<Pass>& start,
                             std::vector<Pass>& end) {
  const uint32_t frame = procedure.frame;
  const ptx::Function& function = function_of(frame);
  const auto bind = [&](ptx::VariableId formal, bool result, std::vector<Area>& areas) {
    const bool in_register = variable(formal).space == ptx::Space::reg;
    const uint64_t area = in_register ? take(frame, size_of(formal), variable(formal).align_bytes())
                                      : local_area(frame, formal);
    areas.push_back({area, size_of(formal)});
    if (!in_register) return;
    Pass pass{result ? Kind::store : Kind::load,
              frame,
              area,
              part_bytes(variable(formal).type),
              {},
              {},
              {}};
    (result ? pass.from : pass.into) = parts_of(frame, register_of(function, formal));
    (result ? end : start).push_back(std::move(pass));
  };
  for (const ptx::VariableId formal : function.params) bind(formal, false, procedure.params);
  for (const ptx::VariableId formal : function.returns) bind(formal, true, procedure.returns);
}

}  // namespace lw::program
