#pragma once
// What the CTAs of a cluster know of each other, and what one may do to another's shared memory
// (rule book 5 and 6; PTX ISA 9.7.13.3, 9.7.13.4, 8.9.4 rule 3).
//
// The barrier of the cluster joins what all its threads bring in the clocks of each CTA (K-1). A
// relaxed arrival brings control alone (K-3), and so does a relaxed arrival on an mbarrier, but for
// what a fence before it covers: a release fence all that its thread had done, fence.mbarrier_init
// the thread's inits (MB-3), tcgen05.fence::before_thread_sync tensor work (tensor.h).
//
// A signal from one CTA to another orders memory if it is given and taken at the scope of the
// cluster or wider (K-11). At the scope of a CTA it says what has finished, and no more (K-12).
//
// Life. Shared memory of a peer may be touched once the peer is known to have started (K-7): any
// word of it says so. And the peer may end only after all that (K-8): what its threads know when
// they exit is joined, and at its end everything that other CTAs did to its memory and its
// mbarriers must have finished by that. Tested in cluster_test.cpp and against
// tests/reference_order.

#include "order/core.h"

namespace lw::order {

// To those who wait in CTA `to`, what does an arrival at this scope publish, and is it `across`?
struct Reach {
  ViewSet views = kAllViews;
  bool across = false;
};
Reach reach_of(const Cta& from, uint32_t to, Scope scope);

// What fences before it add to a relaxed arrival at this scope, for those who wait in CTA `to`.
void add_fenced(const Core& core, const Warp& warp, LaneMask lanes, Scope scope, uint32_t to,
                std::vector<Contribution>& parts);

// The inits of these lanes that a fence.mbarrier_init came after.
std::optional<Contribution> carried_inits(const Warp& warp, LaneMask lanes);

// K-7: do the lanes know that the CTA has started?
void check_started(Core& core, const Warp& warp, OpId op, LaneMask lanes, const Cta& peer,
                   uint64_t address);
// K-8: have the other CTAs finished with the memory of one that ends?
void check_end(Core& core, Cta& cta);

}  // namespace lw::order
