#pragma once
// Instructions of a whole warp that move registers, not memory.

#include <cstdint>

namespace ptx {

// True in one lane of the converged warp. It orders no memory.
__device__ __forceinline__ bool elect_one() {
  uint32_t elected;
  asm volatile(
      "{\n"
      ".reg .pred elected;\n"
      "elect.sync _|elected, 0xffffffff;\n"
      "selp.u32 %0, 1, 0, elected;\n"
      "}"
      : "=r"(elected));
  return elected != 0;
}

// The value `distance` lanes below in this lane's group of `kWidth` lanes; lanes that have no such
// neighbour get `otherwise`.
template <int kWidth>
__device__ __forceinline__ float shuffle_up(float value, int distance, float otherwise) {
  constexpr int kSegment = (32 - kWidth) << 8;  // PTX shfl: lane mask of the group, clamp 0 for .up
  float result;
  asm volatile(
      "{\n"
      ".reg .pred inside;\n"
      ".reg .f32 neighbour;\n"
      "shfl.sync.up.b32 neighbour|inside, %1, %2, %3, 0xffffffff;\n"
      "selp.f32 %0, neighbour, %4, inside;\n"
      "}"
      : "=f"(result)
      : "f"(value), "r"(distance), "n"(kSegment), "f"(otherwise));
  return result;
}

}  // namespace ptx
