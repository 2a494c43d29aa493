#pragma once
// The short floating-point formats: f16, bf16, tf32, e4m3, e5m2, e3m2, e2m3, e2m1, ue8m0.
//
// Widening is exact. Narrowing rounds once, from f32 or f64, in any mode of PTX; NaN, overflow and
// .satfinite as PTX ISA "cvt" and the H200 have it. Tested in formats_test.cpp against exact
// integers. Values travel as raw bits: a NaN payload must survive being carried.

#include "arith/bits.h"

namespace lw::arith {

// A binary format: sign (but ue8m0), exponent, fraction. `top` says what the largest exponent field
// means.
struct Format {
  enum class Top : uint8_t { kInfinityAndNan, kOneNan, kNumbers };

  int exponent_bits;
  int fraction_bits;
  int bias;
  Top top;

  friend constexpr bool operator==(const Format&, const Format&) = default;
};

inline constexpr Format kF16{5, 10, 15, Format::Top::kInfinityAndNan};
inline constexpr Format kBf16{8, 7, 127, Format::Top::kInfinityAndNan};
inline constexpr Format kTf32{8, 10, 127, Format::Top::kInfinityAndNan};  // bits 31-13 of an f32
inline constexpr Format kF32{8, 23, 127, Format::Top::kInfinityAndNan};
inline constexpr Format kF64{11, 52, 1023, Format::Top::kInfinityAndNan};
inline constexpr Format kE5m2{5, 2, 15, Format::Top::kInfinityAndNan};
inline constexpr Format kE4m3{4, 3, 7, Format::Top::kOneNan};
inline constexpr Format kE3m2{3, 2, 3, Format::Top::kNumbers};
inline constexpr Format kE2m3{2, 3, 1, Format::Top::kNumbers};
inline constexpr Format kE2m1{2, 1, 1, Format::Top::kNumbers};

// How a value is narrowed. relu: negative results become +0.
struct Narrowing {
  Rounding rounding = Rounding::kNearestEven;
  bool satfinite = false;
  bool relu = false;
};

// --- exact, to f32 ---

// cvt.f32.f16: any NaN becomes 7fffffff.
LW_INLINE constexpr float f32_from_f16(uint16_t x) {
  uint32_t magnitude = static_cast<uint32_t>(x & 0x7fff) << 13;
  uint32_t normal = magnitude + (112u << 23);
  float subnormal = f32_of(magnitude + (113u << 23)) - f32_of(113u << 23);
  uint32_t bits = magnitude < (1u << 23) ? bits_of(subnormal) : normal;
  bits = magnitude >= (31u << 23) ? magnitude + (224u << 23) : bits;
  bits = magnitude > (31u << 23) ? kNanF32 : bits | static_cast<uint32_t>(x & 0x8000) << 16;
  return f32_of(bits);
}

// cvt.f32.bf16: a shift; NaN payloads are kept.
LW_INLINE constexpr float f32_from_bf16(uint16_t x) {
  return f32_of(static_cast<uint32_t>(x) << 16);
}

float f32_from_e4m3(uint8_t x);  // NaN: 7fffffff, here and below
float f32_from_e5m2(uint8_t x);
float f32_from_e3m2(uint8_t x);   // low six bits
float f32_from_e2m3(uint8_t x);   // low six bits
float f32_from_e2m1(uint8_t x);   // low four bits
float f32_from_ue8m0(uint8_t x);  // 2^(x - 127), 255: NaN

// --- f32 to short, .rn (the hot ones) ---

LW_INLINE constexpr uint16_t f16_from_f32_rn(float x) {
  uint32_t bits = bits_of(x);
  uint32_t sign = (bits >> 16) & 0x8000;
  uint32_t magnitude = bits & 0x7fffffff;
  // Normal: nearest even by adding half of the last place, less one if the place is even.
  uint32_t normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - (112u << 23)) >> 13;
  // Subnormal: the host's own rounding, at the place value 2^-24 that adding 0.5 gives.
  uint32_t subnormal = bits_of(f32_of(magnitude) + 0.5f) - bits_of(0.5f);
  uint32_t result = magnitude < (113u << 23) ? subnormal : normal;
  result = magnitude >= 0x47800000 ? 0x7c00 : result;
  return static_cast<uint16_t>(magnitude > 0x7f800000 ? kNanF16 : result | sign);
}

LW_INLINE constexpr uint16_t bf16_from_f32_rn(float x) {
  uint32_t bits = bits_of(x);
  uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
  return static_cast<uint16_t>(is_nan(x) ? kNanF16 : rounded);
}

// cvt.rn.f16x2.f32 d, a, b: the first source goes to the high half.
LW_INLINE constexpr uint32_t pack16(uint16_t high, uint16_t low) {
  return static_cast<uint32_t>(high) << 16 | low;
}

// --- f32 or f64 to short, every mode ---

uint16_t f16_from_f32(float x, Narrowing how);
uint16_t bf16_from_f32(float x, Narrowing how);
uint16_t f16_from_f64(double x, Narrowing how);
uint16_t bf16_from_f64(double x, Narrowing how);
uint32_t tf32_from_f32(float x, Narrowing how);  // f32 bits, the low 13 are zero

// The eight-bit and shorter formats: always .satfinite in PTX. NaN: 7f in e4m3 and e5m2, the
// largest number where the format has no NaN.
uint8_t e4m3_from_f32(float x, Narrowing how);
uint8_t e5m2_from_f32(float x, Narrowing how);
uint8_t e3m2_from_f32(float x, Narrowing how);
uint8_t e2m3_from_f32(float x, Narrowing how);
uint8_t e2m1_from_f32(float x, Narrowing how);
uint8_t ue8m0_from_f32(float x, Narrowing how);  // .rz or .rp; NaN: ff

// f16 with e4m3 or e5m2 in it; NaN: 7fff.
uint16_t f16_from_e4m3(uint8_t x);
uint16_t f16_from_e5m2(uint8_t x);

// Stochastic rounding of PTX `cvt.rs` is not here: no device gave us its rule.

// --- f32 <-> f64 ---

// cvt.f64.f32: exact; NaN payload and sign kept, quieted.
double f64_from_f32(float x);
// cvt.{rn,rz,rm,rp}{.ftz}{.sat}.f32.f64; NaN payload and sign kept (its high bits), quieted.
float f32_from_f64(double x, FloatMode mode);

// --- the general engine ---

// sign * significand * 2^exponent (an exact number, or one whose last bit is sticky and lies at
// least two places below the last place of the result), rounded to a format; result without sign
// position tricks: sign, exponent field, fraction packed at exponent_bits + fraction_bits + 1 bits.
// Overflow: Inf or the largest number by mode; satfinite and formats without Inf: the largest
// number.
uint64_t encode(const Format& format, bool negative, uint64_t significand, int exponent,
                Rounding rounding, bool satfinite);

// A finite code as integer significand * 2^exponent; subnormals keep the smallest exponent, so the
// exponent is that of the last place.
struct Decoded {
  enum class Kind : uint8_t { kFinite, kInfinity, kNan };
  Kind kind;
  bool negative;
  uint64_t significand;
  int exponent;
};
Decoded decode(const Format& format, uint64_t code);

}  // namespace lw::arith
