#pragma once
// Copies of 16 bytes from global to shared memory by the thread itself (PTX: cp.async). A wait
// makes them visible to the waiting thread alone: a barrier after it tells the others.

#include "address.cuh"

namespace ptx {

__device__ __forceinline__ void cp_async_16(void* destination, const void* source) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(shared_address(destination)),
               "l"(source)
               : "memory");
}

__device__ __forceinline__ void cp_async_commit() {
  asm volatile("cp.async.commit_group;" ::: "memory");
}

// Until at most `kNewest` of this thread's groups are unfinished.
template <int kNewest>
__device__ __forceinline__ void cp_async_wait() {
  asm volatile("cp.async.wait_group %0;" ::"n"(kNewest) : "memory");
}

}  // namespace ptx
