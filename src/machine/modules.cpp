#include "machine/modules.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "program/decode.h"
#include "program/layout.h"

namespace lw::machine {

ModuleId Modules::load(const ptx::Module& module, Memory& memory) {
  Loaded loaded;
  loaded.module = &module;
  loaded.addresses.resize(module.variables.size());
  std::vector<program::VariablePlace> bank;
  uint64_t bank_bytes = program::lay_out_constants(module, bank);
  uint64_t bank_at = program::align_up(constants_.size(), 256);
  constants_.resize(bank_at + bank_bytes);
  for (const program::VariablePlace& place : bank)
    loaded.addresses[place.variable.value] = bank_at + place.offset;
  for (uint32_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& variable = module.variables[i];
    if (variable.space != ptx::Space::global) continue;
    BufferId id = memory.add_variable(variable.name, variable.size_bytes());
    loaded.addresses[i] = memory.buffer(id).address;
  }
  for (uint32_t i = 0; i < module.variables.size(); ++i) {
    const ptx::Variable& variable = module.variables[i];
    if (variable.space == ptx::Space::global)
      initialise(loaded, variable, memory.resolve(loaded.addresses[i], variable.size_bytes()));
    if (variable.space == ptx::Space::constant)
      initialise(loaded, variable, constants_.data() + loaded.addresses[i]);
  }
  loaded_.push_back(std::move(loaded));
  return ModuleId(static_cast<uint32_t>(loaded_.size() - 1));
}

void Modules::initialise(const Loaded& loaded, const ptx::Variable& variable,
                         std::byte* bytes) const {
  uint64_t element = static_cast<uint64_t>(ptx::bits_of(variable.type)) / 8;
  uint64_t room = variable.size_bytes();
  for (const ptx::Initial& initial : variable.initial) {
    uint64_t value = value_of(loaded, initial);
    uint64_t count = std::min<uint64_t>(element, room);
    std::memcpy(bytes, &value, std::min<uint64_t>(count, sizeof value));
    bytes += count;
    room -= count;
  }
}

uint64_t Modules::value_of(const Loaded& loaded, const ptx::Initial& initial) const {
  using Kind = ptx::Initial::Kind;
  if (initial.kind == Kind::number) return initial.bits;
  if (initial.kind == Kind::function)
    return program::address_of_function(ptx::FunctionId(initial.id));
  uint64_t address = loaded.addresses[initial.id] + initial.bits;
  bool constant = loaded.module->variables[initial.id].space == ptx::Space::constant;
  if (initial.generic && constant) address += Memory::kConstantWindow;
  if (initial.mask == 0) return address;
  return (address & initial.mask) >> std::countr_zero(initial.mask);
}

uint32_t Modules::first_place(ModuleId module, ptx::FunctionId function) {
  Loaded& loaded = loaded_[module.value];
  auto [found, is_new] =
      loaded.first_place.try_emplace(function.value, static_cast<uint32_t>(places_.size()));
  if (is_new) {
    size_t count = loaded.module->functions[function.value].instructions.size();
    for (uint32_t i = 0; i < std::max<size_t>(count, 1); ++i)
      places_.push_back({loaded.module, function, i});
  }
  return found->second;
}

std::optional<uint32_t> Modules::known_place(ModuleId module, ptx::FunctionId function) const {
  const auto& known = loaded_[module.value].first_place;
  auto found = known.find(function.value);
  return found == known.end() ? std::nullopt : std::optional(found->second);
}

}  // namespace lw::machine
