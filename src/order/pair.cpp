#include "order/pair.h"

namespace lw::order {
namespace {

bool is_step(Agent agent) {
  return agent == Agent::kLanes || agent == Agent::kMatrixRows || agent == Agent::kTensorAlloc ||
         agent == Agent::kTensorFree;
}

int space_of(View view) { return view == View::kAsyncGlobal ? 1 : 0; }
bool is_async_view(View view) { return view == View::kAsyncShared || view == View::kAsyncGlobal; }

}  // namespace

Pair::Pair(const Doing& doing, const Object& earlier)
    : doing_(doing),
      earlier_(earlier),
      same_cta_(earlier.cta == doing.warp.cta->id),
      same_warp_(same_cta_ && earlier.warp == doing.warp.index) {}

LaneMask Pair::known_by_clock(const LaneGroup& group, View view) const {
  const Cta& cta = *doing_.warp.cta;
  const Clock* clock = group.bundle.clock(view);
  const bool may_wait = clock != nullptr && !same_cta_;
  if (may_wait && doing_.core.knows_grid_end(clock, cta, earlier_.cta)) return kAllLanes;
  clock = clock_of(clock, cta.id, earlier_.home);
  return clock == nullptr ? 0 : clock->lanes_at_least(earlier_.component, earlier_.count);
}

const Pair::Known& Pair::known(View view) {
  Known& known = known_[static_cast<int>(view)];
  if (computed_[static_cast<int>(view)]) return known;
  computed_[static_cast<int>(view)] = true;
  const auto& groups = doing_.warp.groups;
  for (size_t i = 0; i < groups.size(); ++i) {
    known[i] = known_by_clock(groups[i], view);
    if (same_warp_ && is_step(earlier_.agent)) {
      known[i] |= groups[i].met_in(view).at_least(earlier_.count);
    }
  }
  return known;
}

// Program order, and copies that the lane itself has waited for.
bool Pair::did_itself(const LaneGroup& group, View view, int lane) const {
  if (!same_warp_) return false;
  const WarpAsync* async = doing_.warp.async.get();
  const bool fenced = is_async_view(view);
  switch (earlier_.agent) {
    case Agent::kLanes:
    case Agent::kMatrixRows:
    case Agent::kTensorAlloc:
    case Agent::kTensorFree:
      return !fenced || group.fenced[space_of(view)] >= earlier_.count;
    case Agent::kCpAsync: {
      const LaneCounts& done = fenced ? async->fenced_copies[space_of(view)] : async->copied.done;
      return done[lane] >= earlier_.count;
    }
    case Agent::kBulkStore: {
      const AsyncMilestone& milestone =
          earlier_.component == async->read.component ? async->read : async->written;
      return milestone.done[lane] >= earlier_.count;
    }
    default:
      return false;  // it learns of the end as everybody does
  }
}

bool Pair::group_knows(const LaneGroup& group, View view, LaneMask known, LaneMask earlier,
                       LaneMask later) const {
  const bool any = earlier_.shape == ShapeKind::kAnyLane;
  const LaneMask missing = earlier & ~known;
  if (missing == 0 || (any && missing != earlier)) return true;
  if (!same_warp_) return false;
  for (LaneMask rest = later; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    const LaneMask own = did_itself(group, view, lane) ? missing & (1u << lane) : 0;
    if (any ? own == 0 : own != missing) return false;
  }
  return true;
}

bool Pair::ordered(View view, LaneMask earlier, LaneMask later) {
  const Known& all = known(view);
  const auto& groups = doing_.warp.groups;
  for (size_t i = 0; i < groups.size(); ++i) {
    const LaneMask here = groups[i].lanes & later;
    if (here != 0 && !group_knows(groups[i], view, all[i], earlier, here)) return false;
  }
  return true;
}

bool Pair::crosses_barrier(LaneMask earlier, LaneMask later) {
  for (const LaneGroup& group : doing_.warp.groups) {
    if ((group.lanes & later) == 0) continue;
    const LaneMask known = known_by_clock(group, View::kCausality) & earlier;
    if (earlier_.shape == ShapeKind::kAnyLane ? known == 0 : known != earlier) return false;
  }
  return true;
}

bool Pair::is_all(LaneMask known) const {
  if (earlier_.shape == ShapeKind::kAnyLane) return (known & earlier_.lanes) != 0;
  return (earlier_.lanes & ~known) == 0;
}

bool Pair::whole(View view, LaneMask later) {
  const Known& all = known(view);
  const auto& groups = doing_.warp.groups;
  for (size_t i = 0; i < groups.size(); ++i) {
    if ((groups[i].lanes & later) != 0 && !is_all(all[i])) return false;
  }
  return true;
}

bool Pair::whole_by_barrier(LaneMask later) const {
  for (const LaneGroup& group : doing_.warp.groups) {
    if ((group.lanes & later) == 0) continue;
    if (!is_all(known_by_clock(group, View::kCausality))) return false;
  }
  return true;
}

}  // namespace lw::order
