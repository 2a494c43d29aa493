// C = A B in fp32, n x n, n a multiple of 32: a CTA makes a 32 x 32 tile from tiles of A and B in
// shared memory, a thread four rows of one column. Its inner loop reads shared memory, by broadcast
// and in rows, five times for four multiplications.

#include "../ptx/barrier.cuh"
#include "../ptx/math.cuh"

constexpr int kTile = 32;
constexpr int kRowsPerThread = 4;
constexpr int kRowStep = kTile / kRowsPerThread;

__shared__ float tile_a[kTile][kTile];
__shared__ float tile_b[kTile][kTile];

extern "C" __global__ void __launch_bounds__(kTile* kRowStep)
    sgemm(const float* a, const float* b, float* c, int n) {
  const int column = threadIdx.x % kTile;
  const int first_row = threadIdx.x / kTile;
  const int row_base = blockIdx.y * kTile;
  const int column_base = blockIdx.x * kTile;
  float sum[kRowsPerThread] = {};
  for (int depth = 0; depth < n; depth += kTile) {
#pragma unroll
    for (int i = 0; i < kRowsPerThread; ++i) {
      const int row = first_row + i * kRowStep;
      tile_a[row][column] = a[(row_base + row) * n + depth + column];
      tile_b[row][column] = b[(depth + row) * n + column_base + column];
    }
    ptx::cta_sync();
#pragma unroll
    for (int k = 0; k < kTile; ++k) {
#pragma unroll
      for (int i = 0; i < kRowsPerThread; ++i) {
        sum[i] = ptx::fma(tile_a[first_row + i * kRowStep][k], tile_b[k][column], sum[i]);
      }
    }
    ptx::cta_sync();
  }
#pragma unroll
  for (int i = 0; i < kRowsPerThread; ++i) {
    c[(row_base + first_row + i * kRowStep) * n + column_base + column] = sum[i];
  }
}
