#pragma once
// One instruction against its row of forms.def.

#include <set>
#include <string>
#include <utility>

#include "ptx/forms/operands.h"
#include "ptx/verify/report.h"
#include "ptx/verify/targets.h"

namespace lw::ptx {

class InstructionVerifier {
 public:
  InstructionVerifier(const Module& module, const Function& function, VerifyReport& report)
      : module_(module), function_(function), report_(report) {
    if (!module.target.empty()) target_ = parse_target(module.target[0]);
  }

  void check(const Instruction& instruction);

 private:
  void check_guard();
  void check_operands(const Binding& binding);
  void explain_misfit();
  void check_operand(const OperandSpec& spec, const Operand& operand, size_t number);
  void check_value(const OperandSpec& spec, const Operand& operand, size_t number);
  void check_scalar(const OperandSpec& spec, Type type, const Operand& operand, size_t number);
  void check_register(const OperandSpec& spec, Type type, const Operand& operand, size_t number);
  void check_immediate(const OperandSpec& spec, Type type, const Operand& operand, size_t number);
  void check_special(Type type, const Operand& operand, size_t number);
  void check_symbol(Type type, const Operand& operand, size_t number);
  void check_parts(const OperandSpec& spec, const Operand& operand, size_t number);
  void check_address(const Operand& operand, size_t number);
  void check_base_register(const Operand& operand, size_t number);
  void check_base_variable(const Operand& operand, size_t number);
  void check_copy_size();

  // `operand 2, "%r1", ...` with the operand as printed.
  void complain(const Operand& operand, size_t number, std::string message, std::string hint = "");
  // The same of a register whose declaration does not fit. Where it is the declaration that is
  // wrong, every use is: registers of one type that are numbered alike are complained about once.
  void complain_once(const Register& reg, const Operand& operand, size_t number,
                     std::string message, std::string hint = "");
  bool complained_of(const Register& reg);

  const Module& module_;
  const Function& function_;
  VerifyReport& report_;
  std::optional<Target> target_;
  const Instruction* instruction_ = nullptr;
  const Opcode* opcode_ = nullptr;
  const Pattern* pattern_ = nullptr;
  std::set<std::pair<std::string, Type>> complained_;  // prefix and type
};

}  // namespace lw::ptx
