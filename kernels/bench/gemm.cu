// C = A B with f16 inputs and fp32 sums on the tensor cores: A [m, k], B [k, n] and C [m, n]
// row-major, m and n multiples of 64, k of 32.
//
// A CTA of four warps makes a 64 x 64 tile, a warp 32 x 32 of it. Tiles of A and B come through a
// ring of four stages, filled by cp.async three turns ahead. One barrier a turn does two things:
// after each thread's own wait it makes the stage's copies known to all, and as every warp has then
// left the stage read in the turn before, that one may be filled again.

#include <cstdint>

#include "../ptx/barrier.cuh"
#include "../ptx/cp_async.cuh"
#include "../ptx/mma.cuh"

using F16 = uint16_t;  // the bits

constexpr int kThreads = 128;
constexpr int kTile = 64;
constexpr int kDepth = 32;
constexpr int kStages = 4;
constexpr int kVector = 8;  // elements of a 16-byte copy
constexpr int kPad = 8;     // so that the eight rows of a matrix lie in different banks

__shared__ __align__(16) F16 tile_a[kStages][kTile][kDepth + kPad];
__shared__ __align__(16) F16 tile_b[kStages][kDepth][kTile + kPad];

extern "C" __global__ void __launch_bounds__(kThreads)
    gemm(const F16* a, const F16* b, float* c, int n, int k) {
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  const int row_base = blockIdx.y * kTile;
  const int column_base = blockIdx.x * kTile;
  const int warp_row = warp / 2 * 32;
  const int warp_column = warp % 2 * 32;
  const int turns = k / kDepth;

  auto fill = [&](int turn) {
    if (turn < turns) {
      const int stage = turn % kStages;
#pragma unroll
      for (int part = 0; part < kTile * kDepth / kVector / kThreads; ++part) {
        const uint32_t i = part * kThreads + threadIdx.x;
        const uint32_t row_a = i / (kDepth / kVector), at_a = i % (kDepth / kVector) * kVector;
        const uint32_t row_b = i / (kTile / kVector), at_b = i % (kTile / kVector) * kVector;
        ptx::cp_async_16(&tile_a[stage][row_a][at_a],
                         &a[(row_base + row_a) * k + turn * kDepth + at_a]);
        ptx::cp_async_16(&tile_b[stage][row_b][at_b],
                         &b[(turn * kDepth + row_b) * n + column_base + at_b]);
      }
    }
    ptx::cp_async_commit();  // an empty group at the end, so that the count below holds
  };

  for (int turn = 0; turn < kStages - 1; ++turn) fill(turn);
  float sum[2][4][4] = {};  // [16 rows][8 columns][fragment]
#pragma unroll 1
  for (int turn = 0; turn < turns; ++turn) {
    const int stage = turn % kStages;
    ptx::cp_async_wait<kStages - 2>();
    ptx::cta_sync();
    fill(turn + kStages - 1);
#pragma unroll
    for (int depth = 0; depth < kDepth; depth += 16) {
      uint32_t rows[2][4], columns[2][4];
#pragma unroll
      for (int i = 0; i < 2; ++i) {
        ptx::load_matrices(rows[i],
                           &tile_a[stage][warp_row + i * 16 + lane % 16][depth + lane / 16 * 8]);
        ptx::load_matrices_transposed(
            columns[i], &tile_b[stage][depth + lane % 16][warp_column + i * 16 + lane / 16 * 8]);
      }
#pragma unroll
      for (int i = 0; i < 2; ++i) {
#pragma unroll
        for (int j = 0; j < 4; ++j) {
          ptx::mma_f16(sum[i][j], rows[i], columns[j / 2][j % 2 * 2],
                       columns[j / 2][j % 2 * 2 + 1]);
        }
      }
    }
  }
#pragma unroll
  for (int i = 0; i < 2; ++i) {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int lower = 0; lower < 2; ++lower) {
        const int row = row_base + warp_row + i * 16 + lower * 8 + lane / 4;
        const int column = column_base + warp_column + j * 8 + lane % 4 * 2;
        *reinterpret_cast<float2*>(&c[row * n + column]) =
            float2{sum[i][j][lower * 2], sum[i][j][lower * 2 + 1]};
      }
    }
  }
}
