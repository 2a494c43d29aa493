// KDA prefill, first of its three kernels: gate, cumulative decay, scaled operands, and the two
// 64 x 64 intra-chunk matrices (Aqk, Akk) of every chunk and head.
//
// A CTA is persistent over work units of four chunks of one head. 31 warps in four roles hand each
// chunk on through two stages of shared memory:
//
//   TMA      q, k, raw gate of the chunk -> stage                      | stage_reuse -> tma_full
//   K1 scan  gate activation and its sum down the rows (log2 domain)    | tma_full -> k1_done
//            -> cumsum; the scaled operands -> global memory            |          -> stage_reuse
//   K2 mma   ten lower 16 x 16 tiles of Aqk and Akk -> shared memory    | k1_done  -> stage_reuse,
//                                                                       | store_done -> mma_done
//   K3 store Aqk, Akk -> global memory                                  | mma_done -> store_done
//
// The right column names the mbarriers waited for and arrived on, one of each per stage.
// stage_reuse and store_done start with one phase already complete, so that every role waits for
// the n-th use of a stage with the parity of n. s_partial_last is single-buffered: only K1's own
// barrier keeps the sums of the next chunk out of it (form.cuh says which form lacks that barrier).
//
// Rows past the end of a sequence count for nothing: gate 0, beta 0, outputs 0. A chunk at the end
// of one of several sequences holds rows of the next sequence, which are neither used nor written.

#include "../ptx/barrier.cuh"
#include "../ptx/math.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/mma.cuh"
#include "../ptx/timer.cuh"
#include "../ptx/tma.cuh"
#include "../ptx/warp.cuh"
#include "form.cuh"
#include "layout.h"
#include "schedule.cuh"

using namespace kda_prefill;

constexpr int kScanBarrier = 2;
constexpr int kStoreBarrier = 3;
constexpr int kRowGroups = 8;  // K1: a warp owns 8 rows x 64 channels, a lane 2 of those channels
constexpr int kGroupRows = kChunk / kRowGroups;
constexpr int kTile = 16;  // K2: rows and columns of a warp's tile, channels of one instruction
constexpr int kStalledWarp = 3;  // K1, row group 1: reads both its prefix and the total
constexpr float kLog2E = 1.4426950408889634f;
constexpr uint32_t kStageBytes = 3 * kChunk * kHeadDim * sizeof(Bf16);

extern __shared__ StageTiles dynamic_shared[];
__shared__ __align__(16) float s_partial_last[kRowGroups][kHeadDim + 4];
__shared__ __align__(16) float s_beta[kStages][kChunk];
__shared__ ptx::Mbarrier tma_full[kStages];
__shared__ ptx::Mbarrier stage_reuse[kStages];
__shared__ ptx::Mbarrier k1_done[kStages];
__shared__ ptx::Mbarrier mma_done[kStages];
__shared__ ptx::Mbarrier store_done[kStages];

// Where the copy engine put 16 bytes: their column within 128-byte rows is xor-ed with the row.
__device__ __forceinline__ const uint32_t* swizzled(const Bf16 (&tile)[2][kChunk][kHeadDim / 2],
                                                    int row, int channel) {
  const Bf16* const line = tile[channel / 64][row];
  return reinterpret_cast<const uint32_t*>(line + ((channel % 64) ^ (row % 8 * 8)));
}

__device__ __forceinline__ float2 pair_at(const float& first) {
  return reinterpret_cast<const float2&>(first);
}

__device__ __forceinline__ float2& pair_at(float& first) {
  return reinterpret_cast<float2&>(first);
}

__device__ __forceinline__ uint32_t& pair_at(Bf16& first) {
  return reinterpret_cast<uint32_t&>(first);
}

__device__ __forceinline__ float sigmoid(float x) {
  return ptx::reciprocal(1.0f + ptx::exp2(-kLog2E * x));
}

__device__ __forceinline__ uint32_t scale_pair(uint32_t pair, float low, float high) {
  return ptx::pack_bf16(ptx::low_bf16(pair) * low, ptx::high_bf16(pair) * high);
}

template <forms::Stall kPlace>
__device__ __forceinline__ void stall_here(int warp) {
  if constexpr (kForm.stall == kPlace) {
    if (warp == kStalledWarp) ptx::spin_ns(20000);
  }
}

// Shapes and meaning of the arguments: fused_k123.h.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    fused_k123(const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap k_map,
               const __grid_constant__ CUtensorMap gate_map, const float* beta_logits,
               const float* a_log, const float* dt_bias, const int* cu_seqlens,
               const int* chunk_indices, Bf16* k_scaled, Bf16* q_scaled, Bf16* kg,
               float* decay_last, Bf16* aqk, Bf16* akk, int heads, int chunks,
               int tokens_per_sequence, int real_tokens, float scale, float lower_bound) {
  const int thread = threadIdx.x;
  const int warp = threadIdx.x / 32;
  const int lane = threadIdx.x % 32;
  StageTiles& tiles = dynamic_shared[0];
  const ChunkTable table{cu_seqlens, chunk_indices, tokens_per_sequence, real_tokens};

  if (thread == 0) {
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_init(tma_full[stage], 1);
      ptx::mbarrier_init(stage_reuse[stage],
                         kForm.scan_frees_stage ? kMmaThreads + kScanThreads : kMmaThreads);
      ptx::mbarrier_init(k1_done[stage], kScanThreads);
      ptx::mbarrier_init(mma_done[stage], kMmaThreads);
      ptx::mbarrier_init(store_done[stage], kStoreThreads);
    }
  }
  // The tiles above the diagonal are never computed and stay zero.
  uint32_t* const zeroed = &pair_at(tiles.aqk[0][0][0]);
  for (int i = thread; i < (sizeof(tiles.aqk) + sizeof(tiles.akk)) / 4; i += kThreads) {
    zeroed[i] = 0;
  }
  ptx::cta_sync();

  if (warp < kScanWarps) {
    // K1: gate and scan.
    const int row_group = warp / 2;
    const int first_row = row_group * kGroupRows;
    const int column = warp % 2 * (kHeadDim / 2) + lane * 2;
    if constexpr (kForm.scan_frees_stage) {
      for (int stage = 0; stage < kStages; ++stage) ptx::mbarrier_arrive(stage_reuse[stage]);
    }

    for (Schedule work(heads, chunks); work.valid(); work.advance()) {
      const ChunkRows rows = table.locate(work.chunk);
      const float rate = ptx::exp2(kLog2E * a_log[work.head]);
      const float2 bias = *reinterpret_cast<const float2*>(&dt_bias[work.head * kHeadDim + column]);
      float beta = 0.0f;
      if (thread < rows.real) {
        beta = sigmoid(beta_logits[(rows.first + thread) * heads + work.head]);
      }

      // Down the warp's own rows, activating the gate.
      ptx::mbarrier_wait(tma_full[work.stage], work.parity);
      float2 running[kGroupRows];
      float2 sum{0.0f, 0.0f};
#pragma unroll
      for (int i = 0; i < kGroupRows; ++i) {
        const int row = first_row + i;
        const uint32_t raw = pair_at(tiles.gate[work.stage][row][column]);
        const float bound = row < rows.real ? lower_bound : 0.0f;
        sum.x = ptx::fma(bound, sigmoid(rate * (ptx::low_bf16(raw) + bias.x)), sum.x);
        sum.y = ptx::fma(bound, sigmoid(rate * (ptx::high_bf16(raw) + bias.y)), sum.y);
        running[i] = sum;
      }
      pair_at(s_partial_last[row_group][column]) = sum;
      ptx::named_sync<kScanBarrier, kScanThreads>();

      // Across the eight row groups: a warp takes 8 columns, 4 at a time, a lane one row group.
#pragma unroll
      for (int i = 0; i < 8; i += 32 / kRowGroups) {
        float& partial = s_partial_last[lane % kRowGroups][warp * 8 + i + lane / kRowGroups];
        float inclusive = partial;
#pragma unroll
        for (int distance = 1; distance < kRowGroups; distance *= 2) {
          inclusive += ptx::shuffle_up<kRowGroups>(inclusive, distance, 0.0f);
        }
        partial = inclusive;
      }
      ptx::named_sync<kScanBarrier, kScanThreads>();

      stall_here<forms::Stall::before_the_reads>(warp);
      const float2 total = pair_at(s_partial_last[kRowGroups - 1][column]);
      float2 prefix{0.0f, 0.0f};
      if (row_group > 0) prefix = pair_at(s_partial_last[row_group - 1][column]);
      if constexpr (kForm.read_barrier) {
        ptx::named_sync<kScanBarrier, kScanThreads>();
      }

      // The chunk's cumulative decay for K2, in the log2 domain.
#pragma unroll
      for (int i = 0; i < kGroupRows; ++i) {
        running[i].x = (prefix.x + running[i].x) * kLog2E;
        running[i].y = (prefix.y + running[i].y) * kLog2E;
        pair_at(tiles.cumsum[work.stage][first_row + i][column]) = running[i];
      }
      if (thread < kChunk) s_beta[work.stage][thread] = beta;
      ptx::mbarrier_arrive(k1_done[work.stage]);
      stall_here<forms::Stall::after_k1_done>(warp);

      // The operands of the recurrence, from q and k still in the stage.
      const float2 last{total.x * kLog2E, total.y * kLog2E};
      uint32_t output = ((rows.first + first_row) * heads + work.head) * kHeadDim + column;
#pragma unroll
      for (int i = 0; i < kGroupRows; ++i) {
        const int row = first_row + i;
        const uint32_t real = row < rows.real ? 0xffffffffu : 0;
        const uint32_t k = *swizzled(tiles.k[work.stage], row, column) & real;
        const uint32_t q = *swizzled(tiles.q[work.stage], row, column) & real;
        const float2 decay{ptx::exp2(running[i].x), ptx::exp2(running[i].y)};
        const float2 rest{ptx::exp2(last.x - running[i].x), ptx::exp2(last.y - running[i].y)};
        if (row < rows.stored) {
          pair_at(k_scaled[output]) = scale_pair(k, decay.x, decay.y);
          pair_at(q_scaled[output]) = scale_pair(q, decay.x * scale, decay.y * scale);
          pair_at(kg[output]) = scale_pair(k, rest.x, rest.y);
        }
        output += heads * kHeadDim;
      }
      if constexpr (kForm.scan_frees_stage) ptx::mbarrier_arrive(stage_reuse[work.stage]);
      if (row_group == 0) {
        pair_at(decay_last[(work.head * chunks + work.chunk) * kHeadDim + column]) =
            float2{ptx::exp2(last.x), ptx::exp2(last.y)};
      }
    }
  } else if (warp < kScanWarps + kMmaWarps) {
    // K2: one lower tile of Aqk and of Akk. A reference row keeps the exponents small: with it at
    // 0, rows and columns are scaled apart, q_i 2^(cs_i - cs_r) and k_j 2^(cs_r - cs_j).
    const int tile = warp - kScanWarps;
    const int tile_row = (tile >= 1) + (tile >= 3) + (tile >= 6);
    const int tile_column = tile - tile_row * (tile_row + 1) / 2;
    const int row_base = tile_row * kTile;
    const int column_base = tile_column * kTile;
    const int reference = tile_row == tile_column ? row_base + kTile / 2 : row_base;
    const int group_row = lane / 4;
    const int group_column = lane % 4 * 2;
    for (int stage = 0; stage < kStages; ++stage) {
      ptx::mbarrier_arrive(stage_reuse[stage]);
      if (tile < kStoreWarps) ptx::mbarrier_arrive(store_done[stage]);
    }

    for (Schedule work(heads, chunks); work.valid(); work.advance()) {
      const int real_rows = table.locate(work.chunk).real;
      ptx::mbarrier_wait(tma_full[work.stage], work.parity);
      ptx::mbarrier_wait(k1_done[work.stage], work.parity);

      float qk[2][4] = {};  // [columns 0-7, 8-15] of the tile
      float kk[2][4] = {};
#pragma unroll 1
      for (int channel = 0; channel < kHeadDim; channel += kTile) {
        const auto& cumsum = tiles.cumsum[work.stage];
        const int matrix_row = lane % kTile;
        const int matrix_channel = channel + lane / kTile * 8;
        uint32_t q[4], k_row[4], k_column[4];
        ptx::load_matrices(k_column,
                           swizzled(tiles.k[work.stage], column_base + matrix_row, matrix_channel));
#pragma unroll
        for (int matrix = 0; matrix < 4; ++matrix) {
          const int at = channel + group_column + matrix / 2 * 8;
          const float2 zero = pair_at(cumsum[reference][at]);
          const float2 up = pair_at(cumsum[column_base + group_row + matrix % 2 * 8][at]);
          k_column[matrix] =
              scale_pair(k_column[matrix], ptx::exp2(zero.x - up.x), ptx::exp2(zero.y - up.y));
        }
        ptx::load_matrices(q, swizzled(tiles.q[work.stage], row_base + matrix_row, matrix_channel));
        ptx::load_matrices(k_row,
                           swizzled(tiles.k[work.stage], row_base + matrix_row, matrix_channel));
#pragma unroll
        for (int matrix = 0; matrix < 4; ++matrix) {
          const int at = channel + group_column + matrix / 2 * 8;
          const float2 zero = pair_at(cumsum[reference][at]);
          const float2 down = pair_at(cumsum[row_base + group_row + matrix % 2 * 8][at]);
          const float2 decay{ptx::exp2(down.x - zero.x), ptx::exp2(down.y - zero.y)};
          q[matrix] = scale_pair(q[matrix], decay.x, decay.y);
          k_row[matrix] = scale_pair(k_row[matrix], decay.x, decay.y);
        }
        for (int half = 0; half < 2; ++half) {
          ptx::mma_bf16(qk[half], q, k_column[half], k_column[half + 2]);
          ptx::mma_bf16(kk[half], k_row, k_column[half], k_column[half + 2]);
        }
      }
      const float beta[2] = {s_beta[work.stage][row_base + group_row],
                             s_beta[work.stage][row_base + group_row + 8]};
      ptx::mbarrier_arrive(stage_reuse[work.stage]);

      ptx::mbarrier_wait(store_done[work.stage], work.parity);
#pragma unroll
      for (int part = 0; part < 4; ++part) {
        const int half = part / 2;
        const int lower = part % 2;  // rows 8-15 of the tile
        const int row = row_base + group_row + lower * 8;
        const int column = column_base + group_column + half * 8;
        const int columns = row < real_rows ? row : -1;  // the last that counts
        const float* const qk_pair = &qk[half][lower * 2];
        const float* const kk_pair = &kk[half][lower * 2];
        pair_at(tiles.aqk[work.stage][row][column]) =
            ptx::pack_bf16(column <= columns ? qk_pair[0] * scale : 0.0f,
                           column + 1 <= columns ? qk_pair[1] * scale : 0.0f);
        pair_at(tiles.akk[work.stage][row][column]) =
            ptx::pack_bf16(column < columns ? kk_pair[0] * beta[lower] : 0.0f,
                           column + 1 < columns ? kk_pair[1] * beta[lower] : 0.0f);
      }
      ptx::mbarrier_arrive(mma_done[work.stage]);
    }
  } else if (warp < kScanWarps + kMmaWarps + kTmaWarps) {
    // TMA: one lane refills the stages. The fence carries the readers' accesses, learnt of by the
    // wait, to the copy engine.
    if (ptx::elect_one()) {
      for (Schedule work(heads, chunks); work.valid(); work.advance()) {
        const int row = table.locate(work.chunk).first;
        ptx::Mbarrier& full = tma_full[work.stage];
        ptx::mbarrier_wait(stage_reuse[work.stage], work.parity);
        ptx::fence_proxy_async_shared();
        ptx::mbarrier_arrive_expect_tx(full, kStageBytes);
        for (int half = 0; half < 2; ++half) {
          const int channel = half * (kHeadDim / 2);
          ptx::tma_load(tiles.q[work.stage][half], &q_map, channel, work.head, row, full);
          ptx::tma_load(tiles.k[work.stage][half], &k_map, channel, work.head, row, full);
        }
        ptx::tma_load(tiles.gate[work.stage], &gate_map, 0, work.head, row, full);
      }
    }
  } else {
    // K3: store. One warp waits for the tiles and passes what it learnt on to the others.
    const int store_thread = thread - (kThreads - kStoreThreads);
    constexpr int kVector = 16 / sizeof(Bf16);
    for (Schedule work(heads, chunks); work.valid(); work.advance()) {
      if (store_thread < 32) ptx::mbarrier_wait(mma_done[work.stage], work.parity);
      ptx::named_sync<kStoreBarrier, kStoreThreads>();
      const uint32_t matrix = (work.head * chunks + work.chunk) * kChunk * kChunk;
#pragma unroll
      for (int i = 0; i < kChunk * kChunk / (kStoreThreads * kVector); ++i) {
        const int at = (i * kStoreThreads + store_thread) * kVector;
        const int row = at / kChunk;
        const int column = at % kChunk;
        *reinterpret_cast<uint4*>(&aqk[matrix + at]) =
            *reinterpret_cast<const uint4*>(&tiles.aqk[work.stage][row][column]);
        *reinterpret_cast<uint4*>(&akk[matrix + at]) =
            *reinterpret_cast<const uint4*>(&tiles.akk[work.stage][row][column]);
      }
      ptx::mbarrier_arrive(store_done[work.stage]);
    }
  }
}
