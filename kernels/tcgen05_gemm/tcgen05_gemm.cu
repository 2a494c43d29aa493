// D = A B^T in bf16 with fp32 sums, by one CTA an SM: the roles of a Blackwell GEMM with nothing
// left out. A CTA is persistent over tiles of 128 x 128.
//
//   copies    A and B of a K block -> stage                     | operands_empty -> operands_full
//   mma       four products of K = 16 -> an accumulator in      | operands_full, sums_empty
//             tensor memory                                     |      -> operands_empty, sums_full
//   epilogue  accumulator -> registers -> shared memory         | sums_full -> sums_empty
//             -> (copy engine) -> D, 32 columns at a time       |
//
// The right column names the mbarriers waited for and arrived on. What the mma thread frees and
// fills it signals by commits, which come when its products are finished. The epilogue warps meet
// at a named barrier twice for each 32 columns: before the buffer is written, when its last store
// has read it, and after.
//
// Warp 0 allocates tensor memory and frees it at its end. By then every load of the epilogue is
// behind the barrier before the last store, and every product behind the last sums_full: nothing
// more is needed.
//
// kernels/tcgen05_gemm/mutations.tsv says of every synchronising instruction what comes of it when
// it is left out.

#include "../ptx/barrier.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/tcgen05.cuh"
#include "../ptx/tcgen05_descriptors.cuh"
#include "../ptx/tma.cuh"
#include "../ptx/warp.cuh"
#include "epilogue.cuh"
#include "layout.h"

using namespace tcgen05_gemm;
namespace tcgen05 = ptx::tcgen05;

constexpr int kEpilogueThreads = 32 * kEpilogueWarps;
constexpr int kPartBarrier = 1;
constexpr int kMmaK = 16;

extern __shared__ Tiles<1> dynamic_shared[];
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
    ptx::mbarrier_init(sums_empty[stage], kEpilogueWarps);
  }
}

// Maps: A and B in boxes of 64 x 128, D in boxes of 32 x 128, all with 128B swizzle.
extern "C" __global__ void __launch_bounds__(kThreads, 1)
    gemm(const __grid_constant__ CUtensorMap a_map, const __grid_constant__ CUtensorMap b_map,
         const __grid_constant__ CUtensorMap d_map, int tiles_m, int tiles, int blocks_k) {
  const int warp = threadIdx.x / 32;
  Tiles<1>& shared = dynamic_shared[0];

  if (threadIdx.x == 0) init_barriers();
  if (warp == 0) tcgen05::alloc<kTensorColumns>(tensor_base);
  ptx::cta_sync();
  const tcgen05::Address base = tensor_base;

  if (warp < kEpilogueWarps) {
    const int row = threadIdx.x;
    const bool stores = threadIdx.x == 0;
    uint32_t use = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++use) {
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
          if (threadIdx.x % 32 == 0) ptx::mbarrier_arrive(sums_empty[slot]);
        }
        auto& buffer = shared.d[part % kPartBuffers];
        if (stores) ptx::wait_until_stores_have_read<kPartBuffers - 1>();
        ptx::named_sync<kPartBarrier, kEpilogueThreads>();
        store_part(buffer[row], values, row);
        ptx::fence_proxy_async_shared();
        ptx::named_sync<kPartBarrier, kEpilogueThreads>();
        if (stores) {
          ptx::tma_store(&d_map, tile / tiles_m * kTileN + part * kPart, tile % tiles_m * kTileM,
                         buffer);
          ptx::commit_stores();
        }
      }
    }
    if (stores) ptx::wait_until_stores_have_read<0>();
    if (warp == 0) {
      tcgen05::relinquish_alloc_permit();
      tcgen05::dealloc<kTensorColumns>(base);
    }
  } else if (warp == kCopyWarp && ptx::elect_one()) {
    uint32_t use = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x) {
      for (int block = 0; block < blocks_k; ++block, ++use) {
        const int stage = use % kStages;
        ptx::Mbarrier& full = operands_full[stage];
        ptx::mbarrier_wait(operands_empty[stage], parity<kStages>(use) ^ 1);
        ptx::mbarrier_arrive_expect_tx(full, kStageBytes<1>);
        ptx::tma_load(shared.a[stage], &a_map, block * kBlockK, tile % tiles_m * kTileM, full);
        ptx::tma_load(shared.b[stage], &b_map, block * kBlockK, tile / tiles_m * kTileN, full);
      }
    }
  } else if (warp == kMmaWarp && ptx::elect_one()) {
    const uint32_t instruction = tcgen05::instruction_bf16(kTileM, kTileN);
    uint32_t use = 0, sums_use = 0;
    for (int tile = blockIdx.x; tile < tiles; tile += gridDim.x, ++sums_use) {
      const int slot = sums_use % kAccumulators;
      ptx::mbarrier_wait(sums_empty[slot], parity<kAccumulators>(sums_use) ^ 1);
      tcgen05::fence_after_signal();
#pragma unroll 1
      for (int block = 0; block < blocks_k; ++block, ++use) {
        const int stage = use % kStages;
        const uint64_t a = tcgen05::swizzled_rows(shared.a[stage]);
        const uint64_t b = tcgen05::swizzled_rows(shared.b[stage]);
        ptx::mbarrier_wait(operands_full[stage], parity<kStages>(use));
        for (int k = 0; k < kBlockK; k += kMmaK) {
          const int bytes = k * int(sizeof(Bf16));
          tcgen05::mma_f16(base + slot * kTileN, tcgen05::advanced(a, bytes),
                           tcgen05::advanced(b, bytes), instruction, block > 0 || k > 0);
        }
        tcgen05::commit(operands_empty[stage]);
      }
      tcgen05::commit(sums_full[slot]);
    }
  }
}
