#include "order/publish.h"

#include <algorithm>
#include <tuple>

#include "order/core.h"

namespace lw::order {
namespace {

// The last count at which the lane can have acted.
uint32_t last_act(const Standing& warp, int lane, bool control, uint32_t count) {
  const LaneMask since = control ? warp.since_control : warp.since_access;
  if (since >> lane & 1) return count;
  return control ? warp.met_control : warp.met_access;
}

// One number for all lanes, if lanes with less have done nothing between theirs and it.
bool is_uniform(const Standing& warp, const LaneCounts& lanes, bool control, uint32_t count,
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

void publish_own(const Standing& warp, LaneMask lanes, Contribution& out) {
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
bool fence_is_uniform(const Standing& warp, const LaneGroup& group, int space) {
  const Met& met = group.met[1 + space];
  const uint32_t fenced = group.fenced[space];
  return met.uniform() && met.of(0) >= std::min(fenced, warp.met_access);
}

// The common case: one group publishes, and nobody outside has acted since the warp met.
const LaneGroup* sole_publisher(const Standing& warp, LaneMask lanes) {
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

bool publishes(const Contribution& part, View view) { return (part.views & view_bit(view)) != 0; }

bool is_silent(const Contribution& part, View view) {
  if (!publishes(part, view)) return true;
  if (part.bundle.clock(view) != nullptr || part.own_lanes != nullptr) return false;
  if (part.own[met_index(view)] != 0) return false;
  return std::none_of(part.async.begin(), part.async.end(),
                      [&](const auto& own) { return (own.views & view_bit(view)) != 0; });
}

bool is_like_causality(const Contribution& part, View view) {
  constexpr View kH = View::kCausality;
  const int met = met_index(view);
  if (publishes(part, view) != publishes(part, kH)) return false;
  if (!(part.bundle.view(view) == part.bundle.view(kH))) return false;
  if (met != 0 && (part.own_lanes != nullptr || part.own[met] != part.own[0])) return false;
  return std::all_of(part.async.begin(), part.async.end(), [&](const auto& own) {
    return ((own.views & view_bit(view)) != 0) == ((own.views & view_bit(kH)) != 0);
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

}  // namespace

void compare_views(Contribution& part) {
  for (int v = 0; v < kViews; ++v) {
    const View view = static_cast<View>(v);
    if (is_silent(part, view)) part.silent |= view_bit(view);
    if (is_like_causality(part, view)) part.like_causality |= view_bit(view);
  }
}

namespace {

// `compare_views` of a part that publishes one number in all views and nothing asynchronous.
void compare_simple_views(Contribution& part) {
  const Bundle* bundle = part.bundle.get();
  const auto clock_of = [&](View view) {
    return bundle == nullptr ? nullptr : bundle->clock[static_cast<int>(view)].get();
  };
  const Clock* causality = clock_of(View::kCausality);
  for (int v = 0; v < kViews; ++v) {
    const View view = static_cast<View>(v);
    const uint32_t own = part.own[met_index(view)];
    const Clock* clock = clock_of(view);
    part.silent |= static_cast<ViewSet>((clock == nullptr && own == 0) << v);
    part.like_causality |= static_cast<ViewSet>((clock == causality && own == part.own[0]) << v);
  }
}

}  // namespace

void publish_at(const Standing& warp, LaneMask lanes, uint32_t count, ViewSet views,
                Contribution& out) {
  out.steps = warp.steps();
  out.cta = warp.cta->id;
  out.warp = warp.index;
  out.count = count;
  out.lanes = lanes;
  out.views = views;
  if (const LaneGroup* group = sole_publisher(warp, lanes)) {
    out.bundle = group->bundle;
    out.own = {out.count, std::max(group->fenced[0], group->met[1].of(0)),
               std::max(group->fenced[1], group->met[2].of(0)), out.count};
    if (!warp.async && views == kAllViews) {
      return compare_simple_views(out);
    }
  } else {
    for (const LaneGroup& group : warp.groups) {
      if (group.lanes & lanes) out.bundle = join(out.bundle, group.bundle);
    }
    publish_own(warp, lanes, out);
  }
  if (warp.async) publish_async(*warp.async, out);
  compare_views(out);
}

void publish(Warp& warp, LaneMask lanes, ViewSet views, Contribution& out) {
  publish_at(warp, lanes, warp.count++, views, out);
}

ControlEvent event_now(const Warp& warp, OpId op, LaneMask lanes) {
  return {warp.cta->id, warp.index, lanes, warp.count, op};
}

BundleRef translated(uint32_t from, const BundleRef& bundle, uint32_t to) {
  if (from == to || bundle.get() == nullptr) return bundle;
  auto* next = new Bundle;
  for (int v = 0; v < kViews; ++v) {
    const ClockRef& clock = bundle.view(static_cast<View>(v));
    int twin = 0;
    while (twin < v && !(bundle.view(static_cast<View>(twin)) == clock)) ++twin;
    if (twin < v) {
      next->clock[v] = next->clock[twin];
      continue;
    }
    ClockBuilder builder({});
    builder.join_from(from, clock, to);
    next->clock[v] = builder.finish();
  }
  return BundleRef(next);
}

BundleRef join_across(uint32_t cta, std::vector<Contribution>& parts,
                      std::span<const Reached> reached, bool for_cluster) {
  const auto source = [&](const Contribution& part) {
    return std::tuple(part.cta != cta, part.cta, part.across);
  };
  std::ranges::stable_sort(parts, {}, source);
  auto from = std::ranges::find_if(parts, [&](const auto& part) { return part.cta != cta; });
  BundleRef joined = join_contributions({parts.begin(), from}, reached);
  while (from != parts.end()) {
    const auto to = std::find_if(from, parts.end(),
                                 [&](const auto& part) { return source(part) != source(*from); });
    const ViewSet views = from->across && !for_cluster ? kExecutionAndControl : kAllViews;
    joined = join(joined, translated(from->cta, join_contributions({from, to}, {}), cta), views);
    from = to;
  }
  return joined;
}

BundleRef join_contributions(std::span<const Contribution> parts,
                             std::span<const Reached> reached) {
  ViewSet like = kAllViews;
  ViewSet silent = kAllViews;
  for (const Contribution& part : parts) {
    like &= part.like_causality;
    silent &= part.silent;
  }
  for (const Reached& one : reached) {
    silent &= static_cast<ViewSet>(~one.views);
    const bool causality = (one.views & view_bit(View::kCausality)) != 0;
    like &= causality ? one.views : static_cast<ViewSet>(~one.views);
  }
  auto* next = new Bundle;
  for (int v = 0; v < kViews; ++v) {
    const ViewSet bit = static_cast<ViewSet>(1u << v);
    if (silent & bit) continue;
    next->clock[v] =
        v != 0 && (like & bit) ? next->clock[0] : join_view(parts, reached, static_cast<View>(v));
  }
  return BundleRef(next);
}

}  // namespace lw::order
