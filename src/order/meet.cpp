#include <algorithm>

#include "order/core.h"

// How the lanes of a warp learn: from a barrier, from each other.

namespace lw::order {

void learn(Warp& warp, LaneMask lanes, const BundleRef& bundle, ViewSet views) {
  warp.split(lanes);
  for (LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    LearnMemo& memo = warp.cta->learn_memo;
    if (!(memo.before == group.bundle && memo.learnt == bundle && memo.views == views)) {
      memo = {group.bundle, bundle, join(group.bundle, bundle, views), views};
    }
    group.bundle = memo.after;
  }
  if (warp.groups.size() > 1) warp.coalesce();
}

namespace {

// If every lane that can still act took part, and nobody else has acted, this is the meeting from
// which the warp counts. Else these lanes know what others of the warp do not, and may tell them.
void lanes_met(Warp& warp, LaneMask lanes, uint32_t count, bool access) {
  warp.since_control |= lanes;
  if ((warp.live & ~lanes) != 0) return;
  if (access && (warp.since_access & ~lanes) == 0) {
    warp.since_access = 0;
    warp.met_access = count;
  }
  if ((warp.since_control & ~lanes) == 0) {
    warp.since_control = 0;
    warp.met_control = count;
  }
}

void raise(Met& met, LaneMask lanes, uint32_t count, bool all) {
  if (all) return met.raise_all(count);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (lanes >> lane & 1) met.raise(lane, count);
  }
}

void raise_fenced(Met& met, const LaneGroup& group, int space) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (group.lanes >> lane & 1) met.raise(lane, group.fenced[space]);
  }
}

// Joins `from` into `into`, whose lanes it joins.
void absorb(LaneGroup& into, const LaneGroup& from) {
  into.lanes |= from.lanes;
  into.bundle = join(into.bundle, from.bundle);
  for (int met = 0; met < kMets; ++met) into.met[met].join(from.met[met]);
  for (int space = 0; space < 2; ++space) {
    into.fenced[space] = std::min(into.fenced[space], from.fenced[space]);
  }
}

// The groups inside `lanes` become one, which stands at the returned place.
LaneGroup& merge_groups(Warp& warp, LaneMask lanes) {
  warp.split(lanes);
  LaneGroup* into = nullptr;
  for (LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    if (into == nullptr) {
      into = &group;
    } else {
      absorb(*into, group);
      group.lanes = 0;
    }
  }
  const size_t at = static_cast<size_t>(into - warp.groups.data());
  std::erase_if(warp.groups, [](const LaneGroup& group) { return group.lanes == 0; });
  return warp.groups[at];
}

// The bundle of a contribution with the copies that its lanes waited for. What they say of their
// own steps stays out: that is `met`, which costs no clock.
BundleRef with_async(const Contribution& part) {
  if (part.async.empty()) return part.bundle;
  auto* next = new Bundle;
  for (int v = 0; v < kViews; ++v) {
    ClockBuilder builder(part.bundle.view(static_cast<View>(v)));
    for (const Contribution::OwnAsync& own : part.async) {
      if (own.views >> v & 1) builder.raise_lanes(own.component, own.counts);
    }
    next->clock[v] = builder.finish();
  }
  return BundleRef(next);
}

void meet_alone(Warp& warp, const Contribution& part) {
  LaneGroup& group = warp.groups.front();
  group.bundle = with_async(part);
  group.met[0].raise_all(part.count);
  group.met[1].raise_all(group.fenced[0]);
  group.met[2].raise_all(group.fenced[1]);
  group.met[3].raise_all(part.count);
  lanes_met(warp, part.lanes, part.count, true);
}

}  // namespace

void meet(Warp& warp, const Contribution& part) {
  const LaneMask lanes = part.lanes;
  if (warp.groups.size() == 1 && warp.is_whole(lanes)) return meet_alone(warp, part);
  const bool all_access = (warp.since_access & ~lanes) == 0;
  const bool all_control = (warp.since_control & ~lanes) == 0;
  warp.split(lanes);
  for (LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    raise_fenced(group.met_in(View::kAsyncShared), group, 0);
    raise_fenced(group.met_in(View::kAsyncGlobal), group, 1);
  }
  LaneGroup& group = merge_groups(warp, lanes);
  group.bundle = with_async(part);
  raise(group.met_in(View::kCausality), lanes, part.count, all_access);
  raise(group.met_in(View::kControl), lanes, part.count, all_control);
  lanes_met(warp, lanes, part.count, true);
}

void meet_control(Warp& warp, const Contribution& part) {
  const LaneMask lanes = part.lanes;
  const bool all = (warp.since_control & ~lanes) == 0;
  const BundleRef joined = with_async(part);
  warp.split(lanes);
  Met met;
  for (const LaneGroup& group : warp.groups) {
    if (group.lanes & lanes) met.join(group.met_in(View::kControl));
  }
  raise(met, lanes, part.count, all);
  for (LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    group.bundle = with_view(group.bundle, View::kControl, joined.view(View::kControl));
    group.met_in(View::kControl) = met;
  }
  lanes_met(warp, lanes, part.count, false);
}

void leave_barrier(Warp& warp, LaneMask lanes, uint32_t count, const BundleRef& bundle) {
  LaneGroup& group = warp.groups.size() == 1 && warp.groups.front().lanes == lanes
                         ? warp.groups.front()
                         : merge_groups(warp, lanes);
  group.bundle = bundle;
  for (Met& met : group.met) met.clear();
  lanes_met(warp, lanes, count, true);
}

bool knows_event(const Warp& warp, LaneMask lanes, const ControlEvent& event, View view) {
  const uint32_t cta = warp.cta->id;
  const bool own = event.cta == cta && event.warp == warp.index;
  for (const LaneGroup& group : warp.groups) {
    LaneMask here = group.lanes & lanes;
    if (here == 0) continue;
    const Clock* clock = clock_of(group.bundle.clock(view), cta, event.cta);
    LaneMask known = clock == nullptr ? 0 : clock->lanes_at_least(event.warp, event.count);
    if (own) known |= group.met_in(view).at_least(event.count);
    const LaneMask missing = event.lanes & ~known;
    if (missing == 0) continue;
    // What is left is known only to a lane that did it itself.
    if (!own || (missing & (missing - 1)) != 0 || here != missing) return false;
  }
  return true;
}

}  // namespace lw::order
