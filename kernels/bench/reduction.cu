// Sum of 1,024 integers by a tree in shared memory, one sum a CTA: a barrier at every step, and
// ever fewer threads with work between two of them.

#include "../ptx/barrier.cuh"

constexpr int kThreads = 1024;

__shared__ int partial[kThreads];

extern "C" __global__ void __launch_bounds__(kThreads)
    reduction(const int* in, int* out, int repeats) {
  const int value = in[blockIdx.x * kThreads + threadIdx.x];
  int total = 0;
#pragma unroll 1
  for (int repeat = 0; repeat < repeats; ++repeat) {
    partial[threadIdx.x] = value + total;
    ptx::cta_sync();
#pragma unroll 1
    for (unsigned distance = kThreads / 2; distance > 0; distance /= 2) {
      if (threadIdx.x < distance) partial[threadIdx.x] += partial[threadIdx.x + distance];
      ptx::cta_sync();
    }
    total = partial[0];
    ptx::cta_sync();  // before the next turn overwrites it
  }
  if (threadIdx.x == 0) out[blockIdx.x] = total;
}
