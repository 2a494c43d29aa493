#include "ptx/parse/operand_parser.h"

#include <fmt/format.h>

#include "ptx/forms/match.h"
#include "ptx/parse/constant.h"
#include "ptx/parse/declarations.h"

namespace lw::ptx {
namespace {

constexpr size_t kMostOperands = 65535;  // Instruction::operand_count

uint8_t component_named(std::string_view word) {
  if (word == "x" || word == "r") return 1;
  if (word == "y" || word == "g") return 2;
  if (word == "z" || word == "b") return 3;
  if (word == "w" || word == "a") return 4;
  return 0;
}

// `%r17`, of prefix `%r`.
bool is_numbered(std::string_view name, std::string_view prefix) {
  return name.starts_with(prefix) && name.size() > prefix.size() &&
         name.find_first_not_of("0123456789", prefix.size()) == std::string_view::npos;
}

bool is_list_operand(std::string_view base, size_t index) { return base == "brx" && index == 1; }

}  // namespace

bool OperandParser::parse_all(std::string_view base) {
  if (cursor_.at(';')) return true;
  if (cursor_.at('}') || cursor_.at_end()) return cursor_.fail_no_end("after an instruction");
  if (base == "call") return call();
  const size_t first = function_.operands.size();
  do {
    const size_t index = function_.operands.size() - first;
    if (index == kMostOperands) return cursor_.fail("too many operands");
    Operand result;
    if (base == "bra") {
      if (!label(result)) return false;
    } else if (is_list_operand(base, index)) {
      if (!target_list(result)) return false;
    } else if (!operand(result)) {
      return false;
    }
    function_.operands.push_back(result);
  } while (cursor_.accept(','));
  return true;
}

bool OperandParser::parse_guard(Instruction& instruction) {
  instruction.guarded = true;
  instruction.guard_negated = cursor_.accept('!');
  const Token name = cursor_.token();
  if (cursor_.expect_name("a predicate after `@`").empty()) return false;
  Operand guard;
  if (!resolve(name, guard)) return false;
  if (guard.kind != OperandKind::reg) {
    return cursor_.fail(name, fmt::format("`{}` is not a predicate register", name.text),
                        "guard by a predicate that `setp` has set");
  }
  instruction.guard = guard.reg();
  return true;
}

// One operand; `a|b` makes a pair of two.
bool OperandParser::operand(Operand& result) {
  if (!single(result)) return false;
  if (!cursor_.at('|')) return true;
  cursor_.advance();
  Operand second;
  if (!single(second)) return false;
  const Operand first = result;
  result = {};
  result.kind = OperandKind::pair;
  store_elements({first, second}, result);
  return true;
}

bool OperandParser::single(Operand& result) {
  if (cursor_.at_name() && cursor_.token().text != "WARP_SZ") return named(result);
  if (cursor_.at('[')) return address(result);
  if (cursor_.at('{')) return vector(result);
  if (cursor_.at('!')) return negated(result);
  if (cursor_.at('-')) return minus(result);
  if (begins_constant(cursor_)) return immediate(result);
  return cursor_.fail_expected("an operand");
}

// What may stand inside a vector, an address or an argument list: no further nesting.
bool OperandParser::plain(Operand& result) {
  if (cursor_.at('[') || cursor_.at('{')) return cursor_.fail_expected("a single value");
  return single(result);
}

// A name and what may follow it: `.x`, `+ 8`.
bool OperandParser::named(Operand& result) {
  const Token name = cursor_.token();
  if (name.text == "_") {
    cursor_.advance();
    result.kind = OperandKind::sink;
    return true;
  }
  const bool dotted = cursor_.lexer().touches('.');
  if (dotted && name.text[0] == '%' && context_.find(name.text).kind == SymbolKind::none) {
    return special(name, result);
  }
  cursor_.advance();
  if (!resolve(name, result)) return false;
  if (dotted) return component(result);
  if (result.kind != OperandKind::symbol) return true;
  if (cursor_.at('+') || cursor_.at('-')) return offset(result);
  return cursor_.at('[') ? array_element(result) : true;
}

// `table[3]`: the address of an element, in brackets of its own.
bool OperandParser::array_element(Operand& result) {
  cursor_.advance();
  const auto index = parse_constant_expression(cursor_);
  if (!index || !cursor_.expect(']', "after the index of an array")) return false;
  const Variable& variable = context_.module.variables[result.id];
  const auto stride = static_cast<uint64_t>((bits_of(variable.type) + 7) / 8) * variable.vector;
  result.kind = OperandKind::address;
  result.base = AddressBase::variable;
  result.value = static_cast<int64_t>(index->bits * stride);
  return true;
}

bool OperandParser::resolve(const Token& name, Operand& result) {
  const Symbol symbol = context_.find(name.text);
  result.id = symbol.id;
  switch (symbol.kind) {
    case SymbolKind::reg:
      result.kind = OperandKind::reg;
      return true;
    case SymbolKind::variable:
      result.kind = OperandKind::symbol;
      return true;
    case SymbolKind::function:
      result.kind = OperandKind::function;
      return true;
    case SymbolKind::list:
      result.kind = OperandKind::list;
      return true;
    case SymbolKind::doubtful:
      return false;
    case SymbolKind::none:
      break;
  }
  return unknown(name, result);
}

// Not bound yet: a register of a range, or a special register.
bool OperandParser::unknown(const Token& name, Operand& result) {
  if (const auto reg = find_register(context_, function_, name.text)) {
    result.kind = OperandKind::reg;
    result.id = reg->value;
    return true;
  }
  if (const auto found = find_special_register(name.text)) {
    result.kind = OperandKind::special;
    result.id = static_cast<uint32_t>(*found);
    return true;
  }
  return undeclared(name);
}

// Registers that are numbered alike are complained about once.
bool OperandParser::undeclared(const Token& name) {
  for (std::string_view prefix : context_.doubtful_prefixes) {
    if (is_numbered(name.text, prefix)) return false;
  }
  if (cursor_.lexer().touches('.') && !forms_of_base(name.text).empty()) {
    return cursor_.fail(name,
                        fmt::format("expected an operand, found the instruction `{}`", name.text),
                        "end the statement before it with `;`");
  }
  std::string hint = "declare a register, variable or parameter of this name first";
  bool in_range = name.text[0] == '%';
  for (const RegisterRange& range : context_.ranges) {
    if (!is_numbered(name.text, range.prefix)) continue;
    in_range = true;
    hint = fmt::format("`{0}<{1}>` declares {1} registers, numbered from 0", range.prefix,
                       range.count);
  }
  const size_t prefix = name.text.find_last_not_of("0123456789") + 1;
  if (in_range && prefix < name.text.size()) {
    context_.doubtful_prefixes.push_back(name.text.substr(0, prefix));
  }
  return context_.fail_name(name, fmt::format("`{}` is not declared", name.text), std::move(hint));
}

bool OperandParser::label(Operand& result) {
  const Token name = cursor_.token();
  if (cursor_.expect_name("a label").empty()) return false;
  result.kind = OperandKind::label;
  pending_.push_back({name, static_cast<uint32_t>(function_.operands.size())});
  return true;
}

// The label of a `.branchtargets`, `.calltargets` or `.callprototype` above.
bool OperandParser::target_list(Operand& result) {
  const Token name = cursor_.token();
  if (cursor_.expect_name("the name of a target list").empty()) return false;
  const Symbol symbol = context_.locals.find(name.text);
  if (symbol.kind != SymbolKind::list) {
    return context_.fail_name(name, fmt::format("no target list `{}` stands above", name.text));
  }
  result.kind = OperandKind::list;
  result.id = symbol.id;
  return true;
}

// `%tid.x` is one name; `%tid` alone is the vector.
bool OperandParser::special(const Token& name, Operand& result) {
  cursor_.advance();
  const std::string_view dotted(name.text.data(),
                                name.text.size() + 1 + cursor_.token().text.size());
  const auto found = find_special_register(dotted);
  if (!found) {
    return cursor_.fail(name, fmt::format("`{}` is not declared", dotted),
                        "it is no special register of PTX either");
  }
  cursor_.advance();
  result.kind = OperandKind::special;
  result.id = static_cast<uint32_t>(*found);
  return true;
}

// `.x` of a vector register, or a video instruction's choice of bytes.
bool OperandParser::component(Operand& result) {
  if (!cursor_.at_word()) return cursor_.fail_expected("a component");
  const Token word = cursor_.token();
  const uint8_t found = component_named(word.text);
  const bool is_vector =
      result.kind == OperandKind::reg && function_.registers[result.id].vector > 1;
  if (is_vector && found != 0 && found <= function_.registers[result.id].vector) {
    result.component = found;
  } else if (result.kind != OperandKind::reg || !selector(word.text, result)) {
    return cursor_.fail(word, fmt::format("this operand has no component `.{}`", word.text));
  }
  cursor_.advance();
  return true;
}

// `.b0`, `.h1`, `.b7654`, `.h32`.
bool OperandParser::selector(std::string_view word, Operand& result) {
  const bool halves = word[0] == 'h';
  const std::string_view digits = word.substr(1);
  if ((word[0] != 'b' && !halves) || digits.empty() || digits.size() > 4) return false;
  uint32_t nibbles = 0;
  for (char digit : digits) {
    if (digit < '0' || digit > '7') return false;
    nibbles = nibbles << 4 | static_cast<uint32_t>(digit - '0');
  }
  result.component = kSelector;
  result.value = nibbles | static_cast<uint32_t>(digits.size()) << 16 | (halves ? 1u << 24 : 0);
  return true;
}

bool OperandParser::immediate(Operand& result) {
  const auto number = parse_constant(cursor_);
  if (!number) return false;
  result.kind = OperandKind::immediate;
  result.literal = number->literal;
  result.value = static_cast<int64_t>(number->bits);
  return true;
}

// `!p`, or the logical not of a constant.
bool OperandParser::negated(Operand& result) {
  const Token where = cursor_.token();
  cursor_.advance();
  if (!cursor_.at_name() || cursor_.token().text == "WARP_SZ") {
    if (!immediate(result)) return false;
    result.value = result.value == 0;
    return true;
  }
  if (!named(result)) return false;
  if (result.kind != OperandKind::reg) {
    return cursor_.fail(where, "`!` is for predicates and constants");
  }
  result.negated = true;
  return true;
}

// A negative constant, or the negated register of a `vmad`.
bool OperandParser::minus(Operand& result) {
  const Token where = cursor_.token();
  cursor_.advance();
  if (cursor_.at_name() && cursor_.token().text != "WARP_SZ") {
    if (!named(result)) return false;
    if (result.kind != OperandKind::reg) return cursor_.fail(where, "`-` is for registers");
    result.negated = true;
    return true;
  }
  if (!immediate(result)) return false;
  const Number positive{result.literal, static_cast<uint64_t>(result.value)};
  result.value = static_cast<int64_t>(negate(positive).bits);
  return true;
}

bool OperandParser::vector(Operand& result) {
  cursor_.advance();
  std::vector<Operand> elements;
  do {
    if (elements.size() == kMostElements) return cursor_.fail("too many elements in a vector");
    Operand element;
    if (!plain(element)) return false;
    elements.push_back(element);
  } while (cursor_.accept(','));
  if (!cursor_.expect('}', "at the end of a vector")) return false;
  result.kind = OperandKind::vector;
  store_elements(std::move(elements), result);
  return true;
}

// `[a + 8]`, `[map, {x, y}]`, `[tex, sampler, {x}]`.
bool OperandParser::address(Operand& result) {
  cursor_.advance();
  result.kind = OperandKind::address;
  if (!address_base(result)) return false;
  if (cursor_.at(',')) {
    std::vector<Operand> elements{result};
    while (cursor_.accept(',')) {
      if (elements.size() == kMostElements) return cursor_.fail("too many parts in an address");
      Operand element;
      const bool valid = cursor_.at('{') ? vector(element) : plain(element);
      if (!valid) return false;
      elements.push_back(element);
    }
    result = {};
    result.kind = OperandKind::tensor;
    store_elements(std::move(elements), result);
  }
  if (!cursor_.expect(']', "at the end of an address")) return false;
  if (result.kind == OperandKind::address && cursor_.accept_word("unified")) result.component = 1;
  return true;
}

bool OperandParser::address_base(Operand& result) {
  if (!cursor_.at_name() || cursor_.token().text == "WARP_SZ") {
    const auto number = parse_constant(cursor_);
    if (!number) return false;
    result.base = AddressBase::none;
    result.value = static_cast<int64_t>(number->bits);
    return true;
  }
  const Token name = cursor_.token();
  cursor_.advance();
  Operand base;
  if (!resolve(name, base)) return false;
  if (base.kind != OperandKind::reg && base.kind != OperandKind::symbol) {
    return cursor_.fail(name, fmt::format("`{}` has no address that can be used here", name.text),
                        "an address is a register or a variable, with an offset if need be");
  }
  result.base = base.kind == OperandKind::reg ? AddressBase::reg : AddressBase::variable;
  result.id = base.id;
  return cursor_.at('+') || cursor_.at('-') ? offset(result) : true;
}

// `+ 8`, `-8`, `+-8` and so on, several times.
bool OperandParser::offset(Operand& result) {
  while (cursor_.at('+') || cursor_.at('-')) {
    const bool negative = cursor_.at('-');
    cursor_.advance();
    const Token where = cursor_.token();
    const auto number = parse_constant_term(cursor_);
    if (!number) return false;
    if (number->literal != Literal::integer && number->literal != Literal::unsigned_integer) {
      return cursor_.fail(where, "an offset is an integer");
    }
    const auto before = static_cast<uint64_t>(result.value);
    result.value = static_cast<int64_t>(negative ? before - number->bits : before + number->bits);
  }
  return true;
}

void OperandParser::store_elements(std::vector<Operand> elements, Operand& result) {
  result.first = static_cast<uint32_t>(function_.elements.size());
  result.count = static_cast<uint32_t>(elements.size());
  function_.elements.insert(function_.elements.end(), elements.begin(), elements.end());
}

}  // namespace lw::ptx
