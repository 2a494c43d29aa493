#pragma once
// cvt between integers and floating point, and rounding to an integral value.
//
// Out of range clamps to the destination, infinities too. NaN: 0 from f16, bf16 and f32 to 8, 16
// and 32 bits, 8000000000000000 to 64 bits; from f64 the top bit of the destination alone, whatever
// its width and sign. [H200] PTX ISA "cvt". Tested in convert_test.cpp.

#include <cmath>
#include <limits>

#include "arith/bits.h"

namespace lw::arith {

// The value alone: NaN stays what the host makes of it.
LW_INLINE double integral(double x, Rounding rounding) {
  switch (rounding) {
    case Rounding::kTowardZero:
      return __builtin_trunc(x);
    case Rounding::kDown:
      return __builtin_floor(x);
    case Rounding::kUp:
      return __builtin_ceil(x);
    case Rounding::kNearestAway:
      return __builtin_round(x);
    default:
      return __builtin_nearbyint(x);  // the host always rounds to nearest even here
  }
}

// Clamps an integral value or an infinity.
template <class Int>
LW_INLINE Int clamped(double x) {
  using Limits = std::numeric_limits<Int>;
  // 2^(digits) is the first value above the range, and exact.
  constexpr double kAbove = static_cast<double>(uint64_t{1} << (Limits::digits - 1)) * 2.0;
  if (x >= kAbove) return Limits::max();
  if (x <= static_cast<double>(Limits::min())) return Limits::min();
  return static_cast<Int>(x);
}

// Int: int8_t ... uint64_t. f16 and bf16 sources widen to f32 first (exact, same NaN rule).
// cvt.{rni,rzi,rmi,rpi}{.ftz}: flush the operand first for .ftz.
template <class Int>
LW_INLINE Int int_from_f32(float x, Rounding rounding) {
  constexpr Int kNan = sizeof(Int) == 8 ? static_cast<Int>(uint64_t{1} << 63) : Int{0};
  return is_nan(x) ? kNan : clamped<Int>(integral(x, rounding));
}
template <class Int>
LW_INLINE Int int_from_f64(double x, Rounding rounding) {
  constexpr Int kNan = static_cast<Int>(uint64_t{1} << (8 * sizeof(Int) - 1));
  return is_nan(x) ? kNan : clamped<Int>(integral(x, rounding));
}

// cvt.{rn,rz,rm,rp} from any integer type, widened to 64 bits by the caller's conversion.
float f32_from_int(int64_t x, Rounding rounding);
float f32_from_int(uint64_t x, Rounding rounding);
double f64_from_int(int64_t x, Rounding rounding);
double f64_from_int(uint64_t x, Rounding rounding);
uint16_t f16_from_int(int64_t x, Rounding rounding);
uint16_t f16_from_int(uint64_t x, Rounding rounding);
uint16_t bf16_from_int(int64_t x, Rounding rounding);
uint16_t bf16_from_int(uint64_t x, Rounding rounding);

// cvt.rn.f32.s32 and .u32, the hot ones.
LW_INLINE float f32_from_s32_rn(int32_t x) { return static_cast<float>(x); }
LW_INLINE float f32_from_u32_rn(uint32_t x) { return static_cast<float>(x); }

// cvt.{rni,rzi,rmi,rpi}.f32.f32 and .f64.f64: integral values; NaN 7fffffff (f64: kept, quieted).
LW_INLINE float round_to_integral(float x, Rounding rounding) {
  return canonical_nan(static_cast<float>(integral(x, rounding)));
}
LW_INLINE double round_to_integral_f64(double x, Rounding rounding) {
  return is_nan(x) ? f64_of(bits_of(x) | uint64_t{1} << 51) : integral(x, rounding);
}

}  // namespace lw::arith
