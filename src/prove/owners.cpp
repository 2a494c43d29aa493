#include "prove/owners.h"

#include <algorithm>
#include <limits>

#include "ptx/forms.h"

namespace lw::prove {
namespace {

using schedule::Point;

std::vector<base::OpId> deallocs(std::span<const program::Place> places) {
  std::vector<base::OpId> found;
  for (uint32_t i = 0; i < places.size(); ++i) {
    const auto& module = *places[i].module;
    if (module.opcode_of(places[i].get()).form == ptx::FormId::tcgen05_dealloc)
      found.emplace_back(i);
  }
  return found;
}

// The run in which the load comes last of all that can come before it.
Run run_with_load_last(const casefile::Inputs& inputs, RunPlan plan, const Point& load) {
  Point never = load;
  never.n = std::numeric_limits<uint64_t>::max();
  plan.holds.push_back({load, never});
  casefile::SetUp set_up = set_up_again(inputs, plan);
  plan.watched = deallocs(set_up.machine->places());
  plan.journal = true;
  return run_case(inputs, std::move(set_up), plan);
}

bool is_at(const Passing& passing, const Point& point) {
  return passing.cta == point.cta && passing.warp == point.warp &&
         passing.instruction == point.instruction && passing.n == point.n;
}

}  // namespace

std::vector<schedule::Hold> holds_until_next_owner(const casefile::Inputs& inputs, RunPlan plan,
                                                   const Point& load, const Point& free) {
  const Run run = run_with_load_last(inputs, std::move(plan), load);
  const auto freed =
      std::ranges::find_if(run.journal, [&](const Passing& one) { return is_at(one, free); });
  std::vector<schedule::Hold> holds;
  if (freed == run.journal.end()) return holds;
  for (auto one = freed + 1; one != run.journal.end(); ++one) {
    if (one->sm != freed->sm || one->cta == freed->cta) continue;
    const Point until{one->cta, one->warp, base::kAllLanes, one->instruction, one->n};
    if (holds.size() < 2)
      holds.push_back({load, until});
    else
      holds.back().until = until;
  }
  return holds;
}

}  // namespace lw::prove
