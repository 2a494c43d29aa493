#pragma once
// Vectors of four 32-bit elements between slots and lanes that lie anywhere.

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "machine/semantics/lanes.h"

namespace lw::machine::LW_SIMD_NAMESPACE {

// Four lanes at a time: a vector of four 32-bit elements from (or to) each, turned so that each
// slot gets (or gives) its element of the four lanes.
using Quad = uint32_t __attribute__((vector_size(16)));
struct Quads {
  Quad row[4];
};
LW_ALWAYS_INLINE Quads transposed(const Quads& q) {
  const Quad a = __builtin_shuffle(q.row[0], q.row[1], Quad{0, 4, 1, 5});
  const Quad b = __builtin_shuffle(q.row[2], q.row[3], Quad{0, 4, 1, 5});
  const Quad c = __builtin_shuffle(q.row[0], q.row[1], Quad{2, 6, 3, 7});
  const Quad d = __builtin_shuffle(q.row[2], q.row[3], Quad{2, 6, 3, 7});
  return {{__builtin_shuffle(a, b, Quad{0, 1, 4, 5}), __builtin_shuffle(a, b, Quad{2, 3, 6, 7}),
           __builtin_shuffle(c, d, Quad{0, 1, 4, 5}), __builtin_shuffle(c, d, Quad{2, 3, 6, 7})}};
}

// All lanes, anywhere in [bytes, ...): lane i at bytes + at[i] - low.
template <bool is_load, class Address>
LW_ALWAYS_INLINE void move_quads(std::byte* bytes, const Address* at, Address low,
                                 const Slot* slots, std::byte* registers) {
  for (int lane = 0; lane < kLanes; lane += 4) {
    Quads quads;
    for (int i = 0; i < 4; ++i) {
      const std::byte* from =
          is_load ? bytes + (at[lane + i] - low)
                  : reinterpret_cast<std::byte*>(lanes_at<uint32_t>(registers, slots[i]) + lane);
      std::memcpy(&quads.row[i], from, sizeof(Quad));
    }
    quads = transposed(quads);
    for (int i = 0; i < 4; ++i) {
      std::byte* to =
          is_load ? reinterpret_cast<std::byte*>(lanes_at<uint32_t>(registers, slots[i]) + lane)
                  : bytes + (at[lane + i] - low);
      std::memcpy(to, &quads.row[i], sizeof(Quad));
    }
  }
}

}  // namespace lw::machine::LW_SIMD_NAMESPACE
