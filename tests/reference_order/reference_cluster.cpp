// Clusters of the naive engine: who belongs to which, and the barrier of all their threads.

#include "reference.h"

namespace lw::reference_order {

void Reference::begin_cluster(const std::vector<uint32_t>& ctas) {
  for (uint32_t cta : ctas) cluster_of_cta_[cta] = ctas.front();
}

uint32_t Reference::cluster_of(int lane) const {
  const auto at = cluster_of_cta_.find(cta_of(lane));
  return at == cluster_of_cta_.end() ? cta_of(lane) : at->second;
}

// Does the scope of one of two threads include the other?
bool Reference::includes(Scope scope, int lane, int other) const {
  if (cta_of(lane) == cta_of(other) || scope >= Scope::kGpu) return true;
  return scope == Scope::kCluster && cluster_of(lane) == cluster_of(other);
}

void Reference::cluster_arrive(std::span<const int> lanes, bool release) {
  Views& joined = clusters_[cluster_of(lanes.front())].joined;
  for (const LaneEvent& call : number(lanes)) {
    const LaneState& me = state(call.lane);
    const Views views = publish_across(call.lane);
    for (int view = 0; view < kViewCount; ++view)
      if (release || view == kC) joined[view].join(views[view]);
    if (release) continue;
    joined[kE].join(me.tensor);
    for (const auto& [scope, fenced] : me.fences) {
      for (int view = 0; view < kViewCount; ++view)
        if (scope != Scope::kCta || view == kE) joined[view].join(fenced[view]);
    }
    for (uint32_t id : me.fenced_inits)
      for (int view : {kH, kE, kC}) joined[view].learn_milestone(id);
  }
}

void Reference::cluster_complete(uint32_t any) {
  Cluster& cluster = clusters_[cluster_of(lane_index(any, 0, 0))];
  cluster.done = cluster.joined;
  cluster.joined = {};
}

void Reference::cluster_wait(std::span<const int> lanes) {
  for (int lane : lanes) learn(lane, clusters_[cluster_of(lane)].done, true);
}

void Reference::fence_mbarrier_init(std::span<const int> lanes) {
  for (int lane : lanes) state(lane).fenced_inits = state(lane).inits;
}

}  // namespace lw::reference_order
