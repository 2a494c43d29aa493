#include "machine/semantics/cluster_site.h"

#include <fmt/format.h>

#include "machine/machine.h"

namespace lw::machine {

bool may_cross(const Op& op, Warp& warp) {
  if (warp.order == nullptr) return true;
  warp.not_analysed(op, "the order between the CTAs of a cluster");
  return false;
}

Cta* cta_of_rank(const Op& op, Warp& warp, uint32_t rank, base::LaneMask lanes) {
  const size_t size = warp.cta->cluster.size();
  Cta* const cta = rank < size ? warp.cta->cluster[rank] : nullptr;
  if (cta == nullptr)
    warp.fail(op, FaultKind::peer_misuse,
              rank < size ? fmt::format("the CTA of rank {} has ended", rank)
                          : fmt::format("rank {} in a cluster of {} CTAs", rank, size),
              lanes);
  return cta;
}

Cta* peer_of(const Op& op, Warp& warp, base::LaneMask lanes) {
  return cta_of_rank(op, warp, warp.cta->cluster_rank ^ 1, lanes);
}

ClusterObject object_in_cluster(const Op& op, Warp& warp, const AddressOperand& operand, int lane) {
  const uint64_t address = address_of_lane(warp, operand, lane);
  const uint64_t rank = operand.generic ? 0 : rank_bits(address);
  if (rank == 0) return {warp.cta, object_at(op, warp, operand, lane)};
  if (!may_cross(op, warp)) return {};
  const auto offset = static_cast<uint32_t>(address & ((1u << kRankShift) - 1));
  return object_of_rank(op, warp, static_cast<uint32_t>(rank - 1), offset - program::kSharedBase,
                        lane);
}

ClusterObject object_of_rank(const Op& op, Warp& warp, uint32_t rank, uint32_t offset, int lane) {
  Cta* const cta = cta_of_rank(op, warp, rank, 1u << lane);
  if (cta == nullptr) return {};
  MbarrierEntry* const entry = cta->sync.mbarriers.find(offset);
  if (entry == nullptr)
    warp.fail_at(op, FaultKind::mbarrier_misuse,
                 fmt::format("no valid mbarrier object is there in the CTA of rank {}", rank),
                 1u << lane, offset + program::kSharedBase, MbarrierTable::kObjectBytes);
  return {cta, entry};
}

}  // namespace lw::machine
