#include "report/repeat.h"

#include <fmt/format.h>

#include "report/words.h"

namespace lw::report {
namespace {

constexpr std::string_view kLateHolds = "late:hold ";

// A random schedule takes the place of the one that was asked for, not of its holds.
std::string schedule_flags(const prove::Answer& answer, const Style& style) {
  if (!answer.sampled_seed)
    return style.schedule.empty() ? "" : " --schedule " + shell_word(style.schedule);
  std::string text = fmt::format(" --schedule random:{}", *answer.sampled_seed);
  if (style.schedule.starts_with(kLateHolds))
    text += fmt::format(" --replay '{}'", style.schedule.substr(kLateHolds.find(':') + 1));
  return text;
}

std::string hold_flag(const std::string& holds) {
  return holds.empty() ? "" : fmt::format(" --replay '{}'", holds);
}

}  // namespace

std::string shell_word(const std::string& word) {
  const bool plain = word.find_first_not_of(
                         "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
                         "_-./:=,@%+") == std::string::npos;
  return plain && !word.empty() ? word : "'" + word + "'";
}

std::string repeat_command(const prove::Answer& answer, const Style& style, Names& names) {
  std::string holds;
  for (const schedule::Hold& hold : answer.added) {
    if (!holds.empty()) holds += "; ";
    holds += schedule::hold_text(hold, names.machine().places());
  }
  return style.command + schedule_flags(answer, style) + hold_flag(holds);
}

std::string repeat_command(const prove::Answer& answer, const Style& style, Names& names,
                           const prove::Witness& witness) {
  return fmt::format("{}{}{}", repeat_command(answer, style, names),
                     antagonist_flag(witness, answer), hold_flag(witness.replay));
}

std::string repeat_by_source(const prove::Answer& answer, const Style& style, Names& names,
                             const prove::Witness& witness) {
  if (witness.replay_by_source.empty()) return {};
  std::string holds;
  for (const schedule::Hold& hold : answer.added) {
    const std::string text = schedule::hold_source_text(hold, names.machine().places());
    if (text.empty()) return {};
    holds += text + "; ";
  }
  const std::string schedule = answer.sampled_seed ? schedule_flags(answer, style) : "";
  return fmt::format("{}{}{}", schedule, antagonist_flag(witness, answer),
                     hold_flag(holds + witness.replay_by_source));
}

}  // namespace lw::report
