#include "ptx/parse/initial.h"

#include <fmt/format.h>

#include <bit>

#include "ptx/parse/constant.h"

namespace lw::ptx {
namespace {

constexpr int kDeepest = 32;

// A number as the bits of an element; floats become what the element's type makes of them.
uint64_t bits_for(Type type, const Number& number) {
  const bool is_float =
      number.literal != Literal::integer && number.literal != Literal::unsigned_integer;
  const int bits = bits_of(type);
  if (type == Type::f32 && is_float && number.literal != Literal::f32_bits) {
    return std::bit_cast<uint32_t>(static_cast<float>(std::bit_cast<double>(number.bits)));
  }
  if (type == Type::f64 && number.literal == Literal::f32_bits) {
    const auto value = std::bit_cast<float>(static_cast<uint32_t>(number.bits));
    return std::bit_cast<uint64_t>(static_cast<double>(value));
  }
  if (kind_of(type) == TypeKind::floating && !is_float) {
    const auto value = static_cast<double>(static_cast<int64_t>(number.bits));
    if (type == Type::f64) return std::bit_cast<uint64_t>(value);
    if (type == Type::f32) return std::bit_cast<uint32_t>(static_cast<float>(value));
  }
  return bits >= 64 ? number.bits : number.bits & ((uint64_t{1} << bits) - 1);
}

class InitialParser {
 public:
  InitialParser(Context& context, Variable& variable)
      : context_(context), cursor_(context.cursor), variable_(variable) {}

  bool parse() {
    variable_.has_initial = true;
    std::vector<uint64_t> dims = variable_.dims;
    if (variable_.vector > 1) dims.push_back(variable_.vector);
    if (!cursor_.at('{')) {
      if (dims.empty()) return element();
      return cursor_.fail(fmt::format("`{}` has several elements and one value", variable_.name),
                          "write the values in braces");
    }
    if (dims.empty()) {
      return cursor_.fail(fmt::format("`{}` is one value, not a list", variable_.name),
                          "leave the braces out, or declare an array");
    }
    if (!braces(dims, 0)) return false;
    if (!variable_.dims.empty() && variable_.dims[0] == 0) variable_.dims[0] = outer_count_;
    return true;
  }

 private:
  // One brace level: at `level` of the dimensions, each entry covers `stride` elements.
  bool braces(const std::vector<uint64_t>& dims, size_t level) {
    if (level > kDeepest) {
      cursor_.fail("an initialiser is nested too deeply");
      return false;
    }
    if (!cursor_.expect('{', "at the start of an initialiser")) return false;
    uint64_t stride = 1;
    for (size_t i = level + 1; i < dims.size(); ++i) stride *= dims[i];
    const uint64_t start = variable_.initial.size();
    uint64_t entries = 0;
    while (!cursor_.at('}')) {
      if (cursor_.at('{')) {
        if (!pad(start + entries * stride) || !braces(dims, level + 1)) return false;
        ++entries;
      } else {
        if (!element()) return false;
        entries = (variable_.initial.size() - start + stride - 1) / stride;
      }
      if (!cursor_.accept(',')) break;
    }
    if (level < dims.size() && dims[level] != 0 && entries > dims[level]) {
      return cursor_.fail(
          fmt::format("`{}` has more initial values than elements", variable_.name));
    }
    if (level == 0) outer_count_ = entries;
    return cursor_.expect('}', "at the end of an initialiser");
  }

  // Zeros up to this many elements. A brace that opens in the middle of a row begins the next one.
  bool pad(uint64_t elements) {
    static constexpr uint64_t kMost = uint64_t{1} << 22;
    if (elements > kMost) return cursor_.fail("an initialiser is too large");
    if (variable_.initial.size() < elements) variable_.initial.resize(elements);
    return true;
  }

  bool element() {
    Initial initial;
    if (cursor_.at_name() && cursor_.token().text != "WARP_SZ") {
      if (!address(initial)) return false;
    } else {
      const Token where = cursor_.token();
      const auto number = parse_constant_expression(cursor_);
      if (!number) return false;
      if (cursor_.accept('(')) {
        if (!masked(where, *number, initial)) return false;
      } else {
        initial.bits = bits_for(variable_.type, *number);
      }
    }
    variable_.initial.push_back(initial);
    return true;
  }

  // `0xFF00(symbol + 4)`: the bytes of an address that the mask picks.
  bool masked(const Token& where, const Number& mask, Initial& initial) {
    if (mask.bits == 0) return cursor_.fail(where, "a mask picks at least one bit");
    initial.mask = mask.bits;
    return address(initial) && cursor_.expect(')', "after a masked address");
  }

  // `symbol + 4`, `generic(symbol) + 4`.
  bool address(Initial& initial) {
    initial.generic = cursor_.token().text == "generic";
    if (initial.generic) {
      cursor_.advance();
      if (!cursor_.expect('(', "after `generic`")) return false;
    }
    if (!symbol(initial)) return false;
    if (initial.generic && !cursor_.expect(')', "after a generic address")) return false;
    if (!cursor_.at('+') && !cursor_.at('-')) return true;
    const bool negative = cursor_.at('-');
    cursor_.advance();
    const auto offset = parse_constant(cursor_);
    if (!offset) return false;
    initial.bits = negative ? 0 - offset->bits : offset->bits;
    return true;
  }

  bool symbol(Initial& initial) {
    const Token where = cursor_.token();
    const std::string_view name = cursor_.expect_name("a variable or function");
    if (name.empty()) return false;
    const Symbol symbol = context_.find(name);
    if (symbol.kind != SymbolKind::variable && symbol.kind != SymbolKind::function) {
      return context_.fail_name(where, fmt::format("`{}` is not declared", name),
                                "declare the variable or function above");
    }
    const bool is_function = symbol.kind == SymbolKind::function;
    initial.kind = is_function ? Initial::Kind::function : Initial::Kind::variable;
    initial.id = symbol.id;
    return true;
  }

  Context& context_;
  Cursor& cursor_;
  Variable& variable_;
  uint64_t outer_count_ = 0;
};

}  // namespace

bool parse_initial(Context& context, Variable& variable) {
  return InitialParser(context, variable).parse();
}

bool parse_opaque_initial(Cursor& cursor, std::string& text) {
  if (!cursor.expect('{', "at the start of an initialiser")) return false;
  while (!cursor.at('}')) {
    if (cursor.at_end() || cursor.at(';')) return cursor.fail_expected("`}`");
    if (!text.empty() && !cursor.at(',')) text += ' ';
    if (cursor.at_word()) text += '.';
    text += cursor.token().text;
    cursor.advance();
  }
  return cursor.expect('}', "at the end of an initialiser");
}

}  // namespace lw::ptx
