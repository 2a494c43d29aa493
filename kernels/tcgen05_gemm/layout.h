#pragma once
// What the kernel, its cases and its reference agree on.

#include <cstdint>

namespace tcgen05_gemm {

using Bf16 = uint16_t;

// D [M, N] = A [M, K] B [N, K]^T in tiles of D. M is that of one CTA.
constexpr int kTileM = 128;
constexpr int kTileN = 128;
constexpr int kBlockK = 64;  // of a stage: a row is 128 bytes, a line of the swizzle pattern

constexpr int kStages = 4;        // of operands; a power of two
constexpr int kAccumulators = 2;  // in tensor memory; a power of two
constexpr int kTensorColumns = kAccumulators * kTileN;

constexpr int kPart = 32;  // columns of D that leave at a time: rows of 128 bytes
constexpr int kPartBuffers = 2;

constexpr int kEpilogueWarps = 4;
constexpr int kCopyWarp = 4;
constexpr int kMmaWarp = 5;
constexpr int kThreads = 192;

// Dynamic shared memory. All rows are swizzled as the copy engine's 128B mode does it.
// `kCtas`: that make a tile of D together, each with its rows of A and its share of B.
template <int kCtas>
struct alignas(1024) Tiles {
  Bf16 a[kStages][kTileM][kBlockK];
  Bf16 b[kStages][kTileN / kCtas][kBlockK];
  float d[kPartBuffers][kTileM][kPart];
};
template <int kCtas>
constexpr int kStageBytes = (kTileM + kTileN / kCtas) * kBlockK* int(sizeof(Bf16));

}  // namespace tcgen05_gemm
