#pragma once
// A copy through shared memory, 16 bytes a lane. What a thread stored is read by others: as one
// 16-byte load, or as four loads that each take consecutive words over the lanes.

#include "../ptx/barrier.cuh"

constexpr int kThreads = 256;
constexpr int kParts = 4;  // of a block of the copy; one part is 16 bytes of each thread

__shared__ uint4 staged[kParts][kThreads];

template <bool kWide>
__device__ __forceinline__ void vcopy_body(const uint4* in, uint4* out, int blocks) {
#pragma unroll 1
  for (int block = blockIdx.x; block < blocks; block += gridDim.x) {
    const int first = block * kParts * kThreads + threadIdx.x;
#pragma unroll
    for (int i = 0; i < kParts; ++i) staged[i][threadIdx.x] = in[first + i * kThreads];
    ptx::cta_sync();
#pragma unroll
    for (int i = 0; i < kParts; ++i) {
      if constexpr (kWide) {
        out[first + i * kThreads] = staged[i][threadIdx.x ^ 1];
      } else {
        const unsigned* const words = reinterpret_cast<const unsigned*>(staged[i]) + threadIdx.x;
        out[first + i * kThreads] =
            uint4{words[0], words[kThreads], words[2 * kThreads], words[3 * kThreads]};
      }
    }
    ptx::cta_sync();  // before the next block overwrites it
  }
}
