#pragma once
// The modules of a run: their variables in memory, and the table of their instructions.
//
// A `.global` variable becomes a buffer, named after it; `.const` variables of all modules share
// one constant bank, in order of loading. Initialisers may hold addresses of variables.

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/ids.h"
#include "machine/memory.h"
#include "program/program.h"
#include "ptx/module.h"

namespace lw::machine {

using ModuleId = base::Id<struct ModuleTag>;

class Modules {
 public:
  ModuleId load(const ptx::Module& module, Memory& memory);

  const ptx::Module& module(ModuleId id) const { return *loaded_[id.value].module; }
  size_t count() const { return loaded_.size(); }
  // `.global`: device address. `.const`: offset in the constant bank.
  uint64_t address(ModuleId module, ptx::VariableId variable) const {
    return loaded_[module.value].addresses[variable.value];
  }
  std::span<std::byte> constants() { return constants_; }
  std::span<const std::byte> constants() const { return constants_; }

  // The OpId of a function's first instruction; gives it one when first asked.
  uint32_t first_place(ModuleId module, ptx::FunctionId function);
  std::optional<uint32_t> known_place(ModuleId module, ptx::FunctionId function) const;
  std::span<const program::Place> places() const { return places_; }

 private:
  struct Loaded {
    const ptx::Module* module = nullptr;
    std::vector<uint64_t> addresses;           // by VariableId
    std::map<uint32_t, uint32_t> first_place;  // by FunctionId
  };
  void initialise(const Loaded& loaded, const ptx::Variable& variable, std::byte* bytes) const;
  uint64_t value_of(const Loaded& loaded, const ptx::Initial& initial) const;

  std::vector<Loaded> loaded_;
  std::vector<std::byte> constants_;
  std::vector<program::Place> places_;
};

}  // namespace lw::machine
