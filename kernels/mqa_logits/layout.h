#pragma once
// What the kernels, their launcher and the reference agree on.

#include <cstddef>
#include <cstdint>

namespace mqa_logits {

using Fp8 = uint8_t;  // the bits of an e4m3

constexpr int kHeadDim = 128;
constexpr int kPage = 64;         // keys
constexpr int kBlock = 128;       // keys of one matrix instruction: its M
constexpr int kUnit = 256;        // keys that a CTA takes at a time
constexpr int kHeadStep = 32;     // heads come in multiples of this
constexpr int kMaxColumns = 256;  // query rows x heads: the N of the matrix instruction

// A page holds its keys and then their scales.
constexpr int kPageKeyBytes = kPage * kHeadDim;
constexpr int kPageScaleBytes = kPage * int(sizeof(float));
constexpr int kPageBytes = kPageKeyBytes + kPageScaleBytes;  // a pool may have them farther apart

constexpr int kQueryStages = 3;
constexpr int kKeyTiles = 6;  // divided among the key streams
constexpr int kTensorColumns = 512;

constexpr int kGroupThreads = 128;
constexpr int kProducerWarps = 4;  // copies of stream 0 and 1, matrix instructions 0 and 1

// Dynamic shared memory. The rows of q and keys are swizzled by the copy engine, a whole row to a
// line of the pattern.
struct alignas(1024) Tiles {
  Fp8 q[kQueryStages][kMaxColumns][kHeadDim];
  Fp8 keys[kKeyTiles][kBlock][kHeadDim];
  float weights[kQueryStages][kMaxColumns];
  float scales[kKeyTiles][kBlock];
};
static_assert(sizeof(Tiles) == 202752);

}  // namespace mqa_logits
