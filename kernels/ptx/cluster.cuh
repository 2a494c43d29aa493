#pragma once
// Clusters of CTAs (PTX: barrier.cluster, mapa, mbarrier in shared::cluster).

#include <cstdint>

#include "mbarrier.cuh"

namespace ptx {

__device__ __forceinline__ uint32_t cluster_rank() {
  uint32_t rank;
  asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}

// All threads of the cluster; orders their accesses as a CTA barrier does.
__device__ __forceinline__ void cluster_sync() {
  asm volatile(
      "barrier.cluster.arrive.release;\n"
      "barrier.cluster.wait.acquire;" ::
          : "memory");
}

// This thread's earlier inits of mbarriers, for the whole cluster: before a cluster barrier.
__device__ __forceinline__ void fence_mbarrier_init() {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
}

// The address that `place`, in this CTA, has in the CTA of `rank`.
__device__ __forceinline__ uint32_t address_in_rank(const void* place, uint32_t rank) {
  uint32_t address;
  asm volatile("mapa.shared::cluster.u32 %0, %1, %2;"
               : "=r"(address)
               : "r"(shared_address(place)), "r"(rank));
  return address;
}

// An arrival that releases to the cluster, on an object at such an address.
__device__ __forceinline__ void mbarrier_arrive_in_cluster(uint32_t address) {
  asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(address)
               : "memory");
}

// Returns once the phase of this parity is complete; acquires what the cluster released.
__device__ __forceinline__ void mbarrier_wait_for_cluster(Mbarrier& barrier, uint32_t parity) {
  uint32_t complete;
  do {
    asm volatile(
        "{\n"
        ".reg .pred complete;\n"
        "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 complete, [%1], %2;\n"
        "selp.u32 %0, 1, 0, complete;\n"
        "}"
        : "=r"(complete)
        : "r"(shared_address(&barrier)), "r"(parity)
        : "memory");
  } while (complete == 0);
}

}  // namespace ptx
