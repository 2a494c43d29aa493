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

// Box of a rank-2 tensor, from shared to global memory, in the bulk group that this thread commits
// next. What it reads was written by ordinary stores: each writer's proxy fence comes first.
__device__ __forceinline__ void tma_store(const CUtensorMap* map, int x, int y,
                                          const void* source) {
  asm volatile(
      "cp.async.bulk.tensor.2d.global.shared::cta.tile.bulk_group [%0, {%1, %2}], [%3];" ::"l"(map),
      "r"(x), "r"(y), "r"(shared_address(source))
      : "memory");
}

__device__ __forceinline__ void commit_stores() {
  asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}

// All but the newest `kLeft` groups of this thread have read their sources.
template <int kLeft>
__device__ __forceinline__ void wait_until_stores_have_read() {
  asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

}  // namespace ptx
