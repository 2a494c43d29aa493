#include "arith/mufu.h"

#include <cmath>

#include "arith/float32.h"
#include "arith/formats.h"
#include "arith/mufu_unit.h"
#include "base/vector_level.h"

namespace lw::arith {

float ex2_approx(float x, bool ftz) {
  return f32_of(ftz ? unit::ex2(bits_of(x)) : unit::ex2_plain(bits_of(x)));
}
float lg2_approx(float x, bool ftz) {
  return f32_of(ftz ? unit::lg2(bits_of(x)) : unit::lg2_plain(bits_of(x)));
}
float rcp_approx(float x, bool ftz) {
  return f32_of(ftz ? unit::rcp(bits_of(x)) : unit::rcp_plain(bits_of(x)));
}
float rsqrt_approx(float x, bool ftz) {
  return f32_of(ftz ? unit::rsqrt(bits_of(x)) : unit::rsqrt_plain(bits_of(x)));
}
float sqrt_approx(float x, bool ftz) {
  return f32_of(ftz ? unit::sqrt(bits_of(x)) : unit::sqrt_plain(bits_of(x)));
}
float sin_approx(float x) { return f32_of(unit::sin_cos<false>(bits_of(x))); }
float cos_approx(float x) { return f32_of(unit::sin_cos<true>(bits_of(x))); }
float tanh_approx(float x) { return f32_of(unit::tanh(bits_of(x))); }

float div_approx(float a, float b, bool ftz) {
  FloatMode mode{.ftz = ftz};
  if (!ftz && unit::below_normal(bits_of(b))) {
    a = mul(a, 16777216.0f, mode);
    b = mul(b, 16777216.0f, mode);
  }
  return mul(a, rcp_approx(b, true), mode);
}

float div_full(float a, float b, bool ftz) {
  FloatMode mode{.ftz = ftz};
  if ((bits_of(b) & ~kSignF32) > 0x7e800000) {
    a = mul(a, 0.25f, mode);
    b = mul(b, 0.25f, mode);
  }
  return div_approx(a, b, ftz);
}

// Cut to f16; 2^16 and above is infinite, and the unit's NaN is 7fffffff.
static uint16_t cut_to_f16(float x) {
  if ((bits_of(x) & ~kSignF32) >= 0x47800000)
    return f16_from_f32_rn(x);  // Inf or NaN: nothing is left to round
  return f16_from_f32(x, {.rounding = Rounding::kTowardZero});
}

uint16_t ex2_approx_f16(uint16_t x) { return cut_to_f16(ex2_approx(f32_from_f16(x), true)); }
uint16_t tanh_approx_f16(uint16_t x) { return cut_to_f16(tanh_approx(f32_from_f16(x))); }
uint16_t ex2_approx_ftz_bf16(uint16_t x) {
  return static_cast<uint16_t>(bits_of(ex2_approx(f32_from_bf16(x), true)) >> 16);
}
uint16_t tanh_approx_bf16(uint16_t x) {
  return static_cast<uint16_t>(bits_of(tanh_approx(f32_from_bf16(x))) >> 16);
}

// The f64 forms see the high word alone: 20 fraction bits become an f32 in [1, 2) (rsqrt: [1, 4)),
// and its result's top 20 fraction bits the result's.
static double from_high_word(uint32_t high) { return f64_of(uint64_t{high} << 32); }

double rcp_approx_ftz_f64(double x) {
  uint32_t high = static_cast<uint32_t>(bits_of(x) >> 32);
  uint32_t sign = high & kSignF32;
  int32_t exponent = static_cast<int32_t>(high >> 20 & 0x7ff);
  uint32_t fraction = high & 0xfffff;
  if (exponent == 0x7ff) return from_high_word(fraction != 0 ? kNanF32 : sign);
  if (exponent == 0) return from_high_word(sign | 0x7ff00000u);
  uint32_t r = unit::rcp(unit::kOne | fraction << 3);
  int32_t field = 2046 - exponent - (r == unit::kOne ? 0 : 1);
  if (field <= 0) return from_high_word(sign);
  return from_high_word(sign | static_cast<uint32_t>(field) << 20 | (r & unit::kFraction) >> 3);
}

double rsqrt_approx_ftz_f64(double x) {
  uint32_t high = static_cast<uint32_t>(bits_of(x) >> 32);
  uint32_t sign = high & kSignF32;
  int32_t exponent = static_cast<int32_t>(high >> 20 & 0x7ff);
  uint32_t fraction = high & 0xfffff;
  if (exponent == 0) return from_high_word(sign | 0x7ff00000u);
  if (exponent == 0x7ff && fraction == 0 && sign == 0) return 0.0;
  if (exponent == 0x7ff || sign != 0) return from_high_word(kNanF32);
  int32_t odd = (exponent - 1023) & 1;
  uint32_t r = unit::rsqrt(unit::kOne + (static_cast<uint32_t>(odd) << 23) + (fraction << 3));
  int32_t field = static_cast<int32_t>(r >> 23) - 127 + 1023 - ((exponent - 1023) >> 1);
  return from_high_word(static_cast<uint32_t>(field) << 20 | (r & unit::kFraction) >> 3);
}

namespace {

double rsqrt_step(double x) {
  const double y = rsqrt_approx_ftz_f64(x);
  const double error = std::fma(x, -(y * y), 1.0);
  return std::fma(std::fma(error, 0.375, 0.5), y * error, y);
}

}  // namespace

double rsqrt_approx_f64(double x) {
  constexpr uint64_t kNegativeResult = 0xfff8000000000000, kQuiet = 0x0008000000000000;
  const uint64_t bits = bits_of(x);
  if (x == 0) return f64_of((bits & uint64_t{1} << 63) | 0x7ff0000000000000);
  if (std::isnan(x)) return f64_of(bits | kQuiet);
  if (std::signbit(x)) return f64_of(kNegativeResult);
  if (std::isinf(x)) return 0;
  if (bits >> 52 == 0) return rsqrt_step(x * 0x1p54) * 0x1p27;
  return rsqrt_step(x);
}

#define LW_WARP_UNIT(name, function, table)                                                   \
  namespace v2 {                                                                              \
  void name(const uint32_t* in, uint32_t* out);                                               \
  }                                                                                           \
  namespace v3 {                                                                              \
  void name(const uint32_t* in, uint32_t* out);                                               \
  }                                                                                           \
  namespace v4 {                                                                              \
  void name(const uint32_t* in, uint32_t* out);                                               \
  }                                                                                           \
  static const WarpFunction chosen_##name = base::choose_level(v2::name, v3::name, v4::name); \
  void name(const uint32_t* in, uint32_t* out) { chosen_##name(in, out); }
#include "arith/mufu_warp.def"
#undef LW_WARP_UNIT

}  // namespace lw::arith
