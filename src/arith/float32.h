#pragma once
// f32 instructions: add sub mul fma div sqrt rcp, min max, and the bit operations.
//
// Model: IEEE 754, with the corners of the H200: every NaN result is 7fffffff; .ftz flushes inputs
// and results, keeping the sign, and a result is too small if it is after rounding to 24 bits with
// an exponent that has no bound. So (1 - 2^-24) * 2^-126 gives 0 although an f32 would round it up
// to the smallest normal number, and 2^-126 less a thousandth of that step does not.
//
// .rn is the host's own operation. The directed modes go through an f64 whose last bit is sticky
// (round to odd), which holds every information that one later rounding to 24 bits needs; no
// function touches the host's rounding mode. Tested against exact integers in float32_test.cpp and,
// with results of an H200, in ptx_operations_test.cpp. PTX ISA "Floating Point Instructions".

#include "arith/bits.h"

namespace lw::arith {

// The slow forms: any mode, and .rn.ftz where the rounded result is the smallest normal number.
float add_exactly(float a, float b, FloatMode mode);
float mul_exactly(float a, float b, FloatMode mode);
float fma_exactly(float a, float b, float c, FloatMode mode);
float div_exactly(float a, float b, FloatMode mode);
float sqrt_exactly(float a, FloatMode mode);

// Result of a host operation rounded to nearest, to what the device would give.
LW_INLINE float finish_rn(float r, FloatMode mode) {
  r = canonical_nan(mode.ftz ? flush(r) : r);
  return mode.sat ? saturate(r) : r;
}

LW_INLINE bool at_flush_edge(float r) { return (bits_of(r) & 0x7fffffffu) == 0x00800000u; }

LW_INLINE float add(float a, float b, FloatMode mode) {
  if (mode.rounding != Rounding::kNearestEven) return add_exactly(a, b, mode);
  if (mode.ftz) a = flush(a), b = flush(b);
  return finish_rn(a + b, mode);  // sums near 2^-126 are exact: no edge
}

LW_INLINE float sub(float a, float b, FloatMode mode) {
  return add(a, f32_of(bits_of(b) ^ kSignF32), mode);
}

LW_INLINE float mul(float a, float b, FloatMode mode) {
  if (mode.rounding != Rounding::kNearestEven) return mul_exactly(a, b, mode);
  if (mode.ftz) a = flush(a), b = flush(b);
  float r = a * b;
  if (mode.ftz && at_flush_edge(r)) [[unlikely]]
    return mul_exactly(a, b, mode);
  return finish_rn(r, mode);
}

LW_INLINE float fma(float a, float b, float c, FloatMode mode) {
  if (mode.rounding != Rounding::kNearestEven) return fma_exactly(a, b, c, mode);
  if (mode.ftz) a = flush(a), b = flush(b), c = flush(c);
  float r = __builtin_fmaf(a, b, c);
  if (mode.ftz && at_flush_edge(r)) [[unlikely]]
    return fma_exactly(a, b, c, mode);
  return finish_rn(r, mode);
}

LW_INLINE float div(float a, float b, FloatMode mode) {
  if (mode.rounding != Rounding::kNearestEven) return div_exactly(a, b, mode);
  if (mode.ftz) a = flush(a), b = flush(b);
  float r = a / b;
  if (mode.ftz && at_flush_edge(r)) [[unlikely]]
    return div_exactly(a, b, mode);
  return finish_rn(r, mode);
}

LW_INLINE float rcp(float a, FloatMode mode) { return div(1.0f, a, mode); }

LW_INLINE float sqrt(float a, FloatMode mode) {
  if (mode.rounding != Rounding::kNearestEven) return sqrt_exactly(a, mode);
  if (mode.ftz) a = flush(a);
  return finish_rn(__builtin_sqrtf(a), mode);  // never small
}

// neg, abs: additions on the device, so a NaN becomes 7fffffff.
LW_INLINE float neg(float a, bool ftz) {
  float r = f32_of(bits_of(a) ^ kSignF32);
  return canonical_nan(ftz ? flush(r) : r);
}
LW_INLINE float abs(float a, bool ftz) {
  float r = f32_of(bits_of(a) & ~kSignF32);
  return canonical_nan(ftz ? flush(r) : r);
}

// copysign d, a, b: the sign of a on the magnitude of b; no NaN rule.
LW_INLINE constexpr float copysign(float a, float b) {
  return f32_of((bits_of(a) & kSignF32) | (bits_of(b) & ~kSignF32));
}

// min and max. One NaN: the other operand (nan: 7fffffff); two: 7fffffff; -0 < +0.
// xorsign_abs: of the magnitudes, with the xor of the signs.
struct MinMaxMode {
  bool ftz = false;
  bool nan = false;
  bool xorsign_abs = false;
};

// Order of the bit patterns as signed integers once negative ones are mirrored: -0 < +0.
LW_INLINE constexpr int32_t total_order(uint32_t bits) {
  return static_cast<int32_t>(bits ^
                              (static_cast<uint32_t>(static_cast<int32_t>(bits) >> 31) >> 1));
}

LW_INLINE float select_min_max(float a, float b, bool want_max, MinMaxMode mode) {
  if (mode.ftz) a = flush(a), b = flush(b);
  uint32_t sign = mode.xorsign_abs ? (bits_of(a) ^ bits_of(b)) & kSignF32 : 0;
  if (mode.xorsign_abs) a = f32_of(bits_of(a) & ~kSignF32), b = f32_of(bits_of(b) & ~kSignF32);
  bool a_first = total_order(bits_of(a)) < total_order(bits_of(b));
  float r = a_first == want_max ? b : a;
  r = is_nan(a) ? b : is_nan(b) ? a : r;
  bool nan = mode.nan ? is_nan(a) || is_nan(b) : is_nan(a) && is_nan(b);
  return nan ? f32_of(kNanF32) : f32_of(bits_of(r) | sign);
}
LW_INLINE float min(float a, float b, MinMaxMode mode) { return select_min_max(a, b, false, mode); }
LW_INLINE float max(float a, float b, MinMaxMode mode) { return select_min_max(a, b, true, mode); }

// testp
LW_INLINE constexpr bool is_finite(float x) { return (bits_of(x) & 0x7f800000u) != 0x7f800000u; }
LW_INLINE constexpr bool is_infinite(float x) { return (bits_of(x) & ~kSignF32) == 0x7f800000u; }
LW_INLINE constexpr bool is_subnormal(float x) {
  return (bits_of(x) & 0x7f800000u) == 0 && (bits_of(x) & 0x007fffffu) != 0;
}
LW_INLINE constexpr bool is_normal(float x) {
  return is_finite(x) && (bits_of(x) & 0x7f800000u) != 0;
}

}  // namespace lw::arith
