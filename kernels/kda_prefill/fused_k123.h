#pragma once
// fused_k123: the gate, scaled operands and intra-chunk matrices of Kimi delta attention (bounded
// gate, 128 channels a head, chunks of 64 tokens) on Hopper and on data-centre Blackwell. What the
// outputs mean is in reference.h; they are inputs of the chunk inverse and of the recurrence.

#include <cuda_runtime.h>

#include "layout.h"

namespace kda_prefill {

// Pointers to device memory, arrays row-major. T counts the rows of one sequence in a batch of B
// with one length, padded by the caller to a multiple of 64; or the rows of all sequences together
// (B is then 1), in which case `cu_seqlens` and `chunk_indices` are given.
struct FusedK123 {
  // Inputs. q and k are normalised by the caller; rows of padding may hold anything finite.
  const Bf16* q;  // [B, T, H, 128]
  const Bf16* k;  // [B, T, H, 128]
  const Bf16*
      gate;  // [B, T, H, 128], raw: decay is exp(lower_bound sigmoid(exp(a_log) (gate + dt_bias)))
  const float* beta;                   // [B, T, H], logits
  const float* a_log;                  // [H]
  const float* dt_bias;                // [H, 128]
  const int* cu_seqlens = nullptr;     // [sequences + 1], first rows; the last is T
  const int* chunk_indices = nullptr;  // [chunks, 2]: sequence, chunk within it

  // Outputs. Rows of padding become zero; in aqk and akk their columns too.
  Bf16* k_scaled;     // [B, T, H, 128]
  Bf16* q_scaled;     // [B, T, H, 128]
  Bf16* kg;           // [B, T, H, 128]
  float* decay_last;  // [H, chunks, 128]
  Bf16* aqk;          // [H, chunks, 64, 64]
  Bf16* akk;          // [H, chunks, 64, 64]

  int batch;        // B
  int tokens;       // T
  int real_tokens;  // of T; the others are padding. T itself where cu_seqlens is given
  int heads;        // H
  int chunks;       // B T / 64, or the rows of chunk_indices
  float scale;
  float lower_bound;  // -5 to 0
};

// Launches the kernel on `stream`. cudaErrorInvalidValue: no rows, a T that is no multiple of 64
// without cu_seqlens, an output of 2^32 elements or more, or a pointer not aligned to 16 bytes.
cudaError_t launch_fused_k123(const FusedK123& arguments, cudaStream_t stream);

// The same with a kernel loaded from a module: a cudaKernel_t, cast.
cudaError_t launch_fused_k123(const FusedK123& arguments, cudaStream_t stream, const void* kernel);

}  // namespace kda_prefill
