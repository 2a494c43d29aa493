#include "ptx/parse/constant.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <string_view>

namespace lw::ptx {
namespace {

constexpr int kDeepest = 64;  // of nested parentheses and unary operators

constexpr int kOfProducts = 10;

struct Operator {
  std::string_view text;
  int level;  // of C's precedence, higher binds tighter
};
constexpr Operator kOperators[] = {
    {"||", 1}, {"&&", 2}, {"==", 6}, {"!=", 6},          {"<=", 7},          {">=", 7},
    {"<<", 8}, {">>", 8}, {"|", 3},  {"^", 4},           {"&", 5},           {"<", 7},
    {">", 7},  {"+", 9},  {"-", 9},  {"*", kOfProducts}, {"/", kOfProducts}, {"%", kOfProducts}};

bool is_float(const Number& number) {
  return number.literal != Literal::integer && number.literal != Literal::unsigned_integer;
}

double float_of(const Number& number) {
  switch (number.literal) {
    case Literal::f32_bits:
      return std::bit_cast<float>(static_cast<uint32_t>(number.bits));
    case Literal::integer:
      return static_cast<double>(static_cast<int64_t>(number.bits));
    case Literal::unsigned_integer:
      return static_cast<double>(number.bits);
    default:
      return std::bit_cast<double>(number.bits);
  }
}

// Infinities and NaNs have no decimal spelling.
Number decimal(double value) {
  const Literal literal = std::isfinite(value) ? Literal::decimal : Literal::f64_bits;
  return {literal, std::bit_cast<uint64_t>(value)};
}
Number integer(uint64_t bits, bool is_unsigned = false) {
  return {is_unsigned ? Literal::unsigned_integer : Literal::integer, bits};
}

std::optional<Number> combine_floats(std::string_view op, double a, double b) {
  if (op == "+") return decimal(a + b);
  if (op == "-") return decimal(a - b);
  if (op == "*") return decimal(a * b);
  if (op == "/") return decimal(a / b);
  if (op == "==") return integer(a == b);
  if (op == "!=") return integer(a != b);
  if (op == "<") return integer(a < b);
  if (op == ">") return integer(a > b);
  if (op == "<=") return integer(a <= b);
  if (op == ">=") return integer(a >= b);
  return std::nullopt;
}

// The operators whose result depends on signedness.
std::optional<uint64_t> combine_ordered(std::string_view op, uint64_t a, uint64_t b,
                                        bool is_unsigned) {
  const auto sa = static_cast<int64_t>(a);
  const auto sb = static_cast<int64_t>(b);
  if (op == "<") return is_unsigned ? a < b : sa < sb;
  if (op == ">") return is_unsigned ? a > b : sa > sb;
  if (op == "<=") return is_unsigned ? a <= b : sa <= sb;
  if (op == ">=") return is_unsigned ? a >= b : sa >= sb;
  if (op == ">>") {
    return is_unsigned ? a >> (b & 63) : static_cast<uint64_t>(sa >> (b & 63));
  }
  if (op != "/" && op != "%") return std::nullopt;
  if (b == 0) return std::nullopt;
  const bool overflows = !is_unsigned && sb == -1;
  if (overflows) return op == "/" ? 0 - a : 0;
  if (op == "/") return is_unsigned ? a / b : static_cast<uint64_t>(sa / sb);
  return is_unsigned ? a % b : static_cast<uint64_t>(sa % sb);
}

std::optional<uint64_t> combine_integers(std::string_view op, uint64_t a, uint64_t b,
                                         bool is_unsigned) {
  if (op == "+") return a + b;
  if (op == "-") return a - b;
  if (op == "*") return a * b;
  if (op == "|") return a | b;
  if (op == "^") return a ^ b;
  if (op == "&") return a & b;
  if (op == "<<") return a << (b & 63);
  if (op == "==") return a == b;
  if (op == "!=") return a != b;
  if (op == "&&") return a != 0 && b != 0;
  if (op == "||") return a != 0 || b != 0;
  return combine_ordered(op, a, b, is_unsigned);
}

std::optional<Number> combine(std::string_view op, const Number& a, const Number& b) {
  if (is_float(a) || is_float(b)) return combine_floats(op, float_of(a), float_of(b));
  const bool is_unsigned =
      a.literal == Literal::unsigned_integer || b.literal == Literal::unsigned_integer;
  const auto bits = combine_integers(op, a.bits, b.bits, is_unsigned);
  if (!bits) return std::nullopt;
  return integer(*bits, is_unsigned);
}

class ConstantParser {
 public:
  explicit ConstantParser(Cursor& cursor) : cursor_(cursor) {}

  std::optional<Number> unary() {
    if (!enter()) return std::nullopt;
    const auto value = unary_inside();
    --depth_;
    return value;
  }

  std::optional<Number> term() { return binary(kOfProducts); }

  std::optional<Number> conditional() {
    if (!enter()) return std::nullopt;
    const auto value = conditional_inside();
    --depth_;
    return value;
  }

 private:
  bool enter() {
    return ++depth_ <= kDeepest ||
           cursor_.fail("a constant expression is nested too deeply", "work it out by hand");
  }

  std::optional<Number> conditional_inside() {
    const auto condition = binary(1);
    if (!condition || !cursor_.accept('?')) return condition;
    const auto if_true = conditional();
    if (!if_true || !cursor_.expect(':', "between the two values of `?`")) return std::nullopt;
    const auto if_false = conditional();
    if (!if_false) return std::nullopt;
    return condition->bits != 0 ? if_true : if_false;
  }

  std::optional<Number> unary_inside() {
    if (cursor_.accept('-')) {
      const auto value = unary();
      return value ? std::optional(negate(*value)) : std::nullopt;
    }
    if (cursor_.accept('+')) return unary();
    if (cursor_.accept('~')) return on_integer([](uint64_t bits) { return ~bits; });
    if (cursor_.accept('!')) return on_integer([](uint64_t bits) { return uint64_t{bits == 0}; });
    if (cursor_.accept('(')) return parenthesised();
    return literal();
  }

  template <class Operation>
  std::optional<Number> on_integer(Operation operation) {
    auto value = unary();
    if (!value) return std::nullopt;
    if (is_float(*value)) {
      cursor_.fail("`~` and `!` are for integers");
      return std::nullopt;
    }
    value->bits = operation(value->bits);
    return value;
  }

  // `(a + b)`, or a cast: `(.u64) a`.
  std::optional<Number> parenthesised() {
    if (cursor_.at_word("s64") || cursor_.at_word("u64")) {
      const bool is_unsigned = cursor_.at_word("u64");
      cursor_.advance();
      if (!cursor_.expect(')', "after the type of a cast")) return std::nullopt;
      auto value = unary();
      if (value) value->literal = is_unsigned ? Literal::unsigned_integer : Literal::integer;
      return value;
    }
    const auto value = conditional();
    if (!value || !cursor_.expect(')', "at the end of the expression")) return std::nullopt;
    return value;
  }

  std::optional<Number> literal() {
    const Token token = cursor_.token();
    if (token.kind == TokenKind::name && token.text == "WARP_SZ") {
      cursor_.advance();
      return integer(32);
    }
    if (token.kind != TokenKind::number) {
      cursor_.fail_expected("a constant");
      return std::nullopt;
    }
    const auto number = parse_number(token.text);
    if (!number) {
      cursor_.fail(fmt::format("`{}` is not a number of at most 64 bits", token.text),
                   "write an integer, or a float as `0f` and 8 or `0d` and 16 hexadecimal digits, "
                   "or a decimal with a point");
      return std::nullopt;
    }
    cursor_.advance();
    return number;
  }

  // Left-associative operators of at least this level.
  std::optional<Number> binary(int least) {
    auto left = unary();
    while (left) {
      const Operator* op = next_operator();
      if (op == nullptr || op->level < least) break;
      const Token where = cursor_.token();
      for (size_t i = 0; i < op->text.size(); ++i) cursor_.advance();
      const auto right = binary(op->level + 1);
      if (!right) return std::nullopt;
      left = combine(op->text, *left, *right);
      if (!left) cursor_.fail(where, fmt::format("`{}` has no value here", op->text));
    }
    return left;
  }

  const Operator* next_operator() {
    if (cursor_.token().kind != TokenKind::sign) return nullptr;
    const char first = cursor_.token().text[0];
    for (const Operator& op : kOperators) {
      if (op.text[0] != first) continue;
      if (op.text.size() == 1 || cursor_.lexer().touches(op.text[1])) return &op;
    }
    return nullptr;
  }

  Cursor& cursor_;
  int depth_ = 0;
};

}  // namespace

Number negate(const Number& number) {
  switch (number.literal) {
    case Literal::f32_bits:
      return {number.literal, number.bits ^ 0x80000000u};
    case Literal::f64_bits:
    case Literal::decimal:
      return {number.literal, number.bits ^ (uint64_t{1} << 63)};
    default:
      return {number.literal, 0 - number.bits};
  }
}

bool begins_constant(const Cursor& cursor) {
  const Token& token = cursor.token();
  if (token.kind == TokenKind::number) return true;
  if (token.kind == TokenKind::name) return token.text == "WARP_SZ";
  return cursor.at('-') || cursor.at('+') || cursor.at('~') || cursor.at('(');
}

std::optional<Number> parse_constant(Cursor& cursor) { return ConstantParser(cursor).unary(); }

std::optional<Number> parse_constant_term(Cursor& cursor) { return ConstantParser(cursor).term(); }

std::optional<Number> parse_constant_expression(Cursor& cursor) {
  return ConstantParser(cursor).conditional();
}

}  // namespace lw::ptx
