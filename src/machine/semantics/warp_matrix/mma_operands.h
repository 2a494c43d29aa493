#pragma once
// What mma, mma.sp and wmma share: the words of an opcode as arith/mma.h has them, and the
// registers of a fragment.

#include <array>
#include <optional>
#include <vector>

#include "arith/mma.h"
#include "machine/warp.h"
#include "program/decoder.h"

namespace lw::machine {

std::optional<arith::MmaType> mma_type(ptx::Type type);
// m16n8k16 and the like among the modifiers.
std::optional<arith::MmaShape> mma_shape(const program::Decoder& decoder);
arith::MmaTarget mma_target(const ptx::Module& module);  // `sm_90a` -> 90
// .and.popc or .xor.popc of .b1.
arith::BitOperation bit_operation(const program::Decoder& decoder);

// Registers hold several narrow elements: only f64 needs wide ones.
ptx::Type fragment_register(ptx::Type element);

// The lanes of the registers of a fragment.
inline constexpr size_t kMaxFragment = 8;
using FragmentRegisters = std::array<void*, kMaxFragment>;

// Those of `count` slots; returns the slot behind them.
inline const Slot* gather(const Warp& warp, const Slot* slots, size_t count,
                          FragmentRegisters& fragment) {
  for (size_t index = 0; index < count; ++index)
    fragment[index] = warp.lanes<std::byte>(slots[index]);
  return slots + count;
}

inline void append(std::vector<Slot>& slots, const std::vector<Slot>& more) {
  slots.insert(slots.end(), more.begin(), more.end());
}

}  // namespace lw::machine
