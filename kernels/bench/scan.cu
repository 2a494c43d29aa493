// Inclusive sums of rows of 1,024 integers, one row a CTA: two barriers at each of ten steps, and
// little between them.

#include "../ptx/barrier.cuh"

constexpr int kThreads = 1024;

__shared__ int sums[kThreads];

extern "C" __global__ void __launch_bounds__(kThreads) scan(const int* in, int* out, int repeats) {
  const int at = blockIdx.x * kThreads + threadIdx.x;
  int sum = in[at];
#pragma unroll 1
  for (int repeat = 0; repeat < repeats; ++repeat) {
    sums[threadIdx.x] = sum;
    ptx::cta_sync();
#pragma unroll 1
    for (unsigned distance = 1; distance < kThreads; distance *= 2) {
      if (threadIdx.x >= distance) sum += sums[threadIdx.x - distance];
      ptx::cta_sync();
      sums[threadIdx.x] = sum;
      ptx::cta_sync();
    }
  }
  out[at] = sum;
}
