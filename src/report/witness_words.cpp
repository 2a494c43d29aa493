// What does not help against a race, what shows it, and why nothing does.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "report/words.h"

namespace lw::report {

using prove::RaceFinding;

std::string unheard_words(const RaceFinding& finding, Names& names) {
  using Step = order::SyncStep;
  const prove::RacePair& pair = finding.pairs.front();
  if (pair.group.first.space != order::Space::kTensor || pair.swapped) return {};
  std::vector<std::string> signals;
  for (const Step& step : pair.released) {
    const bool heard = std::ranges::any_of(pair.acquired, [&](const Step& other) {
      return other.kind == Step::Kind::kMbarrierWait && other.owner == step.owner &&
             other.object == step.object;
    });
    if (step.kind != Step::Kind::kMbarrierArrive || heard) continue;
    const std::string text = fmt::format("{} ({})", names.shared_place(step.owner, step.object),
                                         names.line_text(step.op, {}));
    if (std::ranges::find(signals, text) == signals.end()) signals.push_back(text);
  }
  if (signals.empty()) return {};
  const bool one = signals.size() == 1;
  return fmt::format("{} then signals mbarrier{} {}, but {} does not wait for {}",
                     names.warp(pair.first().cta, pair.first().warp), one ? "" : "s",
                     fmt::join(signals, ", "), names.warp(pair.second().cta, pair.second().warp),
                     one ? "it" : "them");
}

std::string_view antagonist_flag(const prove::Witness& witness, const prove::Answer& answer) {
  const bool there = answer.run.set_up.antagonist.has_value();
  return witness.antagonist == casefile::Antagonist::tmem && !there ? " --antagonist tmem" : "";
}

std::string unshown_words(const RaceFinding& finding) {
  constexpr std::string_view kInOrder =
      "no witness: they come in this order in every schedule; what is missing is {}, and the "
      "machine's memory is sequentially consistent: every access is visible to all at once";
  switch (finding.unshown) {
    case prove::Unshown::none:
      return {};
    case prove::Unshown::proxy:
      return fmt::format(kInOrder, "visibility between the generic and the async proxy");
    case prove::Unshown::visibility:
      return fmt::format(kInOrder, "memory order, a release that an acquire observes");
    case prove::Unshown::alone:
      return "no witness: no other kernel fits beside the CTA, so nobody can write its columns "
             "before it ends";
    case prove::Unshown::same_outputs:
      break;
  }
  return fmt::format(
      "no witness: {} that turn the two around leave every output as it is; what is read there "
      "does not matter, or comes out equal",
      plural(finding.schedules_tried, "schedule"));
}

std::string_view unshown_name(prove::Unshown unshown) {
  constexpr std::string_view kNames[] = {"", "proxy", "visibility", "same outputs", "alone"};
  return kNames[static_cast<size_t>(unshown)];
}

}  // namespace lw::report
