#pragma once
// Which chunk a role works on next, and which rows of the tensors it has. Every role walks the same
// sequence.

#include "layout.h"

namespace kda_prefill {

// Work units of four chunks of one head, dealt round-robin over the CTAs.
class Schedule {
 public:
  int head;
  int chunk;
  uint32_t stage = 0;
  uint32_t parity = 0;  // of the n-th use of the stage

  __device__ __forceinline__ Schedule(int heads, int chunks)
      : heads_(heads), chunks_(chunks), units_((chunks + kUnitChunks - 1) / kUnitChunks * heads) {
    open_unit(blockIdx.x);
  }

  __device__ __forceinline__ bool valid() const { return unit_ < units_; }

  __device__ __forceinline__ void advance() {
    parity ^= stage;
    stage ^= 1;
    if (++chunk == chunks_ || chunk % kUnitChunks == 0) open_unit(unit_ + gridDim.x);
  }

 private:
  __device__ __forceinline__ void open_unit(int unit) {
    unit_ = unit;
    head = unit % heads_;
    chunk = unit / heads_ * kUnitChunks;
  }

  int heads_, chunks_, units_, unit_;
};
static_assert(kStages == 2, "stage and parity are one bit each");

struct ChunkRows {
  int first;   // row of the [B * T, H, 128] tensors
  int real;    // rows that belong to the sequence, 0 to 64
  int stored;  // rows of the outputs that are this chunk's to write
};

// Sequences of one padded length in a batch, or sequences of any length behind one another.
struct ChunkTable {
  const int* cu_seqlens;     // [sequences + 1] first rows, or null: all have one length
  const int* chunk_indices;  // [chunks, 2]: sequence, chunk within it
  int tokens_per_sequence;   // one length: a multiple of 64 ...
  int real_tokens;           // ... of which the first ones are real

  __device__ __forceinline__ ChunkRows locate(int chunk) const {
    if (cu_seqlens == nullptr) {
      const int first = chunk * kChunk;
      return {first, clamp(real_tokens - first % tokens_per_sequence), kChunk};
    }
    const int sequence = chunk_indices[2 * chunk];
    const int first = cu_seqlens[sequence] + chunk_indices[2 * chunk + 1] * kChunk;
    const int real = clamp(cu_seqlens[sequence + 1] - first);
    return {first, real, real};
  }

 private:
  static __device__ __forceinline__ int clamp(int rows) { return min(max(rows, 0), kChunk); }
};

}  // namespace kda_prefill
