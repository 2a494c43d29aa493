#include "order/publish.h"

#include <algorithm>

#include "order/core.h"

namespace lw::order {
namespace {

// The last count at which the lane can have acted.
uint32_t last_act(const Warp& warp, int lane, bool control, uint32_t count) {
  const LaneMask since = control ? warp.since_control : warp.since_access;
  if (since >> lane & 1) return count;
  return control ? warp.met_control : warp.met_access;
}

// One number for all lanes, if lanes with less have done nothing between theirs and it.
bool is_uniform(const Warp& warp, const LaneCounts& lanes, bool control, uint32_t count,
                uint32_t& uniform) {
  uniform = *std::max_element(lanes.begin(), lanes.end());
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((warp.exists >> lane & 1) == 0) continue;
    if (lanes[lane] < std::min(uniform, last_act(warp, lane, control, count))) return false;
  }
  return true;
}

// What the lanes of one group say of lane `lane` of their warp, in a view of `met`.
uint32_t own_count(const LaneGroup& group, int met, int lane, bool publishes, uint32_t count) {
  const uint32_t known = group.met[met].of(lane);
  if (!publishes) return known;
  if (met == met_index(View::kAsyncShared)) return std::max(known, group.fenced[0]);
  if (met == met_index(View::kAsyncGlobal)) return std::max(known, group.fenced[1]);
  return count;
}

void publish_own(const Warp& warp, LaneMask lanes, Contribution& out) {
  auto own = std::make_unique<Contribution::OwnLanes>();
  bool uniform = true;
  for (int met = 0; met < kMets; ++met) {
    LaneCounts& steps = own->steps[met];
    steps.fill(0);
    for (const LaneGroup& group : warp.groups) {
      if ((group.lanes & lanes) == 0) continue;
      for (int lane = 0; lane < kWarpSize; ++lane) {
        const bool publishes = (group.lanes & lanes) >> lane & 1;
        steps[lane] = std::max(steps[lane], own_count(group, met, lane, publishes, out.count));
      }
    }
    const bool control = met == met_index(View::kControl);
    uniform &= is_uniform(warp, steps, control, out.count, out.own[met]);
  }
  if (!uniform) out.own_lanes = std::move(own);
}

// The copies that `lanes` have waited for, for views that know `base`. A lane that has issued none
// beyond what is known of it may be said to have come as far as the others.
void publish_milestone(const AsyncMilestone& milestone, const LaneCounts& done,
                       const LaneCounts& issued, ViewSet views, const Clock* base,
                       Contribution& out) {
  uint32_t most = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (out.lanes >> lane & 1) most = std::max(most, done[lane]);
  }
  if (most == 0 || (base != nullptr && base->all_lanes(milestone.component) >= most)) return;
  Contribution::OwnAsync own{milestone.component, {}, views};
  for (int lane = 0; lane < kWarpSize; ++lane) {
    uint32_t count = base != nullptr ? base->lane(milestone.component, lane) : 0;
    if (out.lanes >> lane & 1) count = std::max(count, done[lane]);
    own.counts[lane] = issued[lane] <= count ? std::max(count, most) : count;
  }
  out.async.push_back(own);
}

void publish_async(const WarpAsync& async, Contribution& out) {
  const Clock* known = out.bundle.clock(View::kCausality);
  const ViewSet generic = view_bit(View::kCausality) | kExecutionAndControl;
  const LaneCounts& copies = async.copies.issued;
  const LaneCounts& bulk = async.bulk.issued;
  publish_milestone(async.copied, async.copied.done, copies, generic, known, out);
  publish_milestone(async.read, async.read.done, bulk, generic, known, out);
  publish_milestone(async.written, async.written.done, bulk, generic, known, out);
  for (int space = 0; space < 2; ++space) {
    const View view = space == 0 ? View::kAsyncShared : View::kAsyncGlobal;
    publish_milestone(async.copied, async.fenced_copies[space], copies, view_bit(view),
                      out.bundle.clock(view), out);
  }
}

// A proxy fence as one number for all lanes: those outside `lanes` have done nothing that it covers
// and they are not known to.
bool fence_is_uniform(const Warp& warp, const LaneGroup& group, int space) {
  const Met& met = group.met[1 + space];
  const uint32_t fenced = group.fenced[space];
  return met.uniform() && met.of(0) >= std::min(fenced, warp.met_access);
}

// The common case: one group publishes, and nobody outside has acted since the warp met.
const LaneGroup* sole_publisher(const Warp& warp, LaneMask lanes) {
  if (((warp.since_access | warp.since_control) & ~lanes) != 0) return nullptr;
  const LaneGroup* sole = nullptr;
  for (const LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    if (sole != nullptr) return nullptr;
    sole = &group;
  }
  if (!fence_is_uniform(warp, *sole, 0) || !fence_is_uniform(warp, *sole, 1)) return nullptr;
  return sole;
}

// Equal parts of the contributions give one clock.
bool same_in(const Contribution& part, View a, View b) {
  const int met_a = met_index(a);
  const int met_b = met_index(b);
  if ((part.views >> static_cast<int>(a) & 1) != (part.views >> static_cast<int>(b) & 1))
    return false;
  if (!(part.bundle.view(a) == part.bundle.view(b))) return false;
  if (part.own_lanes != nullptr && met_a != met_b) return false;
  if (part.own_lanes == nullptr && part.own[met_a] != part.own[met_b]) return false;
  return std::all_of(part.async.begin(), part.async.end(), [&](const auto& own) {
    return (own.views >> static_cast<int>(a) & 1) == (own.views >> static_cast<int>(b) & 1);
  });
}

void add(const Contribution& part, View view, ClockBuilder& builder) {
  const int met = met_index(view);
  if (part.own_lanes != nullptr) {
    builder.raise_lanes(part.steps, part.own_lanes->steps[met]);
  } else {
    builder.raise(part.steps, part.own[met]);
  }
  for (const Contribution::OwnAsync& own : part.async) {
    if (own.views & view_bit(view)) builder.raise_lanes(own.component, own.counts);
  }
}

ClockRef join_view(std::span<const Contribution> parts, std::span<const Reached> reached,
                   View view) {
  const ViewSet bit = view_bit(view);
  const ClockRef* last = nullptr;
  ClockRef base;
  for (const Contribution& part : parts) {
    if ((part.views & bit) == 0) continue;
    const ClockRef& clock = part.bundle.view(view);
    if (last == nullptr) base = clock;
    if (last != nullptr && !(*last == clock)) base = join(base, clock);
    last = &clock;
  }
  ClockBuilder builder(std::move(base));
  for (const Contribution& part : parts) {
    if (part.views & bit) add(part, view, builder);
  }
  for (const Reached& one : reached) {
    if (one.views & bit) builder.raise(one.component, one.count);
  }
  return builder.finish();
}

bool same_views(std::span<const Contribution> parts, std::span<const Reached> reached, View a,
                View b) {
  const auto both = [&](const Reached& one) {
    return ((one.views & view_bit(a)) != 0) == ((one.views & view_bit(b)) != 0);
  };
  return std::all_of(reached.begin(), reached.end(), both) &&
         std::all_of(parts.begin(), parts.end(),
                     [&](const Contribution& part) { return same_in(part, a, b); });
}

}  // namespace

Contribution publish(Warp& warp, LaneMask lanes, ViewSet views) {
  Contribution out;
  out.steps = warp.steps();
  out.cta = warp.cta->id;
  out.warp = warp.index;
  out.count = warp.count++;
  out.lanes = lanes;
  out.views = views;
  if (const LaneGroup* group = sole_publisher(warp, lanes)) {
    out.bundle = group->bundle;
    out.own = {out.count, std::max(group->fenced[0], group->met[1].of(0)),
               std::max(group->fenced[1], group->met[2].of(0)), out.count};
  } else {
    for (const LaneGroup& group : warp.groups) {
      if (group.lanes & lanes) out.bundle = join(out.bundle, group.bundle);
    }
    publish_own(warp, lanes, out);
  }
  if (warp.async) publish_async(*warp.async, out);
  return out;
}

BundleRef join_contributions(std::span<const Contribution> parts,
                             std::span<const Reached> reached) {
  auto* next = new Bundle;
  for (int v = 0; v < kViews; ++v) {
    const View view = static_cast<View>(v);
    int twin = 0;
    while (twin < v && !same_views(parts, reached, static_cast<View>(twin), view)) ++twin;
    next->clock[v] = twin < v ? next->clock[twin] : join_view(parts, reached, view);
  }
  return BundleRef(next);
}

}  // namespace lw::order
