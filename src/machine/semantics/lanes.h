#pragma once
// Handlers made from a function on one lane: `elementwise<Function, Result, Sources...>`.
//
// The loops are plain; the compiler makes vectors of them. In a *.simd.cpp file the same templates
// exist once per vector level (LW_SIMD_NAMESPACE) and the level is chosen when an instruction is
// bound; everywhere else they are compiled once. Everything here is inlined or lives in that
// namespace: no copy built for AVX-512 may be shared with other files.
//
// A PTX type stands in a slot of 4 or 8 bytes a lane, shorter ones zero-extended. A full handler
// writes all 32 lanes; a masked one computes all and blends (measured faster than masked stores).

#include <bit>
#include <cstdint>
#include <type_traits>

#include "machine/dispatch.h"
#include "machine/warp.h"

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef LW_SIMD_NAMESPACE
#define LW_SIMD_NAMESPACE once
#endif

namespace lw::machine::LW_SIMD_NAMESPACE {

inline constexpr int kLanes = base::kWarpSize;

#if defined(__FMA__)
inline constexpr bool kHasFma = true;
#else
inline constexpr bool kHasFma = false;  // the host's fma is a slow function
#endif

template <class T>
using Storage = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

template <class T>
LW_ALWAYS_INLINE T unpack(Storage<T> stored) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<T>(stored);
  else
    return static_cast<T>(stored);
}
template <class T>
LW_ALWAYS_INLINE Storage<T> pack(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::bit_cast<Storage<T>>(value);
  else
    return static_cast<Storage<T>>(static_cast<std::make_unsigned_t<T>>(value));
}

template <class T>
LW_ALWAYS_INLINE Storage<T>* lanes_at(std::byte* registers, Slot slot) {
  return static_cast<Storage<T>*>(__builtin_assume_aligned(registers + slot.offset, 64));
}

// Bit i in word i: a mask is spread over a vector by one AND with it (a shift by the lane number is
// not made into vector code).
template <class Word>
struct LaneBits {
  alignas(64) Word bit[kLanes];
  constexpr LaneBits() : bit() {
    for (int lane = 0; lane < kLanes; ++lane) bit[lane] = Word{1} << lane;
  }
};
template <class Word>
inline constexpr LaneBits<Word> kLaneBits;

template <class Word = uint32_t>
LW_ALWAYS_INLINE bool has(LaneMask mask, int lane) {
  return (Word{mask} & kLaneBits<Word>.bit[lane]) != 0;
}

// d[lane] = value(lane) in the lanes that run.
template <Mode mode, class T, class Value>
LW_ALWAYS_INLINE void write_lanes(Storage<T>* d, LaneMask active, Value value) {
  if constexpr (mode == Mode::full) {
#pragma GCC ivdep
    for (int lane = 0; lane < kLanes; ++lane) d[lane] = pack<T>(value(lane));
  } else {
#pragma GCC ivdep
    for (int lane = 0; lane < kLanes; ++lane) {
      Storage<T> result = pack<T>(value(lane));
      Storage<T> old = d[lane];
      d[lane] = has<Storage<T>>(active, lane) ? result : old;
    }
  }
}

// d = Function(a, b, c), as many sources as there are types.
template <Mode mode, class Function, class D, class A, class B = void, class C = void>
void run_elementwise(const Op* op, std::byte* registers, Warp& warp) {
  Storage<D>* d = lanes_at<D>(registers, op->d);
  const Storage<A>* a = lanes_at<A>(registers, op->a);
  if constexpr (std::is_void_v<B>) {
    write_lanes<mode, D>(d, warp.active,
                         [&](int i) LW_LAMBDA_INLINE { return Function()(unpack<A>(a[i])); });
  } else if constexpr (std::is_void_v<C>) {
    const Storage<B>* b = lanes_at<B>(registers, op->b);
    write_lanes<mode, D>(d, warp.active, [&](int i) LW_LAMBDA_INLINE {
      return Function()(unpack<A>(a[i]), unpack<B>(b[i]));
    });
  } else {
    const Storage<B>* b = lanes_at<B>(registers, op->b);
    const Storage<C>* c = lanes_at<C>(registers, op->c);
    write_lanes<mode, D>(d, warp.active, [&](int i) LW_LAMBDA_INLINE {
      return Function()(unpack<A>(a[i]), unpack<B>(b[i]), unpack<C>(c[i]));
    });
  }
  return next<mode>(op, registers, warp);
}

template <class Function, class D, class... Sources>
inline constexpr Handlers elementwise{&run_elementwise<Mode::full, Function, D, Sources...>,
                                      &run_elementwise<Mode::masked, Function, D, Sources...>};

// One bit per lane from 32 words that are 0 or all ones.
LW_ALWAYS_INLINE LaneMask pack_bits(const int32_t* words) {
  LaneMask bits = 0;
#if defined(__AVX512DQ__)
  bits = _mm512_movepi32_mask(_mm512_loadu_si512(words)) |
         static_cast<LaneMask>(_mm512_movepi32_mask(_mm512_loadu_si512(words + 16))) << 16;
#elif defined(__AVX2__)
  for (int i = 0; i < kLanes; i += 8) {
    __m256 part =
        _mm256_castsi256_ps(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(words + i)));
    bits |= static_cast<LaneMask>(_mm256_movemask_ps(part)) << i;
  }
#elif defined(__SSE2__)
  for (int i = 0; i < kLanes; i += 4) {
    __m128 part = _mm_castsi128_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(words + i)));
    bits |= static_cast<LaneMask>(_mm_movemask_ps(part)) << i;
  }
#else
  for (int i = 0; i < kLanes; ++i) bits |= static_cast<LaneMask>(words[i] & 1) << i;
#endif
  return bits;
}

// One vector register of this level.
#if defined(__AVX512F__)
inline constexpr size_t kVectorBytes = 64;
#elif defined(__AVX2__)
inline constexpr size_t kVectorBytes = 32;
#else
inline constexpr size_t kVectorBytes = 16;
#endif
template <class Word>
struct VectorOf {
  typedef Word Type __attribute__((vector_size(kVectorBytes)));
};
template <class Word>
using Vector = typename VectorOf<Word>::Type;
template <class Word>
inline constexpr int kPerVector = static_cast<int>(kVectorBytes / sizeof(Word));

template <class Word>
LW_ALWAYS_INLINE bool is_zero(Vector<Word> vector) {
#if defined(__AVX512F__)
  auto bits = reinterpret_cast<__m512i>(vector);
  return _mm512_test_epi64_mask(bits, bits) == 0;
#elif defined(__AVX2__)
  auto bits = reinterpret_cast<__m256i>(vector);
  return _mm256_testz_si256(bits, bits) != 0;
#else
  auto words = reinterpret_cast<Vector<uint64_t>>(vector);
  return (words[0] | words[1]) == 0;
#endif
}

// 0, 1, 2, ... as a table to load vectors from.
template <class Word>
struct LaneNumbers {
  alignas(64) Word number[kLanes];
  constexpr LaneNumbers() : number() {
    for (int lane = 0; lane < kLanes; ++lane) number[lane] = static_cast<Word>(lane);
  }
};
template <class Word>
inline constexpr LaneNumbers<Word> kLaneNumbers;

template <class Word>
LW_ALWAYS_INLINE Vector<Word> load_vector(const Word* from) {
  return *reinterpret_cast<const Vector<Word>*>(from);
}

// a[lane] == base + lane * stride in every lane of `mask` (in every lane: Mode::full).
template <auto stride, Mode mode, class Word>
LW_ALWAYS_INLINE bool is_row(const Word* a, LaneMask mask, Word base) {
  Vector<Word> differs = {};
  for (int first = 0; first < kLanes; first += kPerVector<Word>) {
    Vector<Word> expected = base + load_vector(kLaneNumbers<Word>.number + first) * Word{stride};
    Vector<Word> difference = load_vector(a + first) ^ expected;
    if constexpr (mode == Mode::masked) {
      Vector<Word> bits = load_vector(kLaneBits<Word>.bit + first) & Word{mask};
      difference &= reinterpret_cast<Vector<Word>>(bits != 0);
    }
    differs |= difference;
  }
  return is_zero<Word>(differs);
}

// The lanes in which `holds(lane)` does, running or not.
template <class Holds>
LW_ALWAYS_INLINE LaneMask lanes_where(Holds holds) {
  alignas(64) int32_t words[kLanes];
#pragma GCC ivdep
  for (int lane = 0; lane < kLanes; ++lane) words[lane] = holds(lane) ? -1 : 0;
  return pack_bits(words);
}

}  // namespace lw::machine::LW_SIMD_NAMESPACE
