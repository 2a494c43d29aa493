#pragma once
// A place in a ring of stages: the stage, and the parity of the phase in which its mbarriers fill
// it. Who waits for a stage to be empty waits for the other parity, which a fresh mbarrier counts
// as complete.

#include <cstdint>

namespace mqa_logits {

template <int kStages>
struct Ring {
  int stage = 0;
  uint32_t parity = 0;

  __device__ __forceinline__ void advance() {
    if (++stage == kStages) {
      stage = 0;
      parity ^= 1;
    }
  }
};

}  // namespace mqa_logits
