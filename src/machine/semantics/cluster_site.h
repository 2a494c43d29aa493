#pragma once
// From one CTA of a cluster to another.
//
// A `.shared::cluster` address of 32 bits has the rank of its CTA, plus one, in bits 24 and up; 0
// there is the CTA itself, so that its own `.shared::cta` addresses are good as they are. `mapa`
// makes such addresses; how the hardware numbers them is not documented, and code that makes them
// by arithmetic of its own is not understood.
//
// Limits: what goes from CTA to CTA is run, and not checked. With an order engine listening it is
// `not analysed`: the engine orders the CTAs of a cluster by nothing yet (rule book 5).

#include <bit>

#include "machine/machine.h"
#include "machine/semantics/parallel_synchronization/mbarrier_site.h"
#include "machine/semantics/shared_place.h"

namespace lw::machine {

inline constexpr int kRankShift = 24;
constexpr uint64_t rank_bits(uint64_t address) { return address >> kRankShift; }
constexpr uint32_t address_in_cta(uint32_t address, uint32_t rank) {
  return (address & ((1u << kRankShift) - 1)) | (rank + 1) << kRankShift;
}

// Whether an instruction that reaches other CTAs may go on; if not, that has been said.
bool may_cross(const Op& op, Warp& warp);

// The CTA of this rank; null, and the fault has been reported, if there is none or it has ended.
Cta* cta_of_rank(const Op& op, Warp& warp, uint32_t rank, base::LaneMask lanes);
// The other one of the pair (cta_group::2).
Cta* peer_of(const Op& op, Warp& warp, base::LaneMask lanes);

struct ClusterObject {
  Cta* cta = nullptr;
  MbarrierEntry* entry = nullptr;

  explicit operator bool() const { return entry != nullptr; }
};
// The valid mbarrier object at a lane's address, in whichever CTA of the cluster.
ClusterObject object_in_cluster(const Op& op, Warp& warp, const AddressOperand& operand, int lane);
// The one at the same place in another CTA.
ClusterObject object_of_rank(const Op& op, Warp& warp, uint32_t rank, uint32_t offset, int lane);
// Calls `body(object)` for the one of every rank in the mask, until the run ends.
template <class Body>
void for_each_rank(const Op& op, Warp& warp, uint32_t ranks, uint32_t offset, int lane, Body body) {
  for (; ranks != 0 && !warp.machine->has_ended(); ranks &= ranks - 1) {
    const auto rank = static_cast<uint32_t>(std::countr_zero(ranks));
    if (const ClusterObject object = object_of_rank(op, warp, rank, offset, lane)) body(object);
  }
}

}  // namespace lw::machine
