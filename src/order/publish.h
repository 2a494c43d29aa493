#pragma once
// What lanes hand over when they publish (arrive, meet, issue), and how hand-overs are joined.
//
// A contribution is the bundle of the publishing lanes and, beside it, what they say of their own
// warp: its steps up to the count at which they publish, and the asynchronous copies they waited
// for. The own part is one number per view as a rule. It is lane by lane only when a lane outside
// the mask has acted since the warp last met, because then nothing may be said of that lane
// (warp.h).

#include <array>
#include <memory>
#include <span>
#include <vector>

#include "order/warp.h"

namespace lw::order {

struct Contribution {
  struct OwnLanes {
    std::array<LaneCounts, kMets> steps;
  };
  struct OwnAsync {
    Component component;
    LaneCounts counts;
    ViewSet views;
  };

  BundleRef bundle;
  Component steps = 0;
  uint32_t cta = kNoCta;
  uint16_t warp = 0;
  uint32_t count = 0;
  LaneMask lanes = 0;
  ViewSet views = kAllViews;            // which views it publishes
  ViewSet like_causality = 0;           // views that contribute exactly what H does
  ViewSet silent = 0;                   // views that contribute nothing
  bool across = false;                  // to another CTA, at the scope of the cluster
  std::array<uint32_t, kMets> own{};    // by met_index, of every lane of the warp
  std::unique_ptr<OwnLanes> own_lanes;  // instead of `own`
  std::vector<OwnAsync> async;
};

// Finds out which views are alike; after the last change to the contribution.
void compare_views(Contribution& part);

// Takes what `lanes` publish now, into a fresh contribution, and begins the warp's next epoch.
void publish(Warp& warp, LaneMask lanes, ViewSet views, Contribution& out);
inline Contribution publish(Warp& warp, LaneMask lanes, ViewSet views = kAllViews) {
  Contribution out;
  publish(warp, lanes, views, out);
  return out;
}
// What lanes that stand so publish at `count`.
void publish_at(const Standing& warp, LaneMask lanes, uint32_t count, ViewSet views,
                Contribution& out);
inline Contribution publish_at(const Standing& warp, LaneMask lanes, uint32_t count,
                               ViewSet views) {
  Contribution out;
  publish_at(warp, lanes, count, views, out);
  return out;
}

// One more thing that everybody learns at a completion: a component has reached `count`.
struct Reached {
  Component component = 0;
  uint32_t count = 0;
  ViewSet views = 0;
};

// The join of contributions of one CTA, each in the views that it publishes.
BundleRef join_contributions(std::span<const Contribution> contributions,
                             std::span<const Reached> reached);
// What a bundle of CTA `from` says in the clocks of another.
BundleRef translated(uint32_t from, const BundleRef& bundle, uint32_t to);
// The join of contributions of several CTAs (which are put into order), in the clocks of `cta`,
// whose components have reached what is said. For those who wait at the scope of their CTA, what
// came `across` brings E and C alone (K-11).
BundleRef join_across(uint32_t cta, std::vector<Contribution>& contributions,
                      std::span<const Reached> reached, bool for_cluster);

// Lanes learn `bundle` in the views given.
void learn(Warp& warp, LaneMask lanes, const BundleRef& bundle, ViewSet views = kAllViews);

// The lanes that made the contribution meet: one group that knows all that each of them knew, and
// each other.
void meet(Warp& warp, const Contribution& part);
// They meet in C only (W-2).
void meet_control(Warp& warp, const Contribution& part);
// Lanes leave a barrier of the CTA with its `bundle`, which covers all that they knew.
void leave_barrier(Warp& warp, LaneMask lanes, uint32_t count, const BundleRef& bundle);

// A control event of a warp, for the conditions of chapter 17: which lanes, at which count.
struct ControlEvent {
  uint32_t cta = kNoCta;
  uint16_t warp = 0;
  LaneMask lanes = 0;
  uint32_t count = 0;
  OpId op;
};

// What the lanes do now.
ControlEvent event_now(const Warp& warp, OpId op, LaneMask lanes);

// Is the event, in this view, before what the lanes of `warp` do now?
bool knows_event(const Warp& warp, LaneMask lanes, const ControlEvent& event, View view);

// What a clock of CTA `home` has of another, or itself.
inline const Clock* clock_of(const Clock* clock, uint32_t home, uint32_t cta) {
  return clock == nullptr || home == cta ? clock : clock->foreign(cta);
}

// Does this clock of CTA `home` know the event?
inline bool knows_event(const Clock* clock, uint32_t home, const ControlEvent& event) {
  clock = clock_of(clock, home, event.cta);
  return clock != nullptr && (event.lanes & ~clock->lanes_at_least(event.warp, event.count)) == 0;
}

}  // namespace lw::order
