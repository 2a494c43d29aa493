#pragma once
// mbarrier objects in the CTA's own shared memory (PTX: mbarrier). Arrivals release and waits
// acquire at CTA scope, the defaults.

#include "address.cuh"

namespace ptx {

using Mbarrier = uint64_t;

// Publish the initialised object with a CTA barrier. Nothing more is needed for the copies: they
// reach the object through the generic proxy.
__device__ __forceinline__ void mbarrier_init(Mbarrier& barrier, uint32_t arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(&barrier)),
               "r"(arrivals)
               : "memory");
}

__device__ __forceinline__ void mbarrier_arrive(Mbarrier& barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(&barrier))
               : "memory");
}

// One arrival that also announces the bytes that copies will bring in this phase.
__device__ __forceinline__ void mbarrier_arrive_expect_tx(Mbarrier& barrier, uint32_t bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(&barrier)),
      "r"(bytes)
      : "memory");
}

__device__ __forceinline__ bool mbarrier_try_wait(Mbarrier& barrier, uint32_t parity) {
  uint32_t complete;
  asm volatile(
      "{\n"
      ".reg .pred complete;\n"
      "mbarrier.try_wait.parity.shared::cta.b64 complete, [%1], %2;\n"
      "selp.u32 %0, 1, 0, complete;\n"
      "}"
      : "=r"(complete)
      : "r"(shared_address(&barrier)), "r"(parity)
      : "memory");
  return complete != 0;
}

// Returns once the phase of this parity is complete.
__device__ __forceinline__ void mbarrier_wait(Mbarrier& barrier, uint32_t parity) {
  while (!mbarrier_try_wait(barrier, parity)) {
  }
}

}  // namespace ptx
