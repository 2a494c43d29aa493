#pragma once
// The functions of the special-function unit itself, one lane, f32 bits to f32 bits.
//
// Written without branches: mufu.simd.cpp runs them over 32 lanes and the compiler makes vectors of
// them. How a row of the table is found is a parameter, `look`: there it is vectors too. "Unit"
// means the .ftz form: subnormal operands read as zero, results below 2^-126 are zero (tanh:
// neither). What each term is: mufu.h.

#include "arith/bits.h"
#include "arith/mufu_tables.h"

namespace lw::arith::unit {

inline constexpr uint32_t kFraction = 0x7fffffu;
inline constexpr uint32_t kInfinity = 0x7f800000u;
inline constexpr uint32_t kOne = 0x3f800000u;

// A choice that stays arithmetic: written with ?:, the compiler moves the work for one side into a
// branch, and then makes no vectors of the loop.
LW_INLINE constexpr uint32_t select(bool condition, uint32_t a, uint32_t b) {
  uint32_t mask = 0u - static_cast<uint32_t>(condition);
  return (a & mask) | (b & ~mask);
}

// sq(x), x of 17 bits: floor of half of the sum of the partial products 2^(i+j-18) of bits i, j of
// x with i + j >= 18. With x = high * 2^9 + low, high * high has all of its products, low * low
// none, and the cross products, which count twice, are the loop.
LW_INLINE constexpr int32_t truncated_square(uint32_t x) {
  uint32_t high = x >> 9;
  uint32_t low = x & 511;
  uint32_t cross = 0;
  for (int i = 1; i < 8; ++i) cross += (0u - (high >> i & 1)) & (low >> (9 - i));
  return static_cast<int32_t>(((high * high) >> 1) + cross);
}

// A table as the look-ups want it: c1 and c2 in one word, for two of them instead of three.
template <int kSegments>
struct PackedTable {
  int32_t c0[kSegments];
  int32_t c1_c2[kSegments];  // c1 << 13 | low 13 bits of c2
};
template <int kSegments>
constexpr PackedTable<kSegments> packed(const MufuTable<kSegments>& table) {
  PackedTable<kSegments> result{};
  for (int i = 0; i < kSegments; ++i) {
    result.c0[i] = table.c0[i];
    result.c1_c2[i] = table.c1[i] * (1 << 13) | (table.c2[i] & 0x1fff);
  }
  return result;
}
inline constexpr auto kRcp = packed(kRcpTable);
inline constexpr auto kRsqrt = packed(kRsqrtTable);
inline constexpr auto kSqrt = packed(kSqrtTable);
inline constexpr auto kEx2 = packed(kEx2Table);
inline constexpr auto kLg2 = packed(kLg2Table);
inline constexpr auto kSincos = packed(kSincosTable);

struct Row {
  int32_t c0;
  int32_t c1_c2;
};
// Of one lane.
inline constexpr auto kRowOf = [](const auto& table, uint32_t segment) {
  return Row{table.c0[segment], table.c1_c2[segment]};
};
using RowOf = decltype(kRowOf);

// (c0 << kC0Shift) + c1 x + (c2 square << kSquareShift) + kRounding = high * 2^kSplit + low, both
// in 32 bits: what c1 has to do with the upper part of x is in `high`. Twice the lanes of 64-bit
// arithmetic.
template <int kSplit>
struct Split {
  int32_t high;
  int32_t low;

  // The number shifted right by kShift, its remainder dropped.
  template <int kShift>
  LW_INLINE constexpr int32_t cut() const {
    return (high + (low >> kSplit)) >> (kShift - kSplit);
  }
  LW_INLINE constexpr double value() const {
    return static_cast<double>(high) * (1 << kSplit) + static_cast<double>(low);
  }
};
template <int kSplit, int kC0Shift, int kSquareShift, int kRounding>
LW_INLINE constexpr Split<kSplit> quadratic(Row row, uint32_t x, int32_t square) {
  int32_t c1 = row.c1_c2 >> 13;
  int32_t c2 = static_cast<int32_t>(static_cast<uint32_t>(row.c1_c2) << 19) >> 19;
  int32_t x_high = static_cast<int32_t>(x >> kSplit);
  int32_t x_low = static_cast<int32_t>(x & ((1u << kSplit) - 1));
  return {row.c0 * (1 << (kC0Shift - kSplit)) + c1 * x_high,
          c1 * x_low + c2 * (square << kSquareShift) + kRounding};
}

// Exponent field and 24-bit mantissa (2^24 carries into the exponent); too small gives zero.
LW_INLINE constexpr uint32_t assemble(int32_t field, int32_t mantissa) {
  int32_t bits = field * (1 << 23) + (mantissa - (1 << 23));
  return select(bits < (1 << 23), 0, static_cast<uint32_t>(bits));
}

// A whole number below 2^53 with so many fraction bits, cut to 24 bits.
template <int kFractionBits>
LW_INLINE constexpr uint32_t normalise(double magnitude) {
  constexpr float kUnit = 1.0f / static_cast<float>(uint64_t{1} << kFractionBits);
  double cut = f64_of(bits_of(magnitude) & ~((uint64_t{1} << 29) - 1));
  return bits_of(static_cast<float>(cut) * kUnit);
}

template <class Look = RowOf>
LW_INLINE constexpr uint32_t rcp(uint32_t bits, const Look& look = kRowOf) {
  uint32_t exponent = (bits >> 23) & 255;
  uint32_t fraction = bits & kFraction;
  uint32_t x = fraction & 0xffff;
  const Row row = look(kRcp, fraction >> 16);
  auto p = quadratic<9, 13, 0, 0x47e7>(row, x, truncated_square(2 * x));
  uint32_t r = assemble(253 - static_cast<int32_t>(exponent), p.cut<15>());
  r = select(exponent == 0, kInfinity, r);
  r = select(exponent == 255, 0, r) | (bits & kSignF32);
  return select((bits & ~kSignF32) > kInfinity, kNanF32, r);
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

template <class Look = RowOf>
LW_INLINE constexpr uint32_t rsqrt(uint32_t bits, const Look& look = kRowOf) {
  RootOperand operand = split_for_root(bits);
  uint32_t x = operand.g & 0x1ffff;
  const Row row = look(kRsqrt, operand.g >> 17);
  auto p = quadratic<10, 14, 2, 0x7fff>(row, x, truncated_square(x));
  int32_t field = 126 - operand.half_exponent;
  uint32_t r = assemble(field, p.cut<16>());
  r = select(operand.g == 0, static_cast<uint32_t>(field + 1) << 23, r);  // exactly a power of two
  r = select(bits == kInfinity, 0, r);
  r = select(bits > kInfinity, kNanF32, r);  // negative, or NaN
  return select((bits & kInfinity) == 0, kInfinity | (bits & kSignF32), r);
}

template <class Look = RowOf>
LW_INLINE constexpr uint32_t sqrt(uint32_t bits, const Look& look = kRowOf) {
  RootOperand operand = split_for_root(bits);
  uint32_t x = operand.g & 0x1ffff;
  const Row row = look(kSqrt, operand.g >> 17);
  auto p = quadratic<11, 15, 1, 0x7fff>(row, x, truncated_square(x));
  uint32_t r = assemble(127 + operand.half_exponent, p.cut<17>());
  r = select(bits == kInfinity, kInfinity, r);
  r = select(bits > kInfinity, kNanF32, r);  // negative, or NaN
  return select((bits & kInfinity) == 0, bits & kSignF32, r);
}

template <class Look = RowOf>
LW_INLINE constexpr uint32_t ex2(uint32_t bits, const Look& look = kRowOf) {
  constexpr uint32_t k128 = 0x43000000;
  uint32_t magnitude = bits & ~kSignF32;
  bool negative = (bits & kSignF32) != 0;
  uint32_t flip = 0u - static_cast<uint32_t>(negative);
  // Operands out of range are read as 0 here and replaced below.
  uint32_t in_range = select(magnitude >= 0x00800000 && magnitude < k128, magnitude, 0);
  uint32_t v = static_cast<uint32_t>(static_cast<int32_t>(f32_of(in_range) * 8388608.0f));
  uint32_t h = select((v & kFraction) == 0, 0, (v ^ flip) & kFraction);
  int32_t w =
      static_cast<int32_t>((v ^ flip) - flip) >> 23;  // -v: both cases of a negative operand
  uint32_t x = h & 0x1ffff;
  const Row row = look(kEx2, h >> 17);
  auto p = quadratic<9, 13, 0, 0x77e2>(row, x, truncated_square(x));
  uint32_t r = assemble(127 + w, p.cut<15>());
  r = select(magnitude >= k128, select(negative, 0, kInfinity), r);
  return select(magnitude > kInfinity, kNanF32, r);
}

template <class Look = RowOf>
LW_INLINE constexpr uint32_t lg2(uint32_t bits, const Look& look = kRowOf) {
  uint32_t fraction = bits & kFraction;
  uint32_t x = fraction & 0x1ffff;
  const Row row = look(kLg2, fraction >> 17);
  auto p = quadratic<9, 12, 1, 0x3345>(row, x, truncated_square(x));
  int32_t keep = static_cast<int32_t>(bits == kOne) - 1;  // 1.0 gives 0
  int32_t exponent = static_cast<int32_t>((bits >> 23) & 255) - 127;
  // The quadratic cut by two bits, and the exponent, with 36 fraction bits: whole numbers.
  double r = static_cast<double>(p.high & keep) * 0x1p7 + static_cast<double>((p.low >> 2) & keep) +
             static_cast<double>(exponent) * 0x1p36;
  uint32_t sign = static_cast<uint32_t>(bits_of(r) >> 32) & kSignF32;
  double complement = static_cast<double>(static_cast<int32_t>(sign) >> 31);  // ~r is -1 - r
  double magnitude = f64_of(bits_of(r) & ~(uint64_t{1} << 63)) + complement;
  uint32_t result = normalise<36>(magnitude) | sign;
  result = select(bits == kInfinity, kInfinity, result);
  result = select(bits > kInfinity, kNanF32, result);  // negative, or NaN
  return select((bits & kInfinity) == 0, kInfinity | kSignF32, result);
}

// sin and cos of an angle in radians: the multiplication by 1/2pi, which the assembler puts before
// the unit, is included; it rounds towards zero.
template <bool kCosine, class Look = RowOf>
LW_INLINE constexpr uint32_t sin_cos(uint32_t bits, const Look& look = kRowOf) {
  constexpr double kOverTwoPi = f32_of(0x3e22f983);
  uint64_t turns = bits_of(static_cast<double>(f32_of(bits & ~kSignF32)) * kOverTwoPi);
  uint32_t mantissa = static_cast<uint32_t>(turns >> 29 & kFraction) | (1u << 23);
  // Quarter turns with 23 fraction bits, modulo 4: mantissa * 2^shift. Beyond 2^31 nothing is left.
  int32_t shift = static_cast<int32_t>(turns >> 52) - 1023 + 2;
  uint32_t up = select(shift < 0, 0, select(shift > 31, 31, static_cast<uint32_t>(shift)));
  uint32_t down = select(shift > 0, 0, select(shift < -31, 31, static_cast<uint32_t>(-shift)));
  uint32_t v = ((mantissa << up) >> down) & 0x1ffffff;
  uint32_t quadrant = (v >> 23) + (kCosine ? 1 : 0);
  uint32_t h = (v ^ (0u - (quadrant & 1))) & kFraction;
  uint32_t x = h & 0x1ffff;
  const Row row = look(kSincos, h >> 17);
  auto p = quadratic<9, 11, 0, 0>(row, x, truncated_square(x));
  uint32_t sign = (kCosine ? 0 : bits & kSignF32) ^ ((quadrant & 2) << 30);
  uint32_t r = normalise<37>(p.value()) | sign;
  return select((bits & kInfinity) == kInfinity, kNanF32, r);
}

// tanh in a table of 16 rows a binade, from 2^-8 up, so that the top bits of the operand are the
// index: a segment that is wider than a sixteenth of its binade stands there several times.
struct TanhTable {
  static constexpr int kBinades = 11;
  static constexpr int kSegmentsLog2[kBinades] = {0, 0, 0, 1, 1, 2, 2, 2, 3, 4, 3};

  int32_t c0_high[16 * kBinades];  // c0 >> 8
  int32_t c1_rest[16 * kBinades];  // c1 << 12 | low 8 bits of c0 << 4 | bits of the operand to drop
  int32_t c2[16 * kBinades];
};
constexpr TanhTable make_tanh_table() {
  TanhTable table{};
  int first = 0;
  for (int binade = 0; binade < TanhTable::kBinades; ++binade) {
    int k = TanhTable::kSegmentsLog2[binade];
    for (int row = 0; row < 16; ++row) {
      int segment = first + (row >> (4 - k));
      int64_t c0 = int64_t{kTanhTable.c0[segment]} * (1 << 16) + kTanhLowC0[segment];
      int i = binade * 16 + row;
      table.c0_high[i] = static_cast<int32_t>(c0 >> 8);
      table.c1_rest[i] =
          kTanhTable.c1[segment] * (1 << 12) | static_cast<int32_t>((c0 & 255) << 4) | (6 - k);
      table.c2[i] = kTanhTable.c2[segment];
    }
    first += 1 << k;
  }
  return table;
}
inline constexpr TanhTable kTanh = make_tanh_table();

LW_INLINE constexpr uint32_t tanh(uint32_t bits) {
  constexpr int32_t kFirstRow = (127 - 8) * 16;
  uint32_t magnitude = bits & ~kSignF32;
  int32_t row = static_cast<int32_t>(magnitude >> 19) - kFirstRow;
  bool in_range = row >= 0 && row < 16 * TanhTable::kBinades;
  uint32_t i = select(in_range, static_cast<uint32_t>(row), 0);
  int32_t c1_rest = kTanh.c1_rest[i];
  uint32_t x = ((bits & kFraction) >> (c1_rest & 15)) & 0x1ffff;
  double sum = kTanh.c0_high[i] * 256.0 + static_cast<double>((c1_rest >> 4) & 255) +
               static_cast<double>(c1_rest >> 12) * static_cast<double>(static_cast<int32_t>(x)) +
               static_cast<double>(kTanh.c2[i]) * static_cast<double>(truncated_square(x));
  uint32_t r = normalise<39>(sum);  // the sum was exact: at most 40 bits
  r = select(row < 0, magnitude, r);
  r = select(row >= 16 * TanhTable::kBinades, kOne, r);
  return select(magnitude > kInfinity, kNanF32, r | (bits & kSignF32));
}

// --- the plain forms: the unit on a scaled operand, its result scaled back ---

LW_INLINE constexpr bool below_normal(uint32_t bits) { return (bits & kInfinity) == 0; }
LW_INLINE constexpr uint32_t times(uint32_t bits, float factor) {
  return bits_of(f32_of(bits) * factor);
}

template <class Look = RowOf>
LW_INLINE constexpr uint32_t rcp_plain(uint32_t bits, const Look& look = kRowOf) {
  uint32_t magnitude = bits & ~kSignF32;
  float k = f32_of(select(below_normal(bits), 0x4b800000,  // 2^24
                          select(magnitude > 0x7e800000, 0x3e800000, kOne)));
  return times(rcp(times(bits, k), look), k);
}
// Subnormals are scaled by 2^24, and the result scaled back.
LW_INLINE constexpr float scale_of_subnormal(uint32_t bits, uint32_t scale) {
  return f32_of(select(below_normal(bits), scale, kOne));
}
template <class Look = RowOf>
LW_INLINE constexpr uint32_t rsqrt_plain(uint32_t bits, const Look& look = kRowOf) {
  return times(rsqrt(times(bits, scale_of_subnormal(bits, 0x4b800000)), look),
               scale_of_subnormal(bits, 0x45800000));  // 2^12
}
template <class Look = RowOf>
LW_INLINE constexpr uint32_t sqrt_plain(uint32_t bits, const Look& look = kRowOf) {
  return times(sqrt(times(bits, scale_of_subnormal(bits, 0x4b800000)), look),
               scale_of_subnormal(bits, 0x39800000));  // 2^-12
}
template <class Look = RowOf>
LW_INLINE constexpr uint32_t lg2_plain(uint32_t bits, const Look& look = kRowOf) {
  uint32_t r = lg2(times(bits, scale_of_subnormal(bits, 0x4b800000)), look);
  return select(below_normal(bits), bits_of(f32_of(r) - 24.0f), r);
}
template <class Look = RowOf>
LW_INLINE constexpr uint32_t ex2_plain(uint32_t bits, const Look& look = kRowOf) {
  bool small = bits > 0xc2fc0000;  // < -126, and NaN of that sign
  uint32_t r = ex2(times(bits, f32_of(select(small, 0x3f000000, kOne))), look);
  return select(small, times(r, f32_of(r)), r);
}

}  // namespace lw::arith::unit
