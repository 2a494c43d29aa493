#pragma once
// The functions of the special-function unit itself, one lane, f32 bits to f32 bits.
//
// Written without branches: mufu.simd.cpp runs them over 32 lanes and the compiler makes vectors of
// them, table look-ups included. "Unit" means the .ftz form: subnormal operands read as zero,
// results below 2^-126 are zero (tanh: neither). What each term is: mufu.h.

#include "arith/bits.h"
#include "arith/mufu_tables.h"

namespace lw::arith::unit {

inline constexpr uint32_t kFraction = 0x7fffffu;
inline constexpr uint32_t kInfinity = 0x7f800000u;
inline constexpr uint32_t kOne = 0x3f800000u;

// sq(x), x of 17 bits: floor of half of the sum of the partial products 2^(i+j-18) of bits i, j of
// x with i + j >= 18. With x = high * 2^9 + low, high * high has all of its products, low * low
// none, and the cross products, which count twice, are the loop.
LW_INLINE constexpr int32_t truncated_square(uint32_t x) {
  uint32_t high = x >> 9;
  uint32_t low = x & 511;
  uint32_t cross = 0;
  for (int i = 1; i < 8; ++i) cross += (high & (1u << i)) != 0 ? low >> (9 - i) : 0;
  return static_cast<int32_t>(((high * high) >> 1) + cross);
}

// (c0 << c0_shift) + c1 x + (c2 square << square_shift)
template <int kC0Shift, int kSquareShift, class Table>
LW_INLINE constexpr int64_t quadratic(const Table& table, uint32_t segment, uint32_t x,
                                      int32_t square) {
  return (static_cast<int64_t>(table.c0[segment]) << kC0Shift) +
         static_cast<int64_t>(table.c1[segment]) * static_cast<int32_t>(x) +
         static_cast<int64_t>(table.c2[segment]) * (square << kSquareShift);
}

// Exponent field and 24-bit mantissa (2^24 carries into the exponent); too small gives zero.
LW_INLINE constexpr uint32_t assemble(int32_t field, int64_t mantissa) {
  int32_t bits = field * (1 << 23) + (static_cast<int32_t>(mantissa) - (1 << 23));
  return bits < (1 << 23) ? 0 : static_cast<uint32_t>(bits);
}

// A fixed-point number below 2^52, normalised and cut to 24 bits; 0 gives 0. Through an f64, which
// is how vector code finds a leading bit.
template <int kFractionBits>
LW_INLINE constexpr uint32_t normalise(int64_t magnitude) {
  constexpr uint64_t kTwo52 = 0x4330000000000000u;
  uint64_t bits = bits_of(f64_of(static_cast<uint64_t>(magnitude) | kTwo52) - f64_of(kTwo52));
  uint64_t rebased = (bits >> 29) - (static_cast<uint64_t>(1023 - 127 + kFractionBits) << 23);
  return magnitude == 0 ? 0 : static_cast<uint32_t>(rebased);
}

LW_INLINE constexpr uint32_t rcp(uint32_t bits) {
  uint32_t exponent = (bits >> 23) & 255;
  uint32_t fraction = bits & kFraction;
  uint32_t x = fraction & 0xffff;
  int64_t p = quadratic<13, 0>(kRcpTable, fraction >> 16, x, truncated_square(2 * x)) + 0x47e7;
  uint32_t r = assemble(253 - static_cast<int32_t>(exponent), p >> 15);
  r = exponent == 0 ? kInfinity : r;
  r = exponent == 255 ? 0 : r;
  r |= bits & kSignF32;
  return exponent == 255 && fraction != 0 ? kNanF32 : r;
}

// Mantissa and parity of the exponent in one 24-bit number, as rsqrt and sqrt want them.
struct RootOperand {
  uint32_t g;
  int32_t half_exponent;  // floor((e - 127) / 2)
};
LW_INLINE constexpr RootOperand split_for_root(uint32_t bits) {
  uint32_t exponent = (bits >> 23) & 255;
  uint32_t odd = ~exponent & 1;
  return {odd << 23 | (bits & kFraction), (static_cast<int32_t>(exponent) - 127) >> 1};
}

LW_INLINE constexpr uint32_t rsqrt(uint32_t bits) {
  RootOperand operand = split_for_root(bits);
  uint32_t x = operand.g & 0x1ffff;
  int64_t p = quadratic<14, 2>(kRsqrtTable, operand.g >> 17, x, truncated_square(x)) + 0x7fff;
  int64_t mantissa = operand.g == 0 ? 1 << 24 : p >> 16;
  uint32_t r = assemble(126 - operand.half_exponent, mantissa);
  r = bits == kInfinity ? 0 : r;
  r = (bits & kSignF32) != 0 || bits > kInfinity ? kNanF32 : r;
  return (bits & kInfinity) == 0 ? kInfinity | (bits & kSignF32) : r;
}

LW_INLINE constexpr uint32_t sqrt(uint32_t bits) {
  RootOperand operand = split_for_root(bits);
  uint32_t x = operand.g & 0x1ffff;
  int64_t p = quadratic<15, 1>(kSqrtTable, operand.g >> 17, x, truncated_square(x)) + 0x7fff;
  uint32_t r = assemble(127 + operand.half_exponent, p >> 17);
  r = bits == kInfinity ? kInfinity : r;
  r = (bits & kSignF32) != 0 || bits > kInfinity ? kNanF32 : r;
  return (bits & kInfinity) == 0 ? bits & kSignF32 : r;
}

LW_INLINE constexpr uint32_t ex2(uint32_t bits) {
  constexpr uint32_t k128 = 0x43000000;
  uint32_t magnitude = bits & ~kSignF32;
  bool negative = (bits & kSignF32) != 0;
  // Operands out of range are read as 0 here and replaced below.
  bool in_range = magnitude >= 0x00800000 && magnitude < k128;
  float scaled = f32_of(in_range ? magnitude : 0) * 8388608.0f;
  int32_t v = static_cast<int32_t>(scaled);
  int32_t signed_v = negative ? -v : v;  // two's complement: both cases of the negative operand
  uint32_t h = static_cast<uint32_t>(negative ? ~v : v) & kFraction;
  h = (v & static_cast<int32_t>(kFraction)) == 0 ? 0 : h;
  uint32_t x = h & 0x1ffff;
  int64_t p = quadratic<13, 0>(kEx2Table, h >> 17, x, truncated_square(x)) + 0x77e2;
  uint32_t r = assemble(127 + (signed_v >> 23), p >> 15);
  r = magnitude >= k128 ? (negative ? 0 : kInfinity) : r;
  return magnitude > kInfinity ? kNanF32 : r;
}

LW_INLINE constexpr uint32_t lg2(uint32_t bits) {
  uint32_t fraction = bits & kFraction;
  uint32_t x = fraction & 0x1ffff;
  int64_t p = (quadratic<12, 1>(kLg2Table, fraction >> 17, x, truncated_square(x)) + 0x3345) >> 2;
  p = bits == kOne ? 0 : p;
  int64_t r = p + (static_cast<int64_t>((bits >> 23) & 255) - 127) * (int64_t{1} << 36);
  uint32_t result = normalise<36>(r < 0 ? ~r : r) | (r < 0 ? kSignF32 : 0);
  result = bits == kInfinity ? kInfinity : result;
  result = (bits & kSignF32) != 0 || bits > kInfinity ? kNanF32 : result;
  return (bits & kInfinity) == 0 ? kInfinity | kSignF32 : result;
}

// sin and cos of an angle in radians: the multiplication by 1/2pi, which the assembler puts before
// the unit, is included; it rounds towards zero.
template <bool kCosine>
LW_INLINE constexpr uint32_t sin_cos(uint32_t bits) {
  constexpr double kOverTwoPi = f32_of(0x3e22f983);
  uint64_t turns = bits_of(static_cast<double>(f32_of(bits & ~kSignF32)) * kOverTwoPi);
  uint32_t mantissa = static_cast<uint32_t>(turns >> 29 & kFraction) | (1u << 23);
  // Quarter turns with 23 fraction bits, modulo 4: mantissa * 2^shift.
  int32_t shift = static_cast<int32_t>(turns >> 52) - 1023 + 2;
  uint32_t left = mantissa << (shift < 0 ? 0 : shift > 31 ? 31 : shift);
  uint32_t right = mantissa >> (shift >= 0 ? 0 : shift < -31 ? 31 : -shift);
  uint32_t v = (shift >= 0 ? left : right) & 0x1ffffff;
  uint32_t quadrant = (v >> 23) + (kCosine ? 1 : 0);
  uint32_t h = ((quadrant & 1) != 0 ? ~v : v) & kFraction;
  uint32_t x = h & 0x1ffff;
  int64_t p = quadratic<11, 0>(kSincosTable, h >> 17, x, truncated_square(x));
  uint32_t sign = (kCosine ? 0 : bits & kSignF32) ^ ((quadrant & 2) << 30);
  uint32_t r = normalise<37>(p) | sign;
  return (bits & kInfinity) == kInfinity ? kNanF32 : r;
}

// A binade of tanh has 2^k segments; entry: first segment << 4 | k. Binades 2^-8 to 2^2.
inline constexpr int32_t kTanhBinades[11] = {
    0 << 4 | 0,  1 << 4 | 0,  2 << 4 | 0,  3 << 4 | 1,  5 << 4 | 1,  7 << 4 | 2,
    11 << 4 | 2, 15 << 4 | 2, 19 << 4 | 3, 27 << 4 | 4, 43 << 4 | 3,
};

LW_INLINE constexpr uint32_t tanh(uint32_t bits) {
  uint32_t magnitude = bits & ~kSignF32;
  int32_t binade = static_cast<int32_t>(magnitude >> 23) - (127 - 8);
  int32_t row = kTanhBinades[binade < 0 ? 0 : binade > 10 ? 10 : binade];
  uint32_t p = (bits & kFraction) >> (6 - (row & 15));
  uint32_t segment = static_cast<uint32_t>(row >> 4) + (p >> 17);
  uint32_t x = p & 0x1ffff;
  uint32_t r = normalise<39>(quadratic<0, 0>(kTanhTable, segment, x, truncated_square(x)));
  r = binade < 0 ? magnitude : r;
  r = binade > 10 ? kOne : r;
  return magnitude > kInfinity ? kNanF32 : r | (bits & kSignF32);
}

// --- the plain forms: the unit on a scaled operand, its result scaled back ---

LW_INLINE constexpr bool below_normal(uint32_t bits) { return (bits & kInfinity) == 0; }
LW_INLINE constexpr uint32_t times(uint32_t bits, float factor) {
  return bits_of(f32_of(bits) * factor);
}

LW_INLINE constexpr uint32_t rcp_plain(uint32_t bits) {
  uint32_t magnitude = bits & ~kSignF32;
  float k = below_normal(bits) ? 16777216.0f : magnitude > 0x7e800000 ? 0.25f : 1.0f;
  return times(rcp(times(bits, k)), k);
}
LW_INLINE constexpr uint32_t rsqrt_plain(uint32_t bits) {
  bool small = below_normal(bits);
  return times(rsqrt(times(bits, small ? 16777216.0f : 1.0f)), small ? 4096.0f : 1.0f);
}
LW_INLINE constexpr uint32_t sqrt_plain(uint32_t bits) {
  bool small = below_normal(bits);
  return times(sqrt(times(bits, small ? 16777216.0f : 1.0f)), small ? 1.0f / 4096 : 1.0f);
}
LW_INLINE constexpr uint32_t lg2_plain(uint32_t bits) {
  bool small = below_normal(bits);
  float r = f32_of(lg2(times(bits, small ? 16777216.0f : 1.0f)));
  return bits_of(small ? r - 24.0f : r);
}
LW_INLINE constexpr uint32_t ex2_plain(uint32_t bits) {
  bool small = (bits & kSignF32) != 0 && (bits & ~kSignF32) > 0x42fc0000;  // < -126
  uint32_t r = ex2(times(bits, small ? 0.5f : 1.0f));
  return small ? times(r, f32_of(r)) : r;
}

}  // namespace lw::arith::unit
