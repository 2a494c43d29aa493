// The next owner of tensor memory: takes all of it, marks every cell, and frees it. It does nothing
// wrong; run beside the logits kernel, on another stream or as its programmatic dependent, it shows
// whether somebody still reads columns that were freed.
//
// One warp of 32 registers, since a CTA of the logits kernel leaves 1,024 of the SM's registers. A
// warp's stores would reach its own 32 lanes alone; copies from shared memory reach all 128.

#include "../ptx/barrier.cuh"
#include "../ptx/grid.cuh"
#include "../ptx/mbarrier.cuh"
#include "../ptx/tcgen05.cuh"
#include "../ptx/tcgen05_descriptors.cuh"
#include "../ptx/tma.cuh"
#include "../ptx/warp.cuh"
#include "layout.h"

namespace tcgen05 = ptx::tcgen05;

constexpr int kLanes = 128;
constexpr int kCopyColumns = 8;

__shared__ __align__(128) float marks[kLanes * kCopyColumns];
__shared__ ptx::Mbarrier marked;
__shared__ tcgen05::Address tensor_base;

extern "C" __global__ void __launch_bounds__(32) mark_tensor_memory(float mark) {
  for (int i = threadIdx.x; i < kLanes * kCopyColumns; i += 32) marks[i] = mark;
  ptx::fence_proxy_async_shared();
  if (threadIdx.x == 0) ptx::mbarrier_init(marked, 1);
  tcgen05::alloc<mqa_logits::kTensorColumns>(tensor_base);
  ptx::warp_sync();
  const tcgen05::Address base = tensor_base;

  if (ptx::elect_one()) {
    const uint64_t rows = tcgen05::half_rows(marks, kLanes);
#pragma unroll 1
    for (int column = 0; column < mqa_logits::kTensorColumns; column += kCopyColumns) {
      tcgen05::copy_128_rows(base + column, rows);
    }
    tcgen05::commit(marked);
  }
  ptx::mbarrier_wait(marked, 0);
  ptx::warp_sync();
  tcgen05::relinquish_alloc_permit();
  tcgen05::dealloc<mqa_logits::kTensorColumns>(base);
  // A dependent grid waits for its prerequisite at some point, lest it end first.
  ptx::wait_for_prerequisites();
}
