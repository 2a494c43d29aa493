#include "prove/polls.h"

#include <algorithm>
#include <bit>
#include <set>

namespace lw::prove {
namespace {

constexpr size_t kMostHolds = 4096;

// All that is open is whether readers wait for what they saw.
bool asks_for_proof(const Run& run) {
  return !run.facts.awaited.empty() && run.facts.awaited.size() <= kMostHolds &&
         run.result.finished &&
         std::ranges::all_of(run.facts.unforced,
                             [](const order::Unforced& fact) { return fact.awaited; });
}

std::vector<base::OpId> instructions_of(const Run& run) {
  std::set<base::OpId> ops;
  for (const order::Awaited& one : run.facts.awaited) ops.insert({one.poll.op, one.write.op});
  return {ops.begin(), ops.end()};
}

bool finds(const Run& run) {
  return run.result.fault || !run.facts.races.empty() || !run.facts.errors.empty();
}

// As `--replay` can say it: one lane, or all that take part.
schedule::Point point_of(const order::Party& party) {
  const bool one = std::has_single_bit(party.lanes);
  return {party.cta, party.warp, one ? party.lanes : base::kAllLanes, party.op, party.execution};
}

// The holds behind the first `kept`, and the run that they make.
struct HeldRun {
  RunPlan plan;
  Run run;
};

// What all holds together find may need few of them, and is told by these: half of them as long as
// one half finds something too.
void halve(const casefile::Inputs& inputs, size_t kept, HeldRun& found) {
  while (found.plan.holds.size() > kept + 1) {
    const auto all = found.plan.holds;
    const auto begin = all.begin() + static_cast<ptrdiff_t>(kept);
    const auto middle = begin + (all.end() - begin) / 2;
    const auto try_half = [&](auto from, auto to) {
      RunPlan half = found.plan;
      half.holds.assign(all.begin(), begin);
      half.holds.insert(half.holds.end(), from, to);
      Run run = run_again(inputs, half);
      if (!finds(run)) return false;
      found = {std::move(half), std::move(run)};
      return true;
    };
    if (!try_half(begin, middle) && !try_half(middle, all.end())) return;
  }
}

}  // namespace

std::optional<ProvenPolls> prove_polls(const casefile::Inputs& inputs, const RunPlan& plan,
                                       const Run& plain) {
  if (!asks_for_proof(plain)) return std::nullopt;
  RunPlan counting = plan;
  counting.watched = instructions_of(plain);
  const Run counted = run_again(inputs, counting);
  RunPlan held = plan;
  for (const order::Awaited& one : counted.facts.awaited) {
    if (one.write.execution == 0) return std::nullopt;
    held.holds.push_back({point_of(one.write), point_of(one.poll)});
    held.holds.back().until.n = schedule::kNext;
  }
  HeldRun all{held, run_again(inputs, held)};
  const bool found = finds(all.run) && !finds(plain);
  if (found) halve(inputs, plan.holds.size(), all);
  if (!found && (!all.run.result.finished || !all.run.facts.unforced.empty())) return std::nullopt;
  return ProvenPolls{std::move(all.plan), std::move(all.run)};
}

}  // namespace lw::prove
