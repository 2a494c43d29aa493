// Softmax over rows of 2,048 columns, one row a CTA: strided reads, two tree reductions in shared
// memory, ex2.

#include "../ptx/barrier.cuh"
#include "../ptx/math.cuh"

constexpr int kThreads = 256;
constexpr int kColumns = 2048;
constexpr int kColumnsPerThread = kColumns / kThreads;
constexpr float kLog2E = 1.4426950408889634f;

__shared__ float partial[kThreads];

// `combine` over the values of all threads, given to all of them.
template <class Combine>
__device__ __forceinline__ float reduce(float value, Combine combine) {
  partial[threadIdx.x] = value;
  ptx::cta_sync();
#pragma unroll 1
  for (unsigned distance = kThreads / 2; distance > 0; distance /= 2) {
    if (threadIdx.x < distance) {
      partial[threadIdx.x] = combine(partial[threadIdx.x], partial[threadIdx.x + distance]);
    }
    ptx::cta_sync();
  }
  const float result = partial[0];
  ptx::cta_sync();  // before the next reduction overwrites it
  return result;
}

extern "C" __global__ void __launch_bounds__(kThreads) softmax(const float* in, float* out) {
  const float* const row_in = in + blockIdx.x * kColumns;
  float* const row_out = out + blockIdx.x * kColumns;
  float values[kColumnsPerThread];
  float largest = row_in[threadIdx.x];
#pragma unroll
  for (int i = 0; i < kColumnsPerThread; ++i) {
    values[i] = row_in[i * kThreads + threadIdx.x];
    largest = fmaxf(largest, values[i]);
  }
  largest = reduce(largest, [](float a, float b) { return fmaxf(a, b); });
  float sum = 0.0f;
#pragma unroll
  for (int i = 0; i < kColumnsPerThread; ++i) {
    values[i] = ptx::exp2((values[i] - largest) * kLog2E);
    sum += values[i];
  }
  const float scale = ptx::reciprocal(reduce(sum, [](float a, float b) { return a + b; }));
#pragma unroll
  for (int i = 0; i < kColumnsPerThread; ++i) {
    row_out[i * kThreads + threadIdx.x] = values[i] * scale;
  }
}
