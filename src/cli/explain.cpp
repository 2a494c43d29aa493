// `latewarp explain RULE`: a row of the rule book.

#include <fmt/format.h>

#include <utility>

#include "cli/commands.h"
#include "diagnose/rules.h"
#include "report/words.h"

namespace lw::cli {
namespace {

void print_field(std::string_view name, std::string_view text) {
  if (!text.empty()) fmt::print("  {:<13} {}\n", name, text);
}

// The rule book marks what a row catches by a letter; a reader gets the word.
std::string with_words(std::string_view catches) {
  static constexpr std::pair<std::string_view, std::string_view> kMarks[] = {
      {"[R]", "race:"},
      {"[E]", "error:"},
      {"[S]", "strict:"},
      {"[N]", "note:"},
      {"[D]", "deadlock:"},
      {"[ok]", "fine:"},
      {"[R/D]", "race or deadlock:"},
      {"[E/D]", "error or deadlock:"}};
  std::string text(catches);
  for (const auto& [mark, word] : kMarks) {
    for (size_t at = 0; (at = text.find(mark, at)) != std::string::npos; at += word.size())
      text.replace(at, mark.size(), word);
  }
  return text;
}

void print_rule(const diagnose::Rule& rule) {
  fmt::print("{}  ({})\n", rule.id, diagnose::tier_name(rule.tier));
  print_field("instructions", rule.instructions);
  print_field("orders", rule.orders);
  print_field("catches", with_words(rule.catches));
  print_field(rule.tier == diagnose::Tier::kError ? "see" : "PTX ISA 9.1", rule.section);
}

void print_all() {
  for (size_t i = 1; i < diagnose::rule_count(); ++i) {
    const diagnose::Rule& rule = diagnose::rule(static_cast<diagnose::RuleId>(i));
    fmt::print("{:<7} {}\n", rule.id, rule.instructions.empty() ? rule.orders : rule.instructions);
  }
}

// The code of a race in a report, as in SMEM-WAR: two words that a rule does not say.
bool print_race_code(const std::string& text) {
  using order::Space;
  using prove::Hazard;
  static constexpr std::pair<Hazard, std::string_view> kHazards[] = {
      {Hazard::read_after_write, "a write may come after the read that is meant to see it"},
      {Hazard::write_after_read, "a write may come before an earlier read has taken the old value"},
      {Hazard::write_after_write, "of two writes either may be the last"}};
  for (const Space space : {Space::kShared, Space::kGlobal, Space::kTensor}) {
    for (const auto& [hazard, meaning] : kHazards) {
      if (text != report::hazard_code(space, hazard)) continue;
      fmt::print("{}: in {} memory, {}. The rule beside it says which edge is missing.\n", text,
                 report::space_names(space).word, meaning);
      return true;
    }
  }
  return false;
}

}  // namespace

int explain(const std::string& text) {
  if (text.empty()) {
    print_all();
    return kExitClean;
  }
  if (print_race_code(text)) return kExitClean;
  const auto id = diagnose::find_rule(text);
  if (!id) {
    fmt::print(stderr, "latewarp: there is no rule `{}`; `latewarp explain` lists them\n", text);
    return kExitBadInput;
  }
  print_rule(diagnose::rule(*id));
  return kExitClean;
}

}  // namespace lw::cli
