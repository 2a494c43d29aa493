#pragma once
// The words of a pattern and its definitions; the parser in parse_pattern.h stands on it.

#include <string_view>

namespace lw::ptx {

class PatternText {
 public:
  constexpr explicit PatternText(std::string_view text) : text_(text) {}

  static constexpr bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
  }

  constexpr char at(size_t ahead = 0) const {
    return place_ + ahead < text_.size() ? text_[place_ + ahead] : '\0';
  }

  // Letters, digits and `::` between them.
  constexpr std::string_view word() {
    const size_t start = place_;
    while (true) {
      if (is_letter(at()) || is_digit(at())) {
        ++place_;
      } else if (at() == ':' && at(1) == ':' && is_letter(at(2))) {
        place_ += 2;
      } else if (at() == ':' && at(1) == ':' && is_digit(at(2))) {
        place_ += 2;
      } else if (at() == ':' && is_digit(at(1)) && place_ > start && is_digit(text_[place_ - 1]) &&
                 text_.substr(start, place_ - start).find("::") != std::string_view::npos) {
        ++place_;  // `sp::2:4`
      } else {
        return text_.substr(start, place_ - start);
      }
    }
  }

  constexpr std::string_view digits() {
    const size_t start = place_;
    while (is_digit(at())) ++place_;
    return text_.substr(start, place_ - start);
  }

  static constexpr int number(std::string_view digits) {
    if (digits.empty()) throw "a number is expected";
    int value = 0;
    for (char c : digits) {
      if (!is_digit(c)) throw "a number is expected";
      value = value * 10 + (c - '0');
    }
    return value;
  }

  constexpr void expect(char c) {
    if (at() != c) throw "a character is missing or too much";
    ++place_;
  }
  constexpr void skip_blanks() {
    while (at() == ' ') ++place_;
  }
  constexpr void skip_separators() {
    while (at() == ' ' || at() == ',') ++place_;
  }
  constexpr void check_all_read() const {
    if (place_ != text_.size()) throw "something stands behind the operands";
  }

  // One definition behind the syntax line: `.name = { ... };` or `.word .word & .name = { ... };`.
  struct Definition {
    std::string_view when;  // before the `&`, if there is one
    std::string_view name;
    std::string_view list;  // between the braces
  };

  constexpr Definition definition() {
    Definition found;
    const size_t start = place_;
    const size_t end = text_.find('=', place_);
    if (end == std::string_view::npos) throw "a list is defined with `=`";
    const size_t condition = text_.substr(0, end).find('&', place_);
    if (condition != std::string_view::npos) {
      found.when = text_.substr(start, condition - start);
      place_ = condition + 1;
    }
    skip_blanks(), expect('.');
    found.name = word();
    skip_blanks(), expect('=');
    skip_blanks(), expect('{');
    const size_t close = text_.find('}', place_);
    if (close == std::string_view::npos) throw "a list ends with `}`";
    found.list = text_.substr(place_, close - place_);
    place_ = close + 1;
    expect(';');
    skip_blanks();
    return found;
  }

  constexpr bool at_definition() {
    skip_blanks();
    return at() != '\0';
  }

  // The alternatives of a list, empty if there is none of this name.
  constexpr std::string_view find_list(std::string_view name) const {
    PatternText rest(lists_);
    while (rest.at_definition()) {
      const Definition each = rest.definition();
      if (each.when.empty() && each.name == name) return each.list;
    }
    return {};
  }

 protected:
  std::string_view text_;   // the syntax line
  std::string_view lists_;  // the definitions behind it
  size_t place_ = 0;
};

}  // namespace lw::ptx
