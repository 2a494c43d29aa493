// Logits of a sparse-attention indexer over a paged fp8 key cache (multi-query: all heads share the
// keys): for every query row t of a request and every key p of its context
//
//   logits[t, p] = scale_p sum_h weight[t, h] max(0, sum_d q[t, h, d] key_p[d])
//
// A CTA is persistent over units of 256 keys, two blocks of 128. The product of a block is one
// matrix of 128 keys x (rows x heads) columns in tensor memory; a math thread owns one key, a lane
// of tensor memory, and sums over the heads of each row. The roles are one group of four producer
// warps and two or three groups of four math warps (variants.h says what the variants change):
//
//   copies   keys and scales of a block -> tile                        | key_empty   -> key_full
//            q and weights of a request -> stage                       | q_empty     -> q_full
//   mma      four products, each of 32 channels -> tensor memory       | q_full, key_full,
//                                                                      | sums_empty  -> sums_full
//   math     relu, weights, sum over heads, scale -> global memory     | q_full, key_full,
//                                                                      | sums_full   -> sums_empty,
//                                                                      |    key_empty, q_empty
//
// The right column names the mbarriers waited for and arrived on. The mma warps free nothing of
// shared memory: a math warp that has seen the sums knows that the products have read the tile, and
// frees it for both.
//
// Warp 0 allocates tensor memory for all and frees it at its own end. The other math warps may be a
// whole unit behind then. In the right form they all meet after their last loads and before the
// free (`Drain`); freed columns keep their data until somebody allocates them, so the form
// without shows nothing wrong until another CTA on the SM does.

#include "../ptx/barrier.cuh"
#include "../ptx/grid.cuh"
#include "../ptx/math.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/tcgen05.cuh"
#include "../ptx/tcgen05_descriptors.cuh"
#include "../ptx/tma.cuh"
#include "../ptx/warp.cuh"
#include "../ptx/warpgroup.cuh"
#include "layout.h"
#include "ring.cuh"
#include "unit_walk.cuh"
#include "variants.h"

using namespace mqa_logits;
namespace tcgen05 = ptx::tcgen05;

constexpr int kMathThreads = math_threads(kVariant);
constexpr int kLaunchRegisters = launch_registers(kVariant);
constexpr int kTensorBarrier = 1;  // math and mma warps: the address of tensor memory
constexpr int kDrainBarrier = 2;   // math warps

constexpr int kStreams = kVariant.key_streams;
constexpr int kKeyStages = kKeyTiles / kStreams;
constexpr int kStreamWarps = 4 * kVariant.math_groups / kStreams;

// An mma warp's columns: those of all rows, or of its share of them, in one or two accumulators.
constexpr int kMmaShares = kVariant.mma_warps / kStreams;
constexpr int kMmaColumns = kMaxColumns / kMmaShares;
constexpr int kAccumulators = kTensorColumns / (kVariant.mma_warps * kMmaColumns);
constexpr int kMathShares = kVariant.math_groups / kStreams;
constexpr int kMmaReaders = kMathThreads / kVariant.mma_warps;

constexpr int kMmaK = 32;  // channels of one instruction

extern __shared__ Tiles dynamic_shared[];
__shared__ ptx::Mbarrier q_full[kQueryStages];
__shared__ ptx::Mbarrier q_empty[kQueryStages];
__shared__ ptx::Mbarrier key_full[kStreams][kKeyStages];
__shared__ ptx::Mbarrier key_empty[kStreams][kKeyStages];
__shared__ ptx::Mbarrier sums_full[kVariant.mma_warps][kAccumulators];
__shared__ ptx::Mbarrier sums_empty[kVariant.mma_warps][kAccumulators];
__shared__ tcgen05::Address tensor_base;

// Rows [first, last) of a request: share number `share` of `shares`.
struct Rows {
  int first, last;

  __device__ __forceinline__ Rows(int share, int shares, int rows)
      : first(share * rows / shares), last((share + 1) * rows / shares) {}
};

__device__ __forceinline__ void init_barriers() {
  for (int stage = 0; stage < kQueryStages; ++stage) {
    ptx::mbarrier_init(q_full[stage], 1);
    ptx::mbarrier_init(q_empty[stage], kMathThreads / 32);
  }
  for (int stream = 0; stream < kStreams; ++stream) {
    for (int stage = 0; stage < kKeyStages; ++stage) {
      ptx::mbarrier_init(key_full[stream][stage], 1);
      ptx::mbarrier_init(key_empty[stream][stage], kStreamWarps);
    }
  }
  for (int warp = 0; warp < kVariant.mma_warps; ++warp) {
    for (int stage = 0; stage < kAccumulators; ++stage) {
      ptx::mbarrier_init(sums_full[warp][stage], 1);
      ptx::mbarrier_init(sums_empty[warp][stage], kMmaReaders);
    }
  }
}

// All lanes have read; one says so.
__device__ __forceinline__ void arrive_as_warp(ptx::Mbarrier& barrier) {
  ptx::warp_sync();
  if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(barrier);
}

// Adds the weighted scores of 32 heads to four partial sums.
__device__ __forceinline__ void add_heads(float2 (&sums)[2], const float (&scores)[kHeadStep],
                                          const float* weights) {
#pragma unroll
  for (int i = 0; i < kHeadStep; i += 4) {
    const float4 weight = *reinterpret_cast<const float4*>(&weights[i]);
    const float2 low{fmaxf(scores[i], 0.0f), fmaxf(scores[i + 1], 0.0f)};
    const float2 high{fmaxf(scores[i + 2], 0.0f), fmaxf(scores[i + 3], 0.0f)};
    sums[0] = ptx::fma(low, {weight.x, weight.y}, sums[0]);
    sums[1] = ptx::fma(high, {weight.z, weight.w}, sums[1]);
  }
}

// Shapes and meaning of the arguments: mqa_logits.h.
extern "C" __global__ void __maxnreg__(kLaunchRegisters) paged_mqa_logits(
    const __grid_constant__ CUtensorMap q_map, const __grid_constant__ CUtensorMap weights_map,
    const __grid_constant__ CUtensorMap keys_map, const __grid_constant__ CUtensorMap scales_map,
    const int2* schedule, const int* contexts, const int* block_table, float* logits, int heads,
    int next_n, int table_stride, int logits_stride, int first_row, int rank, int ranks) {
  const int thread = threadIdx.x;
  const int warp = threadIdx.x / 32;
  Tiles& tiles = dynamic_shared[0];
  const int columns = next_n * heads;

  if constexpr (kVariant.trigger_at_entry) ptx::launch_dependents();
  if (thread == 0) init_barriers();
  ptx::cta_sync();
  if constexpr (!kVariant.early_keys) ptx::wait_for_prerequisites();

  if (warp < kMathThreads / 32) {
    ptx::take_registers<kVariant.math_registers>();
    const int group = warp / 4;
    const int row_in_block = thread % kGroupThreads;
    const int stream = group % kStreams;
    const int mma = group % kVariant.mma_warps;
    const Rows rows(group / kStreams, kMathShares, next_n);
    const int first_column = Rows(mma / kStreams, kMmaShares, next_n).first * heads;

    if (warp == 0) tcgen05::alloc<kTensorColumns>(tensor_base);
    ptx::named_sync<kTensorBarrier, kMathThreads + 32 * kVariant.mma_warps>();
    const tcgen05::Address base = tensor_base;
    const tcgen05::Address quarter =
        tcgen05::at_lane(base + mma * kAccumulators * kMmaColumns, warp % 4 * 32);
    // Who still reads logits is a prerequisite too.
    if constexpr (kVariant.early_keys) ptx::wait_for_prerequisites();

    if constexpr (kVariant.drain == Drain::before_the_loads) {
      ptx::named_sync<kDrainBarrier, kMathThreads>();
    }
    Ring<kQueryStages> query;
    Ring<kKeyStages> key;
    Ring<kAccumulators> sum;
    for (UnitWalk work(schedule, contexts); work.valid(); work.advance()) {
      if (work.opens_request) ptx::mbarrier_wait(q_full[query.stage], query.parity);
      for (int block = stream; block < kUnit / kBlock; block += kStreams) {
        ptx::mbarrier_wait(key_full[stream][key.stage], key.parity);
        const float scale = tiles.scales[stream * kKeyStages + key.stage][row_in_block];
        ptx::mbarrier_wait(sums_full[mma][sum.stage], sum.parity);
        tcgen05::fence_after_signal();
        arrive_as_warp(key_empty[stream][key.stage]);

        const int position = work.unit * kUnit + block * kBlock + row_in_block;
        const tcgen05::Address accumulator = quarter + sum.stage * kMmaColumns - first_column;
#pragma unroll 1
        for (int row = rows.first; row < rows.last; ++row) {
          float2 sums[2] = {};
#pragma unroll 1
          for (int column = row * heads; column < (row + 1) * heads; column += kHeadStep) {
            float scores[kHeadStep];
            tcgen05::load_32_columns(scores, accumulator + column);
            if (column + kHeadStep == rows.last * heads) {
              tcgen05::fence_before_signal();
              ptx::mbarrier_arrive(sums_empty[mma][sum.stage]);
            }
            add_heads(sums, scores, &tiles.weights[query.stage][column]);
          }
          if (position < work.context) {
            const float total = (sums[0].x + sums[0].y) + (sums[1].x + sums[1].y);
            int output_row = work.request * next_n + row;
            int output_column = position;
            if constexpr (kVariant.rank_rows) output_row -= first_row;
            if constexpr (kVariant.rank_pages) {
              output_column = (position / kPage * ranks + rank) * kPage + position % kPage;
            }
            logits[static_cast<size_t>(output_row) * logits_stride + output_column] = scale * total;
          }
        }
        key.advance();
        sum.advance();
      }
      if (work.closes_request()) {
        arrive_as_warp(q_empty[query.stage]);
        query.advance();
      }
    }

    if constexpr (kVariant.drain == Drain::whole) {
      tcgen05::wait_loads();
      ptx::named_sync<kDrainBarrier, kMathThreads>();
    } else if constexpr (kVariant.drain == Drain::wait_alone) {
      tcgen05::wait_loads();
    } else if constexpr (kVariant.drain == Drain::by_one_lane) {
      tcgen05::wait_loads();
      if (ptx::elect_one()) ptx::named_sync<kDrainBarrier, kMathThreads>();
    }
    if (warp == 0) {
      tcgen05::relinquish_alloc_permit();
      tcgen05::dealloc<kTensorColumns>(base);
    }
  } else {
    ptx::give_registers<kProducerRegisters>();
    const int producer = warp - kMathThreads / 32;
    if (producer < 2) {
      // Copies. The fence carries the readers' accesses, learnt of by the wait, to the copy engine.
      const int stream = producer;
      if (stream < kStreams && ptx::elect_one()) {
        Ring<kQueryStages> query;
        Ring<kKeyStages> key;
        for (UnitWalk work(schedule, contexts); work.valid(); work.advance()) {
          for (int block = stream; block < kUnit / kBlock; block += kStreams) {
            const int tile = stream * kKeyStages + key.stage;
            ptx::Mbarrier& full = key_full[stream][key.stage];
            ptx::mbarrier_wait(key_empty[stream][key.stage], key.parity ^ 1);
            ptx::fence_proxy_async_shared();
            ptx::mbarrier_arrive_expect_tx(full, kBlock / kPage * kPageBytes);
            for (int half = 0; half < kBlock / kPage; ++half) {
              // A unit may reach past the context: page 0 stands for the pages that are not there.
              const int index = work.unit * (kUnit / kPage) + block * (kBlock / kPage) + half;
              int page = 0;
              if (index * kPage < work.context) {
                page = block_table[work.request * table_stride + index];
              }
              const int row = half * kPage;
              ptx::tma_load(tiles.keys[tile][row], &keys_map, 0, 0, page, full);
              ptx::tma_load(&tiles.scales[tile][row], &scales_map, kPageKeyBytes, page, full);
            }
            key.advance();
          }
          if (stream == 0 && work.opens_request) {
            if constexpr (kVariant.early_keys) ptx::wait_for_prerequisites();
            ptx::Mbarrier& full = q_full[query.stage];
            ptx::mbarrier_wait(q_empty[query.stage], query.parity ^ 1);
            ptx::fence_proxy_async_shared();
            ptx::mbarrier_arrive_expect_tx(full, columns * (kHeadDim + sizeof(float)));
            ptx::tma_load(tiles.q[query.stage], &q_map, 0, work.request * columns, full);
            ptx::tma_load(tiles.weights[query.stage], &weights_map, 0, work.request, full);
            query.advance();
          }
        }
      }
    } else if (producer - 2 < kVariant.mma_warps) {
      // Matrix instructions.
      const int mma = producer - 2;
      const int stream = mma % kStreams;
      const Rows rows(mma / kStreams, kMmaShares, next_n);
      const uint32_t instruction =
          tcgen05::instruction_e4m3(kBlock, (rows.last - rows.first) * heads);
      ptx::named_sync<kTensorBarrier, kMathThreads + 32 * kVariant.mma_warps>();
      const tcgen05::Address base = tensor_base + mma * kAccumulators * kMmaColumns;

      if (ptx::elect_one()) {
        Ring<kQueryStages> query;
        Ring<kKeyStages> key;
        Ring<kAccumulators> sum;
        for (UnitWalk work(schedule, contexts); work.valid(); work.advance()) {
          if (work.opens_request) ptx::mbarrier_wait(q_full[query.stage], query.parity);
          const uint64_t q = tcgen05::swizzled_rows(tiles.q[query.stage][rows.first * heads]);
          for (int block = stream; block < kUnit / kBlock; block += kStreams) {
            const int tile = stream * kKeyStages + key.stage;
            const uint64_t keys = tcgen05::swizzled_rows(tiles.keys[tile]);
            ptx::mbarrier_wait(key_full[stream][key.stage], key.parity);
            ptx::mbarrier_wait(sums_empty[mma][sum.stage], sum.parity ^ 1);
            tcgen05::fence_after_signal();
            for (int channel = 0; channel < kHeadDim; channel += kMmaK) {
              tcgen05::mma_f8f6f4(base + sum.stage * kMmaColumns, tcgen05::advanced(keys, channel),
                                  tcgen05::advanced(q, channel), instruction, channel > 0);
            }
            tcgen05::commit(sums_full[mma][sum.stage]);
            key.advance();
            sum.advance();
          }
          if (work.closes_request()) query.advance();
        }
      }
    }
  }
}
