#pragma once
// Waiting by the clock.

#include <cstdint>

namespace ptx {

__device__ __forceinline__ uint64_t global_timer_ns() {
  uint64_t now;
  asm volatile("mov.u64 %0, %globaltimer;" : "=l"(now)::"memory");
  return now;
}

__device__ __forceinline__ void spin_ns(uint64_t duration) {
  const uint64_t start = global_timer_ns();
  while (global_timer_ns() - start < duration) {
  }
}

}  // namespace ptx
