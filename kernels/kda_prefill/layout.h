#pragma once
// What the kernel, its launcher and the reference agree on.

#include <cstdint>

namespace kda_prefill {

using Bf16 = uint16_t;  // the bits

constexpr int kHeadDim = 128;
constexpr int kChunk = 64;      // tokens whose decays are summed up together
constexpr int kUnitChunks = 4;  // chunks of one head that a CTA takes at a time

constexpr int kScanWarps = 16;  // K1
constexpr int kMmaWarps = 10;   // K2
constexpr int kTmaWarps = 1;
constexpr int kStoreWarps = 4;
constexpr int kScanThreads = 32 * kScanWarps;
constexpr int kMmaThreads = 32 * kMmaWarps;
constexpr int kStoreThreads = 32 * kStoreWarps;
constexpr int kThreads = kScanThreads + kMmaThreads + 32 * kTmaWarps + kStoreThreads;

constexpr int kStages = 2;

// Dynamic shared memory. q and k are two boxes of 64 channels each, swizzled by the copy engine in
// rows of 128 bytes; the rows of the others are padded against bank conflicts.
struct alignas(1024) StageTiles {
  Bf16 q[kStages][2][kChunk][kHeadDim / 2];
  Bf16 k[kStages][2][kChunk][kHeadDim / 2];
  Bf16 gate[kStages][kChunk][kHeadDim];
  float cumsum[kStages][kChunk][kHeadDim + 8];
  Bf16 aqk[kStages][kChunk][kChunk + 8];
  Bf16 akk[kStages][kChunk][kChunk + 8];
};
static_assert(sizeof(StageTiles) == 204800);

}  // namespace kda_prefill
