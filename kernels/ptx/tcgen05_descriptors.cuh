#pragma once
// The words that tell tcgen05.mma what its operands are (PTX: instruction descriptor, shared memory
// descriptor). Only what our kernels use: e4m3 or bf16 operands with fp32 sums, both K-major, in
// rows of 128 bytes that are swizzled as the copy engine's 128B mode leaves them.

#include <cstdint>

#include "address.cuh"

namespace ptx::tcgen05 {

// D [m, n] in fp32, A [m, 32] and B [n, 32] in e4m3. The fields left 0: dense, e4m3 (0) twice, no
// negation, K-major twice.
__device__ __forceinline__ uint32_t instruction_e4m3(int m, int n) {
  constexpr uint32_t kSumsF32 = 1u << 4;
  return kSumsF32 | static_cast<uint32_t>(n / 8) << 17 | static_cast<uint32_t>(m / 16) << 24;
}

// A byte distance or address in a descriptor: in units of 16, of the 18 bits that shared memory
// has.
__device__ __forceinline__ uint64_t in_units(uint32_t bytes) { return (bytes & 0x3ffff) >> 4; }

constexpr uint64_t kDescriptorVersion = uint64_t{1} << 46;

// Rows of 128 bytes, eight of them a swizzle pattern; `rows` starts at a multiple of 1,024 bytes.
__device__ __forceinline__ uint64_t swizzled_rows(const void* rows) {
  constexpr uint64_t kLeading = uint64_t{1} << 16;                // unused in this layout
  constexpr uint64_t kPatternStride = uint64_t{1024 / 16} << 32;  // from 8 rows to the next 8
  constexpr uint64_t kSwizzle128 = uint64_t{2} << 61;
  return kSwizzle128 | kDescriptorVersion | kPatternStride | kLeading |
         in_units(shared_address(rows));
}

// `count` rows of 32 bytes without swizzle, in halves of 16: first the first half of every row,
// then the second.
__device__ __forceinline__ uint64_t half_rows(const void* rows, int count) {
  constexpr uint64_t kStride = uint64_t{8 * 16 / 16} << 32;  // from 8 rows to the next 8
  return kDescriptorVersion | kStride | in_units(16 * count) << 16 | in_units(shared_address(rows));
}

// The same rows from byte `bytes` on (a multiple of 16). The swizzle works on the final address, so
// a start inside a row of the pattern is right.
__device__ __forceinline__ uint64_t advanced(uint64_t descriptor, int bytes) {
  return descriptor + static_cast<uint64_t>(bytes / 16);
}

// D [m, n] in fp32, A [m, 16] and B [n, 16] in bf16.
__device__ __forceinline__ uint32_t instruction_bf16(int m, int n) {
  constexpr uint32_t kBf16 = 1u << 7 | 1u << 10;  // A and B
  return instruction_e4m3(m, n) | kBf16;
}

}  // namespace ptx::tcgen05
