#pragma once
// Named barriers (PTX: bar). Each orders the accesses of its participants before it with their
// accesses after it; no memory fence is needed beside it.

#include <cstdint>

namespace ptx {

// All threads of the CTA.
__device__ __forceinline__ void cta_sync() { asm volatile("bar.sync 0;" ::: "memory"); }

// The `kThreads` threads (whole warps) that use barrier `kId`.
template <int kId, int kThreads>
__device__ __forceinline__ void named_sync() {
  static_assert(kId > 0 && kId < 16 && kThreads % 32 == 0);
  asm volatile("bar.sync %0, %1;" ::"n"(kId), "n"(kThreads) : "memory");
}

__device__ __forceinline__ void warp_sync() {
  asm volatile("bar.warp.sync 0xffffffff;" ::: "memory");
}

}  // namespace ptx
