#pragma once
// From one CTA of a cluster to another.
//
// A `.shared::cluster` address of 32 bits has the rank of its CTA in bits 24 and up, and below them
// what the CTA itself calls `.shared::cta`: an H200 answers so to mov of a variable, cvta, mapa and
// getctarank, and takes addresses made by arithmetic alike (tests/agree/clusters.ptx). CUTLASS
// clears bit 24 to reach the leader of a pair on Blackwell, where it was not measured. So the
// address of a variable is its owner's wherever it is used, in `.shared::cta` an address of another
// rank is a fault, and in a launch without clusters the rank is 0 and nothing changes.
//
// Limits: the order engine does not know st.async and red.async, nor the tensor memory
// of a pair of CTAs; with one listening these are `not analysed`.

#include <bit>

#include "machine/machine.h"
#include "machine/semantics/parallel_synchronization/mbarrier_site.h"
#include "machine/semantics/shared_place.h"

namespace lw::machine {

// Of an address in the shared window.
constexpr uint64_t rank_of(uint64_t in_window) { return in_window >> program::kRankShift; }
constexpr uint64_t address_of_rank(uint64_t in_window, uint32_t rank) {
  return (in_window & ((1u << program::kRankShift) - 1)) | uint64_t{rank} << program::kRankShift;
}

// Whether an instruction of which the order engine knows nothing may go on; if not, that has been
// said.
bool may_go_unchecked(const Op& op, Warp& warp, std::string what);

// The CTA of this rank; null, and the fault has been reported, if there is none or it has ended.
Cta* cta_of_rank(const Op& op, Warp& warp, uint64_t rank, base::LaneMask lanes);
// The other one of the pair (cta_group::2).
Cta* peer_of(const Op& op, Warp& warp, base::LaneMask lanes);

struct ClusterPlace {
  Cta* cta = nullptr;
  uint32_t offset = 0;  // in its shared memory
};
// The place of `size` bytes at a lane's address, in whichever CTA of the cluster; without one the
// fault has been reported.
std::optional<ClusterPlace> place_in_cluster(const Op& op, Warp& warp,
                                             const AddressOperand& operand, int lane, uint32_t size,
                                             uint32_t alignment);

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
