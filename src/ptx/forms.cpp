#include "ptx/forms.h"

#include <array>
#include <string>
#include <vector>

#include "ptx/forms/parse_pattern.h"

namespace lw::ptx {
namespace {

constexpr bool modelled = true;
constexpr bool unmodelled = false;

constexpr FormRow kRows[] = {
    {"", Effect::none, unmodelled, 0, "", "", ""},
#define LW_FORM(name, effect, modelled, version, target, section, pattern) \
  {#name, Effect::effect, modelled, version, target, section, pattern},
#include "ptx/forms.def"
};

// A row whose pattern is malformed does not compile: the error names the row and the `throw`.
consteval bool is_well_formed(std::string_view pattern) {
  return !parse_pattern(pattern).base.empty();
}
#define LW_FORM(name, effect, modelled, version, target, section, pattern) \
  static_assert(is_well_formed(pattern), "the pattern of " #name);
#include "ptx/forms.def"

std::vector<Pattern> parse_patterns() {
  std::vector<Pattern> patterns(1);
  patterns.reserve(std::size(kRows));
  for (size_t i = 1; i < std::size(kRows); ++i) patterns.push_back(parse_pattern(kRows[i].pattern));
  return patterns;
}

}  // namespace

const FormRow& row_of(FormId form) { return kRows[static_cast<size_t>(form)]; }

const Pattern& pattern_of(FormId form) {
  static const std::vector<Pattern> patterns = parse_patterns();
  return patterns[static_cast<size_t>(form)];
}

std::string syntax_of(FormId form) {
  const std::string_view pattern = row_of(form).pattern;
  const std::string_view line = pattern.substr(0, pattern.find(';'));
  const size_t operands = line.find(' ');
  if (operands == std::string_view::npos) return std::string(line);
  std::string text(line.substr(0, operands));
  bool in_properties = false;  // from a colon to the next separator
  for (char c : line.substr(operands)) {
    const bool separates = std::string_view(" ,[]{}|").find(c) != std::string_view::npos;
    in_properties = !separates && (in_properties || c == ':');
    if (!in_properties) text += c;
  }
  return text;
}

}  // namespace lw::ptx
