#pragma once
// What the kernels share: whose turn a slot of a ring has, and a part of D on its way to the copy
// engine.

#include <cstdint>

#include "layout.h"

namespace tcgen05_gemm {

// The parity of the phase that the `use`-th use of one of `kSlots` slots fills.
template <int kSlots>
__device__ __forceinline__ uint32_t parity(uint32_t use) {
  return use / kSlots & 1;
}

// A row of 32 columns into a line of the swizzle pattern.
__device__ __forceinline__ void store_part(float (&line)[kPart], const float (&values)[kPart],
                                           int row) {
#pragma unroll
  for (int unit = 0; unit < kPart / 4; ++unit) {
    const float* from = &values[4 * unit];
    *reinterpret_cast<float4*>(&line[4 * (unit ^ row % 8)]) =
        make_float4(from[0], from[1], from[2], from[3]);
  }
}

}  // namespace tcgen05_gemm
