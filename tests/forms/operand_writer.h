#pragma once
// Makes up operands for an opcode from the operand list of its form, so that every form and every
// opcode ever measured has a text with real operands. Registers are those that `register_file`
// declares; addresses are variables that `module_head` declares.

#include <string>
#include <string_view>

#include "ptx/forms.h"
#include "ptx/module.h"

namespace lw::ptx {

class OperandWriter {
 public:
  // `full`: with the operands that may be missing, as far as `sm` takes them.
  OperandWriter(const Pattern& pattern, const Opcode& opcode, bool full, int sm = 1000)
      : pattern_(pattern), opcode_(opcode), full_(full), sm_(sm) {}

  // The operands with commas between them.
  std::string write();

 private:
  bool is_there(const OperandSpec& spec) const;
  bool makes_sense(const OperandSpec& spec) const;
  std::string_view handle() const;  // a texture or surface
  std::string operand(const OperandSpec& spec);
  std::string value(const OperandSpec& spec);
  std::string scalar(const OperandSpec& spec, Type type, int index);
  std::string vector(const OperandSpec& spec, Type type, int length);
  std::string parts(Type type);
  std::string immediate(const OperandSpec& spec, Type type) const;
  std::string address(const OperandSpec& spec);
  std::string address_base(const OperandSpec& spec) const;

  const Pattern& pattern_;
  const Opcode& opcode_;
  bool full_;
  int sm_;
  int next_register_ = 0;
};

std::string_view module_head();    // variables and a function to call, after the header
std::string_view register_file();  // declarations at the start of a body

}  // namespace lw::ptx
