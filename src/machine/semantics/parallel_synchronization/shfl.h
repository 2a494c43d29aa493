#pragma once
// Which lane shfl reads (PTX: Data Movement and Conversion Instructions: shfl.sync).

#include "machine/semantics/levels.h"
#include "machine/semantics/parallel_synchronization/warp_meeting.h"

namespace lw::machine {

enum class Shuffle : uint8_t { up, down, butterfly, index };

// The lane asked for, which may be none: a number below 0 or above 31. b: distance, mask or index;
// c: the clamp in bits 4-0, the segment mask in bits 12-8.
LW_ALWAYS_INLINE int32_t shuffle_target(Shuffle kind, int32_t lane, uint32_t b, uint32_t c) {
  const auto distance = static_cast<int32_t>(b & 31);
  const auto segment = static_cast<int32_t>((c >> 8) & 31);
  if (kind == Shuffle::up) return lane - distance;
  if (kind == Shuffle::down) return lane + distance;
  if (kind == Shuffle::butterfly) return lane ^ distance;
  return (lane & segment) | (distance & ~segment);
}

// The predicate result: the target is in the lane's segment. If not, the lane gets its own value.
LW_ALWAYS_INLINE bool shuffle_in_range(Shuffle kind, int32_t lane, int32_t target, uint32_t c) {
  const auto segment = static_cast<int32_t>((c >> 8) & 31);
  const auto limit = (lane & segment) | (static_cast<int32_t>(c & 31) & ~segment);
  return kind == Shuffle::up ? target >= limit : target <= limit;
}

// An Op of shfl: d, a, b as in PTX, c the member mask, more[0] clamp and segments, more[1] the
// predicate if there is one; `detail` the kind.
LW_LEVELS(hot_shfl, (Shuffle kind), (kind))

// Any mask, any lanes; hot_shfl does the whole warp under a constant mask itself.
void general_shfl(const Op* op, std::byte* registers, Warp& warp);

}  // namespace lw::machine
