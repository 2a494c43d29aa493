// The classic last block (rule book F-15, M-10): all threads of a CTA write, each goes through a
// fence of its own, a barrier follows, and one thread takes a ticket by a relaxed atomic; the CTA
// that gets the last ticket reads what all have written. By the text the one thread's fence stands
// before what the barrier brings it, so the others' writes are not released. Code everywhere relies
// on it, and hardware keeps it: a note.
//
// The form is recognised by what its reader knows: in C, the fence that every writing thread went
// through after the write; and, as a proof that it has acquired what the ticket releases, the last
// fence of some thread of that CTA in H.

#include <algorithm>

#include "order/check.h"

namespace lw::order {
namespace {

constexpr size_t kMostFences = 64;  // of a warp, the latest

LaneMask known(const LaneGroup& group, View view, uint32_t cta, const ControlEvent& fence) {
  const Clock* clock = group.bundle.clock(view);
  clock = clock == nullptr ? nullptr : clock->foreign(cta);
  return clock == nullptr ? 0 : fence.lanes & clock->lanes_at_least(fence.warp, fence.count);
}

// The writing lanes went through fences that the group knows of.
bool knows_fences(const LaneGroup& group, const std::vector<ControlEvent>& fences,
                  const Object& write, LaneMask lanes) {
  for (const ControlEvent& fence : fences)
    if (fence.count >= write.count) lanes &= ~known(group, View::kControl, write.cta, fence);
  return lanes == 0;
}

// Of some lane the last fence that the group knows of in C it knows in H.
bool has_acquired(const LaneGroup& group, const std::vector<ControlEvent>& fences, uint32_t cta) {
  LaneMask older = 0;
  for (auto fence = fences.rbegin(); fence != fences.rend(); ++fence) {
    const LaneMask heard = known(group, View::kControl, cta, *fence) & ~older;
    if ((heard & known(group, View::kCausality, cta, *fence)) != 0) return true;
    older |= heard;
  }
  return false;
}

}  // namespace

void remember_fence(Core& core, const ControlEvent& fence, const Warp& warp) {
  auto& fences = core.wide_fences[{warp.cta->id, warp.index}];
  if (fences.size() == kMostFences) fences.erase(fences.begin());
  fences.push_back(fence);
}

bool is_classic_last_block(const Doing& doing, const Object& earlier, LaneMask x, LaneMask y) {
  const uint32_t cta = earlier.cta;
  const auto& all = doing.core.wide_fences;
  const auto own = all.find({cta, earlier.warp});
  if (cta == doing.warp.cta->id || own == all.end() || earlier.kind != Kind::kWrite ||
      earlier.agent != Agent::kLanes)
    return false;
  for (const LaneGroup& group : doing.warp.groups) {
    if ((group.lanes & y) == 0) continue;
    if (!knows_fences(group, own->second, earlier, x)) return false;
    bool acquired = false;
    for (auto at = all.lower_bound({cta, 0}); at != all.end() && at->first.first == cta; ++at)
      acquired |= has_acquired(group, at->second, cta);
    if (!acquired) return false;
  }
  return true;
}

}  // namespace lw::order
