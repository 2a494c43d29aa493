#pragma once
// Vectors as wide as the machine's registers, by the compiler's vector types: for kernels that the
// auto-vectoriser does not find. Only for *.simd.cpp files.

#include <bit>
#include <cstdint>
#include <cstring>
#include <utility>

#include "arith/bits.h"

namespace lw::arith {

namespace v2 {
inline constexpr int kWidth = 4;
}
namespace v3 {
inline constexpr int kWidth = 8;
}
namespace v4 {
inline constexpr int kWidth = 16;
}

namespace LW_SIMD_NAMESPACE {

using F = float __attribute__((vector_size(4 * kWidth)));
using I = int32_t __attribute__((vector_size(4 * kWidth)));
using U = uint32_t __attribute__((vector_size(4 * kWidth)));
using Shorts = uint16_t __attribute__((vector_size(4 * kWidth)));
using Bytes = uint8_t __attribute__((vector_size(4 * kWidth)));

LW_INLINE F as_f(I x) { return reinterpret_cast<F>(x); }
LW_INLINE I as_i(F x) { return reinterpret_cast<I>(x); }
LW_INLINE I as_i(U x) { return reinterpret_cast<I>(x); }
LW_INLINE U as_u(I x) { return reinterpret_cast<U>(x); }
LW_INLINE F to_f(I x) { return __builtin_convertvector(x, F); }
LW_INLINE I to_i(F x) { return __builtin_convertvector(x, I); }  // cut towards zero
LW_INLINE I broadcast(int32_t x) { return I{} + x; }
// The same, its value hidden from the compiler: it would make constants anew in every round of a
// loop rather than keep them in memory, of which it reads them for nothing.
LW_INLINE I held(int32_t x) {
  I value = broadcast(x);
  asm("" : "+x"(value));
  return value;
}

LW_INLINE I max(I a, I b) { return a > b ? a : b; }
LW_INLINE I min(I a, I b) { return a < b ? a : b; }

LW_INLINE I load(const void* from) {
  I x;
  std::memcpy(&x, from, sizeof x);
  return x;
}
LW_INLINE void store(void* to, I x) { std::memcpy(to, &x, sizeof x); }

// --- transposition in blocks of four lanes: element i of block q of row j <-> element j of row i
// ---

constexpr int interleave_index(int lane, int half) {  // a0 b0 a1 b1, or a2 b2 a3 b3
  return lane / 4 * 4 + half * 2 + lane % 4 / 2 + lane % 2 * kWidth;
}
constexpr int pair_index(int lane, int half) {  // a0 a1 b0 b1, or a2 a3 b2 b3
  return lane / 4 * 4 + half * 2 + lane % 2 + lane % 4 / 2 * kWidth;
}
template <int kHalf, int... kLane>
LW_INLINE I interleave(I a, I b, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(a, b, interleave_index(kLane, kHalf)...);
}
template <int kHalf, int... kLane>
LW_INLINE I pair_up(I a, I b, std::integer_sequence<int, kLane...>) {
  return __builtin_shufflevector(a, b, pair_index(kLane, kHalf)...);
}
LW_INLINE void transpose_blocks(I (&v)[4]) {
  constexpr std::make_integer_sequence<int, kWidth> kLanes{};
  I a = interleave<0>(v[0], v[1], kLanes);
  I b = interleave<0>(v[2], v[3], kLanes);
  I c = interleave<1>(v[0], v[1], kLanes);
  I d = interleave<1>(v[2], v[3], kLanes);
  v[0] = pair_up<0>(a, b, kLanes);
  v[1] = pair_up<1>(a, b, kLanes);
  v[2] = pair_up<0>(c, d, kLanes);
  v[3] = pair_up<1>(c, d, kLanes);
}

}  // namespace LW_SIMD_NAMESPACE
}  // namespace lw::arith
