// Clusters of the fuzzer's machine.

#include "world.h"

namespace lw::reference_order {

// All of them meet at once: what a peer may be touched after (K-7).
void World::begin_cluster(uint32_t grid) {
  clustered_.insert(grid);
  const uint32_t first = grid * kCtasPerGrid;
  const CtaId ids[] = {CtaId{first}, CtaId{first + 1}};
  engine_.begin_cluster(ids);
  reference_.begin_cluster({first, first + 1});
  for (uint32_t cta : {first, first + 1})
    for (int index = 0; index < kWarps; ++index)
      cluster_arrive(cta, index, live(cta, index), false);
  for (uint32_t cta : {first, first + 1})
    for (int index = 0; index < kWarps; ++index) cluster_wait(cta, index, live(cta, index));
}

LaneMask World::may_arrive(uint32_t cta, int index) const {
  const auto owes = owes_wait_.find({cta, index});
  return live(cta, index) & ~blocked(cta, index) & ~(owes == owes_wait_.end() ? 0 : owes->second);
}

LaneMask World::may_wait(uint32_t cta, int index) const {
  const auto owes = owes_wait_.find({cta, index});
  const auto at = at_cluster_.find({cta, index});
  const LaneMask there = at == at_cluster_.end() ? 0 : at->second;
  return owes == owes_wait_.end() ? 0 : owes->second & ~there & ~blocked(cta, index);
}

void World::cluster_arrive(uint32_t cta, int index, LaneMask lanes, bool release) {
  reference_.cluster_arrive(lane_list(cta, index, lanes), release);
  engine_.cluster_arrive(warp(cta, index), op(), lanes,
                         release ? Strength::kRelease : Strength::kRelaxed);
  at_cluster_[{cta, index}] |= lanes;
  owes_wait_[{cta, index}] |= lanes;
  for (uint32_t one : {cta, peer_of(cta)})
    for (int by = 0; by < kWarps; ++by)
      if ((live(one, by) & ~at_cluster_[{one, by}]) != 0) return;
  engine_.cluster_complete(CtaId{cta});
  reference_.cluster_complete(cta);
  for (uint32_t one : {cta, peer_of(cta)})
    for (int by = 0; by < kWarps; ++by) at_cluster_[{one, by}] = 0;
}

void World::cluster_wait(uint32_t cta, int index, LaneMask lanes) {
  reference_.cluster_wait(lane_list(cta, index, lanes));
  engine_.cluster_wait(warp(cta, index), op(), lanes);
  owes_wait_[{cta, index}] &= ~lanes;
}

void World::fence_mbarrier_init(uint32_t cta, int index, LaneMask lanes) {
  reference_.fence_mbarrier_init(lane_list(cta, index, lanes));
  engine_.fence_mbarrier_init(warp(cta, index), lanes);
}

}  // namespace lw::reference_order
