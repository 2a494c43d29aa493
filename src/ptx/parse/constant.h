#pragma once
// Constant expressions: what an immediate operand, an initialiser or an array size may be.
// Integer operators are C's, on 64 bits; floats know + - * / and unary minus, and comparisons.
// PTX ISA, section Constant Expressions.

#include <optional>

#include "ptx/numbers.h"
#include "ptx/parse/cursor.h"

namespace lw::ptx {

// Whether the current token can only begin a constant.
bool begins_constant(const Cursor& cursor);

// `( ... )`, numbers, unary operators; binary operators only inside parentheses, so that `a|b` and
// `[a+4]` stay what they are.
std::optional<Number> parse_constant(Cursor& cursor);

// Products of such, as in `[a + 4*8]`.
std::optional<Number> parse_constant_term(Cursor& cursor);

// The same with all binary operators, for places that hold nothing but an expression.
std::optional<Number> parse_constant_expression(Cursor& cursor);

Number negate(const Number& number);

}  // namespace lw::ptx
