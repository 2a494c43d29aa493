#pragma once
// The 32-bit address that instructions on `.shared::cta` want, from a C++ pointer to shared memory.

#include <cstdint>

namespace ptx {

__device__ __forceinline__ uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

}  // namespace ptx
