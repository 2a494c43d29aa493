#pragma once
// Where an instruction of the synchronisation and copy families points in shared memory.
//
// Such operands are `.shared::cta` or `.shared::cluster` addresses (32 bits, in a register of 32 or
// 64), or generic ones if the instruction names no space. A place is an offset in the bytes of its
// CTA: its `shared_base()` has offset 0. Here an address outside the CTA's own is a fault; where
// those of other CTAs of the cluster are good too, cluster_site.h finds them.

#include <cstdint>
#include <optional>
#include <string>

#include "machine/warp.h"
#include "program/decoder.h"

namespace lw::machine {

// An address operand as an Op keeps it.
struct AddressOperand {
  Slot base;
  Slot displacement;     // 64-bit slot, the same in all lanes
  bool wide = false;     // `base` is a 64-bit slot
  bool generic = false;  // the instruction names no state space

  // A lane's address as one in the shared window.
  uint64_t in_window(uint64_t address) const;
};

// `detail` bits of one AddressOperand.
inline constexpr uint16_t kWide = 1;
inline constexpr uint16_t kGeneric = 2;

AddressOperand address_operand(program::Decoder& decoder, const ptx::Operand& operand);
inline uint16_t address_bits(const AddressOperand& operand) {
  return static_cast<uint16_t>((operand.wide ? kWide : 0) | (operand.generic ? kGeneric : 0));
}

uint64_t address_of_lane(const Warp& warp, const AddressOperand& operand, int lane);

// The offset of `size` bytes at a lane's address; without one the fault has been reported.
std::optional<uint32_t> shared_offset(const Op& op, Warp& warp, const AddressOperand& operand,
                                      int lane, uint32_t size, uint32_t alignment);
// What is wrong with such an address that is not inside the memory of `owner`.
std::string outside_shared(const Cta& owner, uint64_t in_window);
// The offset in the shared memory of a CTA of the cluster.
std::optional<uint32_t> shared_offset_in(const Op& op, Warp& warp, const Cta& owner,
                                         const AddressOperand& operand, int lane, uint32_t size,
                                         uint32_t alignment);

}  // namespace lw::machine
