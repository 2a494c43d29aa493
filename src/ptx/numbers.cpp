#include "ptx/numbers.h"

#include <bit>
#include <charconv>
#include <string>

namespace lw::ptx {
namespace {

std::optional<uint64_t> parse_digits(std::string_view digits, int base) {
  uint64_t value = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, value, base);
  if (error != std::errc() || stop != end || digits.empty()) return std::nullopt;
  return value;
}

std::optional<Number> parse_bits(std::string_view digits, size_t count, Literal literal) {
  if (digits.size() != count) return std::nullopt;
  const auto value = parse_digits(digits, 16);
  if (!value) return std::nullopt;
  return Number{literal, *value};
}

std::optional<Number> parse_integer(std::string_view text) {
  Literal literal = Literal::integer;
  if (text.back() == 'U' || text.back() == 'u') {
    literal = Literal::unsigned_integer;
    text.remove_suffix(1);
    if (text.empty()) return std::nullopt;
  }
  int base = 10;
  if (text.size() > 1 && text[0] == '0') {
    const char kind = text[1];
    const bool hexadecimal = kind == 'x' || kind == 'X';
    const bool binary = kind == 'b' || kind == 'B';
    base = hexadecimal ? 16 : binary ? 2 : 8;
    text.remove_prefix(hexadecimal || binary ? 2 : 1);
  }
  const auto value = parse_digits(text, base);
  if (!value) return std::nullopt;
  return Number{literal, *value};
}

// from_chars takes `1.` and `1e5` too; what it leaves over makes the text wrong.
std::optional<Number> parse_decimal(std::string_view text) {
  double value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) return std::nullopt;
  return Number{Literal::decimal, std::bit_cast<uint64_t>(value)};
}

}  // namespace

std::optional<Number> parse_number(std::string_view text) {
  if (text.empty()) return std::nullopt;
  if (text.size() > 2 && text[0] == '0') {
    const std::string_view rest = text.substr(2);
    if (text[1] == 'f' || text[1] == 'F') return parse_bits(rest, 8, Literal::f32_bits);
    if (text[1] == 'd' || text[1] == 'D') return parse_bits(rest, 16, Literal::f64_bits);
    if (text[1] == 'x' || text[1] == 'X') return parse_integer(text);
  }
  if (text.find_first_of(".eE") != std::string_view::npos) return parse_decimal(text);
  return parse_integer(text);
}

}  // namespace lw::ptx
