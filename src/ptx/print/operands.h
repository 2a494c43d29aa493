#pragma once
// Instructions and their operands as text, appended to a string.

#include <string>

#include "ptx/module.h"

namespace lw::ptx {

class OperandPrinter {
 public:
  OperandPrinter(const Module& module, const Function& function, std::string& out)
      : module_(module), function_(function), out_(out) {}

  void instruction(const Instruction& instruction);
  void operand(const Operand& operand);

 private:
  void list(std::span<const Operand> operands, char open, char close);
  void address(const Operand& operand, bool brackets);
  void immediate(const Operand& operand);
  void component(const Operand& operand);
  void offset(int64_t value);

  const Module& module_;
  const Function& function_;
  std::string& out_;
};

}  // namespace lw::ptx
