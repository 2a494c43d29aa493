#pragma once
// The parser of the notation in pattern.h; constexpr, so a malformed row of forms.def stops the
// compiler at the `throw` that says what is wrong with it.

#include <string_view>
#include <vector>

#include "ptx/forms/pattern.h"
#include "ptx/forms/pattern_text.h"
#include "ptx/token_tables.h"

namespace lw::ptx {

class PatternParser : private PatternText {
 public:
  constexpr explicit PatternParser(std::string_view text) : PatternText(text) {}

  constexpr Pattern parse() {
    const size_t syntax_end = text_.find(';');
    if (syntax_end == std::string_view::npos) throw "a pattern ends with `;`";
    lists_ = text_.substr(syntax_end + 1);
    text_ = text_.substr(0, syntax_end);
    pattern_.base = word();
    if (pattern_.base.empty()) throw "a pattern begins with the opcode";
    parse_opcode(kNowhere);
    parse_operands(kNowhere);
    check_all_read();
    read_constraints();
    return pattern_;
  }

 private:
  // Opcode ---------------------------------------------------------------------------------------

  constexpr void parse_opcode(int group) {
    while (at() == '.' || (at() == '{' && at(1) == '.')) {
      if (at() == '.') {
        ++place_;
        add_element(word(), group);
        continue;
      }
      ++place_;
      pattern_.element_groups.push_back(group);
      parse_opcode(static_cast<int>(pattern_.element_groups.size()) - 1);
      expect('}');
    }
  }

  constexpr void add_element(std::string_view name, int group) {
    Element element{name, {}, {}, group};
    const std::string_view list = find_list(name);
    if (list.empty()) {
      add_token(element, name);
    } else {
      add_alternatives(element, list);
    }
    if (element.types.empty() == element.mods.empty()) throw "a list holds types or modifiers";
    pattern_.elements.push_back(element);
  }

  static constexpr void add_token(Element& element, std::string_view token) {
    const Type type = tables::type_named(token);
    const Mod mod = tables::mod_named(token);
    if (type != Type::none) {
      element.types.push_back(type);
    } else if (mod != Mod::none) {
      element.mods.push_back(mod);
    } else {
      throw "a dot-word is neither type nor modifier nor a list defined in the row";
    }
  }

  // `.m64n*k16`: all modifiers with a number in place of the star.
  static constexpr void add_family(Element& element, std::string_view head, std::string_view tail) {
    for (std::string_view token : tables::kMods) {
      if (token.size() <= head.size() + tail.size()) continue;
      if (!token.starts_with(head) || !token.ends_with(tail)) continue;
      bool digits = true;
      for (char c : token.substr(head.size(), token.size() - head.size() - tail.size())) {
        digits = digits && is_digit(c);
      }
      if (digits) element.mods.push_back(tables::mod_named(token));
    }
  }

  constexpr void add_alternatives(Element& element, std::string_view list) {
    PatternText tokens(list);
    while (tokens.skip_blanks(), tokens.at() != '\0') {
      tokens.expect('.');
      const std::string_view token = tokens.word();
      if (tokens.at() == '*') {
        tokens.expect('*');
        add_family(element, token, tokens.word());
      } else {
        add_token(element, token);
      }
      tokens.skip_blanks();
      if (tokens.at() == ',') tokens.expect(',');
    }
  }

  constexpr void read_constraints() {
    PatternText rest(lists_);
    while (rest.at_definition()) {
      const Definition each = rest.definition();
      const int element = find_element(each.name);
      if (element == kNowhere) throw "a list is defined and not used";
      if (each.when.empty()) continue;
      Constraint constraint;
      constraint.element = element;
      add_alternatives(constraint.when, each.when);
      add_alternatives(constraint.allowed, each.list);
      pattern_.constraints.push_back(constraint);
    }
  }

  // Operands -------------------------------------------------------------------------------------

  constexpr void parse_operands(int group) {
    while (true) {
      skip_separators();
      if (at() == '\0' || at() == '}') return;
      if (at() == '{' && at(1) != '!' && at(1) != '-') {
        ++place_;
        if (group != kNowhere) throw "optional operands do not nest";
        pattern_.operand_groups.push_back(group);
        parse_operands(static_cast<int>(pattern_.operand_groups.size()) - 1);
        expect('}');
      } else {
        pattern_.operands.push_back(operand(group));
      }
    }
  }

  constexpr OperandSpec operand(int group) {
    OperandSpec spec = at() == '[' ? address() : value();
    spec.group = group;
    if (at() == '|' || (at() == '{' && at(1) == '|')) second_half(spec);
    return spec;
  }

  constexpr OperandSpec address() {
    expect('[');
    OperandSpec spec;
    spec.name = word();
    spec.shape = Shape::address;
    spec.read = true;
    properties(spec);
    std::vector<OperandSpec> vectors;
    while (skip_separators(), at() != ']') {
      if (at() == '\0') throw "an address ends with `]`";
      vectors.push_back(part());
    }
    expect(']');
    if (text_.substr(place_).starts_with("{.unified}")) {
      spec.unified = true;
      place_ += std::string_view("{.unified}").size();
    }
    add_parts(spec, vectors);
    return spec;
  }

  // `c`, or `{b, }` for one that may be missing.
  constexpr OperandSpec part() {
    const bool optional = at() == '{' && at(1) != '!' && at(1) != '-';
    if (optional) {
      ++place_;
      skip_separators();
    }
    OperandSpec spec = value();
    spec.optional_part = optional;
    if (!optional) return spec;
    skip_separators();
    expect('}');
    return spec;
  }

  constexpr void second_half(OperandSpec& spec) {
    spec.pair = true;
    spec.pair_optional = at() == '{';
    place_ += spec.pair_optional ? 2 : 1;
    add_parts(spec, {value()});
    if (spec.pair_optional) expect('}');
  }

  constexpr void add_parts(OperandSpec& spec, const std::vector<OperandSpec>& parts) {
    spec.first_part = static_cast<int>(pattern_.parts.size());
    spec.part_count = static_cast<int>(parts.size());
    for (const OperandSpec& part : parts) pattern_.parts.push_back(part);
  }

  constexpr OperandSpec value() {
    OperandSpec spec;
    if (text_.substr(place_).starts_with("{!}")) {
      spec.negatable = true;
      place_ += 3;
    } else if (text_.substr(place_).starts_with("{-}")) {
      spec.signable = true;
      place_ += 3;
    }
    spec.name = word();
    if (spec.name.empty()) throw "an operand has a name";
    spec.written = is_result(spec.name);
    spec.read = !spec.written;
    spec.immediates = spec.read;
    properties(spec);
    if (spec.shape == Shape::value) settle_type(spec);
    return spec;
  }

  // `d`, `p` or `q`, perhaps with a number.
  static constexpr bool is_result(std::string_view name) {
    const bool letter = name[0] == 'd' || name[0] == 'p' || name[0] == 'q';
    return letter && (name.size() == 1 || (name.size() == 2 && is_digit(name[1])));
  }

  constexpr void properties(OperandSpec& spec) {
    while (at() == ':') {
      ++place_;
      if (is_digit(at())) {
        range(spec);
        continue;
      }
      if (at() != '.') property(spec, word());
      while (at() == '.') {
        ++place_;
        dotted(spec, word());
      }
    }
  }

  constexpr void property(OperandSpec& spec, std::string_view name) {
    if (name == "if") return condition(spec);
    if (name == "or") return expect_predicate(spec);
    if (name.size() > 1 && name[0] == 'v' && is_digit(name[1])) {
      spec.length = Length::fixed;
      spec.count = number(name.substr(1));
    } else if (name.starts_with("step")) {
      spec.step = number(name.substr(4));
    } else if (name.starts_with("sm_")) {
      spec.least_target = number(name.substr(3));
    } else if (name.starts_with("num")) {
      count_by_modifier(spec, name);
    } else if (!set_flag(spec, name) && !set_shape(spec, name) && !set_length(spec, name)) {
      throw "an unknown property of an operand";
    }
  }

  static constexpr bool set_flag(OperandSpec& spec, std::string_view name) {
    if (name == "wide") return spec.width = Width::at_least, true;
    if (name == "double") return spec.width = Width::twice, true;
    if (name == "reg") return spec.immediates = false, true;
    if (name == "imm") return spec.registers = false, true;
    if (name == "sign") return spec.values = {-1, 1}, spec.value_count = 2, true;
    if (name == "full") return spec.values = {-1, 0xffffffff}, spec.value_count = 2, true;
    if (name == "any") return spec.specials = spec.symbols = true;
    if (name == "address") return spec.symbols = true;
    if (name == "sink") return spec.sink = true;
    if (name == "opaque") return spec.opaque = spec.symbols = true;
    if (name == "inout") return spec.read = spec.written = true;
    return false;
  }

  static constexpr bool set_shape(OperandSpec& spec, std::string_view name) {
    if (name == "label") return spec.shape = Shape::label, true;
    if (name == "list") return spec.shape = Shape::list, true;
    if (name == "function") return spec.shape = Shape::function, true;
    if (name == "arguments") return spec.shape = Shape::arguments, true;
    return false;
  }

  constexpr bool set_length(OperandSpec& spec, std::string_view name) const {
    if (name == "parts") return spec.length = Length::parts, true;
    if (name == "vector") return spec.length = Length::open, true;
    if (name == "half") return spec.length = Length::half_count, true;
    if (name == "offsets") return spec.length = Length::by_offset, true;
    if (name == "fragment") return spec.length = Length::fragment, true;
    if (name == "mn") return spec.length = Length::fragment_mn, true;
    if (name == "mk") return spec.length = Length::fragment_mk, true;
    if (name == "kn") return spec.length = Length::fragment_kn, true;
    if (name != "coords") return false;
    spec.length = Length::by_dimension;
    return true;
  }

  constexpr void count_by_modifier(OperandSpec& spec, std::string_view name) const {
    spec.length = Length::by_count;
    spec.count = name.size() > 3 ? number(name.substr(3)) : 1;
  }

  constexpr void condition(OperandSpec& spec) {
    expect('.');
    const std::string_view name = word();
    spec.needs_element = find_element(name);
    if (spec.needs_element == kNowhere) throw "`if` names a word of the opcode";
  }

  constexpr void expect_predicate(OperandSpec& spec) {
    expect('.');
    if (word() != "pred") throw "`or` is followed by `.pred`";
    spec.or_predicate = true;
  }

  // `0..15`, or `4/8/16`.
  constexpr void range(OperandSpec& spec) {
    const int first = number(digits());
    if (at() == '.') {
      expect('.'), expect('.');
      spec.ranged = true;
      spec.least = first;
      spec.most = number(digits());
      return;
    }
    add_value(spec, first);
    while (at() == '/') {
      ++place_;
      add_value(spec, number(digits()));
    }
  }

  static constexpr void add_value(OperandSpec& spec, int value) {
    if (spec.value_count == static_cast<int>(spec.values.size())) throw "too many values";
    spec.values[spec.value_count++] = value;
  }

  // `.type`, a list of types or of vector lengths, or a fixed type.
  constexpr void dotted(OperandSpec& spec, std::string_view name) {
    const int element = find_element(name);
    if (element == kNowhere) {
      spec.fixed_type = tables::type_named(name);
      if (spec.fixed_type == Type::none) throw "an operand's type is not one, nor in the opcode";
    } else if (pattern_.elements[element].is_type()) {
      spec.type_element = element;
    } else {
      spec.length = Length::by_list;
      spec.length_element = element;
    }
  }

  constexpr void settle_type(OperandSpec& spec) const {
    if (spec.fixed_type != Type::none || spec.type_element != kNowhere || spec.opaque) return;
    if (!spec.registers) return;  // an integer
    if (spec.negatable || (spec.written && spec.name.front() != 'd')) {
      spec.fixed_type = Type::pred;
      return;
    }
    spec.type_element = find_element("type");
    if (spec.type_element == kNowhere) spec.type_element = only_type_element();
    if (spec.type_element != kNowhere) return;
    if (spec.length != Length::by_dimension) throw "an operand's type is not clear";
    spec.fixed_type = Type::s32;  // coordinates of tensors
  }

  constexpr int only_type_element() const {
    int only = kNowhere;
    for (size_t i = 0; i < pattern_.elements.size(); ++i) {
      if (!pattern_.elements[i].is_type()) continue;
      if (only != kNowhere) return kNowhere;
      only = static_cast<int>(i);
    }
    return only;
  }

  constexpr int find_element(std::string_view name) const {
    for (size_t i = 0; i < pattern_.elements.size(); ++i) {
      if (pattern_.elements[i].name == name) return static_cast<int>(i);
    }
    return kNowhere;
  }

  Pattern pattern_;
};

constexpr Pattern parse_pattern(std::string_view text) { return PatternParser(text).parse(); }

}  // namespace lw::ptx
