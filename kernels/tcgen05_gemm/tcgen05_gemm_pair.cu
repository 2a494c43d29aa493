// The GEMM of tcgen05_gemm.cu by pairs of CTAs: a tile is 256 x 128, each CTA has 128 rows of A and
// D and half of B, and one thread of the even CTA, the leader, multiplies for both.
//
//   copies    both CTAs: A and half of B of a K block -> stage  | operands_empty
//                                                               |    -> the leader's operands_full
//   mma       the leader: four products of K = 16 -> an         | operands_full, sums_empty
//             accumulator in each CTA's tensor memory           |    -> both CTAs' operands_empty,
//                                                               |       sums_full
//   epilogue  both CTAs: their rows of D                        | sums_full
//                                                               |    -> the leader's sums_empty
//
// The right column names the mbarriers waited for and arrived on. Commits go to both CTAs; so the
// copies of a CTA wait, before they end, until the last of them have come: nobody may arrive in a
// CTA that has ended. The cluster meets after the barriers are made and the tensor memory is taken,
// and before it is freed.

#include "../ptx/barrier.cuh"
#include "../ptx/cluster.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/tcgen05.cuh"
#include "../ptx/tcgen05_descriptors.cuh"
#include "../ptx/tcgen05_pair.cuh"
#include "../ptx/tma.cuh"
#include "../ptx/warp.cuh"
#include "epilogue.cuh"
#include "layout.h"

using namespace tcgen05_gemm;
namespace tcgen05 = ptx::tcgen05;
namespace pair = ptx::tcgen05_pair;

constexpr int kEpilogueThreads = 32 * kEpilogueWarps;
constexpr int kPartBarrier = 1;
constexpr int kMmaK = 16;
constexpr int kCtas = 2;
constexpr uint32_t kLeader = 0;

extern __shared__ Tiles<2> dynamic_shared[];
__shared__ ptx::Mbarrier operands_full[kStages];
__shared__ ptx::Mbarrier operands_empty[kStages];
__shared__ ptx::Mbarrier sums_full[kAccumulators];
__shared__ ptx::Mbarrier sums_empty[kAccumulators];
__shared__ tcgen05::Address tensor_base;

__device__ __forceinline__ void init_barriers() {
  for (int stage = 0; stage < kStages; ++stage) {
    ptx::mbarrier_init(operands_full[stage], 1);
    ptx::mbarrier_init(operands_empty[stage], 1);
  }
  for (int stage = 0; stage < kAccumulators; ++stage) {
    ptx::mbarrier_init(sums_full[stage], 1);
    ptx::mbarrier_init(sums_empty[stage], kCtas * kEpilogueWarps);
  }
  ptx::fence_mbarrier_init();
}

// Maps: A in boxes of 64 x 128, B of 64 x 64, D of 32 x 128, all with 128B swizzle.
extern "C" __global__ void __cluster_dims__(kCtas, 1, 1) __launch_bounds__(kThreads, 1)
    gemm_pair(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
              const __grid_constant__ CUtensorMap d_map, int tiles_m, int tiles, int blocks_k) {
  const int warp = threadIdx.x / 32;
  const int rank = int(ptx::cluster_rank());
  const int first = blockIdx.x / kCtas, step = gridDim.x / kCtas;
  Tiles<2>& shared = dynamic_shared[0];

  if (threadIdx.x == 0) init_barriers();
  if (warp == 0) pair::alloc<kTensorColumns>(tensor_base);
  ptx::cluster_sync();
  const tcgen05::Address base = tensor_base;

  if (warp < kEpilogueWarps) {
    const int row = threadIdx.x;
    const bool stores = threadIdx.x == 0;
    uint32_t use = 0;
    for (int tile = first; tile < tiles; tile += step, ++use) {
      const int slot = use % kAccumulators;
      const tcgen05::Address sums = tcgen05::at_lane(base + slot * kTileN, warp * 32);
      ptx::mbarrier_wait(sums_full[slot], parity<kAccumulators>(use));
      tcgen05::fence_after_signal();
#pragma unroll 1
      for (int part = 0; part < kTileN / kPart; ++part) {
        float values[kPart];
        tcgen05::load_32_columns(values, sums + part * kPart);
        if (part == kTileN / kPart - 1) {
          tcgen05::fence_before_signal();
          if (threadIdx.x % 32 == 0) {
            ptx::mbarrier_arrive_in_cluster(ptx::address_in_rank(&sums_empty[slot], kLeader));
          }
        }
        auto& buffer = shared.d[part % kPartBuffers];
        if (stores) ptx::wait_until_stores_have_read<kPartBuffers - 1>();
        ptx::named_sync<kPartBarrier, kEpilogueThreads>();
        store_part(buffer[row], values, row);
        ptx::fence_proxy_async_shared();
        ptx::named_sync<kPartBarrier, kEpilogueThreads>();
        if (stores) {
          ptx::tma_store(&d_map, tile / tiles_m * kTileN + part * kPart,
                         (tile % tiles_m * kCtas + rank) * kTileM, buffer);
          ptx::commit_stores();
        }
      }
    }
    if (stores) ptx::wait_until_stores_have_read<0>();
  } else if (warp == kCopyWarp && ptx::elect_one()) {
    uint32_t use = 0;
    for (int tile = first; tile < tiles; tile += step) {
      for (int block = 0; block < blocks_k; ++block, ++use) {
        const int stage = use % kStages;
        ptx::mbarrier_wait(operands_empty[stage], parity<kStages>(use) ^ 1);
        if (rank == kLeader) {
          ptx::mbarrier_arrive_expect_tx(operands_full[stage], kCtas * kStageBytes<kCtas>);
        }
        const uint32_t full = ptx::address_in_rank(&operands_full[stage], kLeader);
        pair::tma_load(shared.a[stage], &a_map, block * kBlockK,
                       (tile % tiles_m * kCtas + rank) * kTileM, full);
        pair::tma_load(shared.b[stage], &b_map, block * kBlockK,
                       (tile / tiles_m * kCtas + rank) * (kTileN / kCtas), full);
      }
    }
    // Every stage is free again, those that were never used too.
    for (int left = 0; left < kStages; ++left, ++use) {
      ptx::mbarrier_wait(operands_empty[use % kStages], parity<kStages>(use) ^ 1);
    }
  } else if (warp == kMmaWarp && rank == kLeader && ptx::elect_one()) {
    const uint32_t instruction = tcgen05::instruction_bf16(kCtas * kTileM, kTileN);
    uint32_t use = 0, sums_use = 0;
    for (int tile = first; tile < tiles; tile += step, ++sums_use) {
      const int slot = sums_use % kAccumulators;
      ptx::mbarrier_wait_for_cluster(sums_empty[slot], parity<kAccumulators>(sums_use) ^ 1);
      tcgen05::fence_after_signal();
#pragma unroll 1
      for (int block = 0; block < blocks_k; ++block, ++use) {
        const int stage = use % kStages;
        const uint64_t a = tcgen05::swizzled_rows(shared.a[stage]);
        const uint64_t b = tcgen05::swizzled_rows(shared.b[stage]);
        ptx::mbarrier_wait(operands_full[stage], parity<kStages>(use));
        for (int k = 0; k < kBlockK; k += kMmaK) {
          const int bytes = k * int(sizeof(Bf16));
          pair::mma_f16(base + slot * kTileN, tcgen05::advanced(a, bytes),
                        tcgen05::advanced(b, bytes), instruction, block > 0 || k > 0);
        }
        pair::commit_to_both(operands_empty[stage]);
      }
      pair::commit_to_both(sums_full[slot]);
    }
  }

  ptx::cluster_sync();
  if (warp == 0) {
    pair::relinquish_alloc_permit();
    pair::dealloc<kTensorColumns>(base);
  }
}
