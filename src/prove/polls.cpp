#include "prove/polls.h"

#include <algorithm>
#include <set>

namespace lw::prove {
namespace {

constexpr size_t kMostHolds = 512;

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

schedule::Point point_of(const order::Party& party) {
  return {party.cta, party.warp, party.lanes, party.op, party.execution};
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
    if (one.poll.execution == 0 || one.write.execution == 0) return std::nullopt;
    held.holds.push_back({point_of(one.write), point_of(one.poll)});
  }
  Run run = run_again(inputs, held);
  const bool found = finds(run) && !finds(plain);
  if (!found && (!run.result.finished || !run.facts.unforced.empty())) return std::nullopt;
  return ProvenPolls{std::move(held), std::move(run)};
}

}  // namespace lw::prove
