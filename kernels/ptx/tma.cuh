#pragma once
// Tensor copies by the bulk copy engine (PTX: cp.async.bulk.tensor), and the proxy fence they need.

#include <cuda.h>

#include "mbarrier.cuh"

namespace ptx {

// Box of a rank-3 tensor, from global to shared memory; its bytes complete on `full`.
__device__ __forceinline__ void tma_load(void* destination, const CUtensorMap* map, int x, int y,
                                         int z, Mbarrier& full) {
  asm volatile(
      "cp.async.bulk.tensor.3d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3, %4}], [%5];" ::"r"(shared_address(destination)),
      "l"(map), "r"(x), "r"(y), "r"(z), "r"(shared_address(&full))
      : "memory");
}

// Accesses this thread made or learnt of come before its later copies: the copy engine is another
// proxy, and a barrier alone does not carry a read of a slot to the copy that refills it.
__device__ __forceinline__ void fence_proxy_async_shared() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Box of a rank-2 tensor.
__device__ __forceinline__ void tma_load(void* destination, const CUtensorMap* map, int x, int y,
                                         Mbarrier& full) {
  asm volatile(
      "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
      "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(destination)),
      "l"(map), "r"(x), "r"(y), "r"(shared_address(&full))
      : "memory");
}

}  // namespace ptx
