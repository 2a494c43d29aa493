#include "machine/semantics/shared_place.h"

#include <fmt/format.h>

#include "machine/cta.h"
#include "machine/memory.h"

namespace lw::machine {

AddressOperand address_operand(program::Decoder& decoder, const ptx::Operand& operand) {
  const program::Address address = decoder.address(operand);
  // The slot of a constant address holds all of it.
  const auto displacement = address.constant ? 0 : static_cast<uint64_t>(address.offset);
  const bool space_named = decoder.has(ptx::Mod::shared) || decoder.has(ptx::Mod::shared_cta) ||
                           decoder.has(ptx::Mod::shared_cluster);
  const bool named_variable = address.window == ptx::Space::shared;
  return {address.base, decoder.constant(displacement, ptx::Type::u64), address.wide,
          !space_named && !named_variable};
}

uint64_t address_of_lane(const Warp& warp, const AddressOperand& operand, int lane) {
  const uint64_t displacement = warp.lanes<uint64_t>(operand.displacement)[lane];
  if (operand.wide) return warp.lanes<uint64_t>(operand.base)[lane] + displacement;
  return static_cast<uint32_t>(warp.lanes<uint32_t>(operand.base)[lane] + displacement);
}

std::string outside_shared(const Cta& owner, uint64_t in_window) {
  const uint64_t rank = in_window >> program::kRankShift;
  if (rank != owner.cluster_rank && rank < owner.cluster.size())
    return fmt::format("in the CTA of rank {}, which this does not reach", rank);
  return fmt::format("outside the {} bytes of shared memory of the CTA", owner.shared.size());
}

uint64_t AddressOperand::in_window(uint64_t address) const {
  return generic ? address - Memory::kSharedWindow : address;
}

std::optional<uint32_t> shared_offset(const Op& op, Warp& warp, const AddressOperand& operand,
                                      int lane, uint32_t size, uint32_t alignment) {
  return shared_offset_in(op, warp, *warp.cta, operand, lane, size, alignment);
}

std::optional<uint32_t> shared_offset_in(const Op& op, Warp& warp, const Cta& owner,
                                         const AddressOperand& operand, int lane, uint32_t size,
                                         uint32_t alignment) {
  const uint64_t address = address_of_lane(warp, operand, lane);
  const uint64_t in_window = operand.in_window(address);
  const uint64_t offset = in_window - owner.shared_base();
  if (in_window % alignment != 0) {
    warp.fail_at(op, FaultKind::misaligned, fmt::format("not a multiple of {}", alignment),
                 1u << lane, address, size);
    return std::nullopt;
  }
  if (offset >= owner.shared.size() || size > owner.shared.size() - offset) {
    warp.fail_at(op, FaultKind::out_of_bounds,
                 operand.generic && Memory::kind(address) != RegionKind::shared
                     ? "the generic address is not in shared memory"
                     : outside_shared(owner, in_window),
                 1u << lane, address, size);
    return std::nullopt;
  }
  return static_cast<uint32_t>(offset);
}

}  // namespace lw::machine
