#pragma once
// What the decoder of program/ asks the machine for: handlers, addresses, ids.

#include <span>

#include "machine/modules.h"
#include "program/decode.h"

namespace lw::machine {

class Environment final : public program::Environment {
 public:
  Environment(Modules& modules, ModuleId module, std::span<const base::OpId> watched)
      : modules_(modules), module_(module), watched_(watched) {}

  uint32_t first_place(ptx::FunctionId function) override {
    return modules_.first_place(module_, function);
  }
  program::Bind bind(ptx::FormId form) const override;
  program::Bind builtin(std::string_view name) const override;
  const program::CoreHandlers& core() const override;
  uint64_t address(ptx::VariableId variable) const override {
    return modules_.address(module_, variable);
  }
  bool is_watched(base::OpId op) const override;

 private:
  Modules& modules_;
  ModuleId module_;
  std::span<const base::OpId> watched_;
};

}  // namespace lw::machine
