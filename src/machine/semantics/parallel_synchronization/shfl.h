#pragma once
// The source lane of shfl (PTX: Data Movement and Conversion Instructions: shfl.sync).

#include "machine/semantics/levels.h"
#include "machine/semantics/parallel_synchronization/warp_meeting.h"

namespace lw::machine {

enum class Shuffle : uint8_t { up, down, butterfly, index };

struct ShuffleSource {
  uint32_t lane;
  bool in_range;
};

// b: distance, mask or index; c: the clamp in bits 4-0, the segment mask in bits 12-8.
LW_ALWAYS_INLINE ShuffleSource shuffle_source(Shuffle kind, uint32_t lane, uint32_t b, uint32_t c) {
  const uint32_t distance = b & 31;
  const uint32_t segment = (c >> 8) & 31;
  const uint32_t first = lane & segment;
  const uint32_t last = first | (c & 31 & ~segment);
  // Differences may be negative: compared as signed numbers.
  int32_t from = 0;
  if (kind == Shuffle::up) from = static_cast<int32_t>(lane - distance);
  if (kind == Shuffle::down) from = static_cast<int32_t>(lane + distance);
  if (kind == Shuffle::butterfly) from = static_cast<int32_t>(lane ^ distance);
  if (kind == Shuffle::index) from = static_cast<int32_t>(first | (distance & ~segment));
  const bool in_range = kind == Shuffle::up ? from >= static_cast<int32_t>(last)
                                            : from <= static_cast<int32_t>(last);
  return {in_range ? static_cast<uint32_t>(from) : lane, in_range};
}

// An Op of shfl: d, a, b as in PTX, c the member mask, more[0] clamp and segments, more[1] the
// predicate if there is one; `detail` the kind.
LW_LEVELS(hot_shfl, (Shuffle kind), (kind))

// Any mask, any lanes; hot_shfl does the whole warp under a constant mask itself.
const Op* general_shfl(const Op& op, Warp& warp);

}  // namespace lw::machine
