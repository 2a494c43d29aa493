#pragma once
// tcgen05 by a pair of CTAs (cta_group::2): those whose ranks in the cluster differ in the last
// bit. Addresses in tensor memory and descriptors of shared memory mean the same place in both. See
// tcgen05.cuh.

#include <cuda.h>

#include "mbarrier.cuh"
#include "tcgen05.cuh"

namespace ptx::tcgen05_pair {

using tcgen05::Address;

// By one warp of each CTA, together. Each stores the address in its own shared memory.
template <int kColumns>
__device__ __forceinline__ void alloc(Address& result) {
  static_assert(kColumns >= 32 && kColumns <= 512 && (kColumns & (kColumns - 1)) == 0);
  asm volatile("tcgen05.alloc.cta_group::2.sync.aligned.shared::cta.b32 [%0], %1;" ::"r"(
                   shared_address(&result)),
               "n"(kColumns)
               : "memory");
}

template <int kColumns>
__device__ __forceinline__ void dealloc(Address base) {
  asm volatile("tcgen05.dealloc.cta_group::2.sync.aligned.b32 %0, %1;" ::"r"(base), "n"(kColumns)
               : "memory");
}

__device__ __forceinline__ void relinquish_alloc_permit() {
  asm volatile("tcgen05.relinquish_alloc_permit.cta_group::2.sync.aligned;" ::: "memory");
}

// d (+)= a b^T in bf16 with fp32 sums, K = 16, by one thread of the even CTA: of a and d each CTA
// has half the rows, of b half.
__device__ __forceinline__ void mma_f16(Address d, uint64_t a, uint64_t b, uint32_t instruction,
                                        bool accumulate) {
  asm volatile(
      "{\n"
      ".reg .pred accumulate;\n"
      "setp.ne.b32 accumulate, %4, 0;\n"
      "tcgen05.mma.cta_group::2.kind::f16 [%0], %1, %2, %3, accumulate;\n"
      "}" ::"r"(d),
      "l"(a), "l"(b), "r"(instruction), "r"(static_cast<uint32_t>(accumulate))
      : "memory");
}

// One arrival on the objects at this place in both CTAs, once every earlier product of this thread
// is finished.
__device__ __forceinline__ void commit_to_both(Mbarrier& barrier) {
  asm volatile(
      "tcgen05.commit.cta_group::2.mbarrier::arrive::one.shared::cluster.multicast::cluster.b64 "
      "[%0], %1;" ::"r"(shared_address(&barrier)),
      "h"(static_cast<uint16_t>(3))
      : "memory");
}

// Box of a rank-2 tensor to this CTA's shared memory; its bytes complete on the object at an
// address in the pair.
__device__ __forceinline__ void tma_load(void* destination, const CUtensorMap* map, int x, int y,
                                         uint32_t full) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
      ".cta_group::2 [%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(destination)),
      "l"(map), "r"(x), "r"(y), "r"(full)
      : "memory");
}

}  // namespace ptx::tcgen05_pair
