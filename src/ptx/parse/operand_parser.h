#pragma once
// Operands of one instruction, into the function's flat vectors. Labels may be used before they
// stand somewhere, so a use is noted and settled when its scope ends.

#include <string_view>
#include <vector>

#include "ptx/parse/context.h"

namespace lw::ptx {

// A label that is used, and the operand that waits for it.
struct PendingName {
  Token name;
  uint32_t operand = 0;  // index into Function::operands
};

inline constexpr size_t kMostElements = 4096;  // of one vector or argument list

class OperandParser {
 public:
  OperandParser(Context& context, Function& function, std::vector<PendingName>& pending)
      : context_(context), cursor_(context.cursor), function_(function), pending_(pending) {}

  // `a, b, [c]` up to the `;`, which it leaves.
  bool parse_all(std::string_view base);

  // A guard's register, behind the `@`.
  bool parse_guard(Instruction& instruction);

 private:
  bool operand(Operand& result);
  bool single(Operand& result);
  bool plain(Operand& result);
  bool named(Operand& result);
  bool resolve(const Token& name, Operand& result);
  bool unknown(const Token& name, Operand& result);
  bool undeclared(const Token& name);
  bool label(Operand& result);
  bool target_list(Operand& result);
  bool special(const Token& name, Operand& result);
  bool component(Operand& result);
  bool selector(std::string_view word, Operand& result);
  bool immediate(Operand& result);
  bool negated(Operand& result);
  bool minus(Operand& result);
  bool array_element(Operand& result);
  bool vector(Operand& result);
  bool address(Operand& result);
  bool address_base(Operand& result);
  bool offset(Operand& result);
  bool arguments(Operand& result);
  bool call();
  void store_elements(std::vector<Operand> elements, Operand& result);

  Context& context_;
  Cursor& cursor_;
  Function& function_;
  std::vector<PendingName>& pending_;
};

}  // namespace lw::ptx
