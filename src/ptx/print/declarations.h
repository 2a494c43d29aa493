#pragma once
// Declarations as text, appended to a string.

#include <span>
#include <string>

#include "ptx/module.h"

namespace lw::ptx {

class DeclarationPrinter {
 public:
  DeclarationPrinter(const Module& module, std::string& out) : module_(module), out_(out) {}

  void variable(const Variable& variable);  // with its semicolon
  void registers(const RegisterGroup& group);
  void linkage(Linkage linkage);
  void parameters(std::span<const VariableId> ids);
  void parameters(std::span<const Variable> parameters);

 private:
  void qualifiers(const Variable& variable);
  void declarator(const Variable& variable);
  void initial(const Variable& variable);
  void braces(const Variable& variable, std::span<const uint64_t> dims, uint64_t start);
  void element(const Variable& variable, const Initial& initial);

  const Module& module_;
  std::string& out_;
};

std::string_view word_of(Space space);  // `global`, without the dot

}  // namespace lw::ptx
