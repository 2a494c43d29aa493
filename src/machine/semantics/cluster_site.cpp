#include "machine/semantics/cluster_site.h"

#include <fmt/format.h>

#include "machine/machine.h"

namespace lw::machine {

bool may_go_unchecked(const Op& op, Warp& warp, std::string what) {
  if (warp.order == nullptr) return true;
  warp.not_analysed(op, std::move(what));
  return false;
}

Cta* cta_of_rank(const Op& op, Warp& warp, uint64_t rank, base::LaneMask lanes) {
  const size_t size = warp.cta->cluster.size();
  Cta* const cta = rank < size ? warp.cta->cluster[rank] : nullptr;
  if (cta == nullptr)
    warp.fail(op, rank < size ? FaultKind::peer_ended : FaultKind::peer_misuse,
              rank < size ? fmt::format("the CTA of rank {} has ended", rank)
                          : fmt::format("rank {} in a cluster of {} CTAs", rank, size),
              lanes);
  return cta;
}

Cta* peer_of(const Op& op, Warp& warp, base::LaneMask lanes) {
  return cta_of_rank(op, warp, warp.cta->cluster_rank ^ 1, lanes);
}

std::optional<ClusterPlace> place_in_cluster(const Op& op, Warp& warp,
                                             const AddressOperand& operand, int lane, uint32_t size,
                                             uint32_t alignment) {
  const uint64_t address = address_of_lane(warp, operand, lane);
  const uint64_t rank = rank_of(operand.in_window(address));
  Cta* owner = warp.cta;
  const bool elsewhere = !operand.generic || Memory::kind(address) == RegionKind::shared;
  if (rank != owner->cluster_rank && owner->cluster.size() > 1 && elsewhere) {
    owner = cta_of_rank(op, warp, rank, 1u << lane);
    if (owner == nullptr) return std::nullopt;
  }
  const auto offset = shared_offset_in(op, warp, *owner, operand, lane, size, alignment);
  return offset ? std::optional(ClusterPlace{owner, *offset}) : std::nullopt;
}

ClusterObject object_in_cluster(const Op& op, Warp& warp, const AddressOperand& operand, int lane) {
  constexpr uint32_t kBytes = MbarrierTable::kObjectBytes;
  const auto place = place_in_cluster(op, warp, operand, lane, kBytes, kBytes);
  if (!place) return {};
  if (place->cta == warp.cta) return {warp.cta, object_at(op, warp, operand, lane)};
  return object_of_rank(op, warp, place->cta->cluster_rank, place->offset, lane);
}

ClusterObject object_of_rank(const Op& op, Warp& warp, uint32_t rank, uint32_t offset, int lane) {
  Cta* const cta = cta_of_rank(op, warp, rank, 1u << lane);
  if (cta == nullptr) return {};
  MbarrierEntry* const entry = cta->sync.mbarriers.find(offset);
  if (entry == nullptr)
    warp.fail_at(op, FaultKind::mbarrier_misuse,
                 fmt::format("no valid mbarrier object is there in the CTA of rank {}", rank),
                 1u << lane, offset + cta->shared_base(), MbarrierTable::kObjectBytes);
  return {cta, entry};
}

}  // namespace lw::machine
