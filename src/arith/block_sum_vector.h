#pragma once
// The block sum of block_sum.h for as many rows at once as a vector holds, one column. Only for
// *.simd.cpp files.
//
// A term is a mantissa in [0, 2), signed, and an exponent. A product of mantissas is exact in f32;
// scaled by 2^(F + its exponent - E) and cut to an integer it is the truncated term, so the sum is
// an integer sum. 16 terms below 2^27 may exceed 31 bits: they are summed in two halves, and the
// magnitude of the total fits 32. A scale that small that it is not an f32 is replaced by 0: the
// term is cut to 0 anyway.
//
// Where all exponents are moderate (narrow) the scale of a whole block is itself an f32, and the
// values are multiplied as they are: half of the work.

#include "arith/block_sum.h"
#include "arith/simd_vector.h"

namespace lw::arith::LW_SIMD_NAMESPACE {

struct Term {
  F mantissa;  // narrow: the value
  I exponent;
};

// Far below every exponent, and sums of two do not overflow.
inline constexpr int32_t kZeroExponent = -8192;
inline constexpr int32_t kAllZero = kZeroExponent / 2;

// `layout`: a code with its sign in bit 31, its exponent field from bit 23 up, its fraction below
// it.
LW_INLINE Term decode(I layout, int bias) {
  I field = (layout >> 23) & 255;
  I one = (layout & 0x7fffff) | 0x3f800000;
  I subnormal = as_i(as_f(one) - 1.0f);
  I mantissa = (field == 0 ? subnormal : one) | (layout & INT32_MIN);
  I exponent = max(field, broadcast(1)) - bias;
  return {as_f(mantissa), (layout & INT32_MAX) == 0 ? broadcast(kZeroExponent) : exponent};
}

// Narrow operands: 2^-32 <= |x| < 2^32, or zero, so that exponents fit bytes. A byte is the
// exponent + 96, 64 to 127, and 0 for zero: the sum of two nonzero operands' is at least 128, any
// other is less.
inline constexpr int kByteBias = 96;
inline constexpr int kFirstProductByte = 128;

// The same with the value in place of the mantissa and the exponent as a byte. `bias` 127, where
// the operands are known to be narrow, or at most 15.
LW_INLINE Term decode_value(I layout, int bias) {
  I magnitude = layout & INT32_MAX;
  I field = magnitude >> 23;
  I byte = magnitude == 0 ? I{} : field + (kByteBias - bias);
  if (bias == 127) return {as_f(layout), byte};
  I unit = broadcast((128 - bias) << 23);  // 2^(smallest exponent)
  I subnormal = as_i(as_f(magnitude + unit) - as_f(unit));
  I value = field == 0 ? subnormal : magnitude + ((127 - bias) << 23);
  byte = (field == 0) & (magnitude != 0) ? broadcast(1 + kByteBias - bias) : byte;
  return {as_f(value | (layout & INT32_MIN)), byte};
}

template <int kFractionBits>
struct Scale {
  I offset;
  LW_INLINE explicit Scale(I largest) : offset(kFractionBits + 127 - largest) {}
  LW_INLINE F of(I exponent) const { return as_f(max(exponent + offset, I{}) << 23); }
};

// A total of truncated terms, in units of 2^(largest - F).
struct Total {
  U magnitude;
  I sign;  // -1 or 0
};
LW_INLINE Total total_of(I a, I b) {
  U sum = as_u(a) + as_u(b);
  I sign = ((a & b) | ((a | b) & as_i(sum))) >> 31;
  return {(sum ^ as_u(sign)) - as_u(sign), sign};
}

// Magnitude to f32, cut to 24 bits; above 2^31 its lowest eight bits are dropped beforehand and the
// result is to be multiplied by 2^8. Clearing the first bit behind the 24 keeps the conversion,
// which rounds to nearest, from rounding up.
struct Cut {
  F value;
  I dropped;  // -1 where 8 bits were
  I integer;  // what was converted
};
LW_INLINE Cut cut_to_24_bits(U magnitude) {
  I bits = as_i(magnitude);
  I dropped = bits >> 31;
  I integer = dropped ? as_i(magnitude >> 8) : bits;
  return {to_f(integer & ~(integer >> 24)), dropped, integer};
}

// value * 2^scale as f32 bits, value a cut integer, and any scale: subnormals are cut, 2^128 is
// Inf.
LW_INLINE I assemble(I value_bits, I scale) {
  I field = (value_bits >> 23) + scale;
  I fraction = value_bits & 0x7fffff;
  I subnormal = (fraction | 0x800000) >> min(max(1 - field, I{}), broadcast(31));
  I result = field <= 0 ? subnormal : field << 23 | fraction;
  result = field >= 255 ? broadcast(0x7f800000) : result;
  return value_bits == 0 ? I{} : result;
}

// f32 magnitude bits to an f16 code, nearest even.
LW_INLINE I round_to_f16(I magnitude) {
  I normal = (magnitude + 0xfff + ((magnitude >> 13) & 1) - (112 << 23)) >> 13;
  I subnormal = as_i(as_f(magnitude) + 0.5f) - 0x3f000000;
  I code = magnitude < (113 << 23) ? subnormal : normal;
  return magnitude >= 0x47800000 ? broadcast(0x7c00) : code;
}

// The layout of an accumulator: f32 bits as they are, f16 codes shifted.
template <BlockRules::Result kResult>
LW_INLINE I accumulator_layout(I code) {
  if constexpr (kResult == BlockRules::Result::kF16)
    return (code & 0x8000) << 16 | (code & 0x7fff) << 13;
  else
    return code;
}

// The accumulator of a narrow sum: its value and its exponent. A zero's exponent is below every
// floor.
template <BlockRules kRules>
LW_INLINE Term decode_accumulator(I code) {
  if constexpr (kRules.result == BlockRules::Result::kF16) {
    Term c = decode_value(accumulator_layout<kRules.result>(code), kF16.bias);
    return {c.mantissa, c.exponent - kByteBias};
  } else {
    return {as_f(code), ((code >> 23) & 255) - 127};
  }
}

template <BlockRules kRules>
LW_INLINE I finish(Total total, I largest) {
  using Result = BlockRules::Result;
  Cut cut = cut_to_24_bits(total.magnitude);
  I scale = largest - kRules.fraction_bits + (cut.dropped & 8);
  if constexpr (kRules.result == Result::kF16) {
    // Any bit that was cut makes the last one odd, so that the second rounding is right.
    I inexact =
        (to_i(cut.value) != cut.integer) | (cut.dropped & (as_i(total.magnitude & 255u) != 0));
    I odd = as_i(cut.value) | (inexact & 1);
    I code = round_to_f16(assemble(odd, scale));
    return code == 0 ? code : code | (total.sign & 0x8000);
  } else {
    I result = assemble(as_i(cut.value), scale);
    if constexpr (kRules.result == Result::kF32Reduced) result &= ~0x3ff;
    return result == 0 ? result : result | (total.sign & INT32_MIN);
  }
}

// The terms of one column: where the k-th product finds its factor of B.
struct Column {
  const float* mantissa;  // narrow: the value
  const int32_t* exponent;
};

// c + sum over j of a[k] * b[k], k = Order::k(kBlock, j), Order::offset(k) the place in the column.
// Takes and returns the accumulator's code; codes of NaN and Inf must not come in.
template <BlockRules kRules, class Order, int kBlock>
LW_INLINE I block_sum(const Term* a, Column b, I c_code) {
  constexpr bool kHalf = kRules.result == BlockRules::Result::kF16;
  Term c = decode(accumulator_layout<kRules.result>(c_code), kHalf ? kF16.bias : kF32.bias);
  I largest = max(c.exponent, broadcast(kRules.floor));
#pragma GCC unroll 32
  for (int j = 0; j < Order::kCount; ++j) {
    int k = Order::k(kBlock, j);
    largest = max(largest, a[k].exponent + b.exponent[Order::offset(k)]);
  }
  Scale<kRules.fraction_bits> scale(largest);
  I first = to_i(c.mantissa * scale.of(c.exponent));
  I second{};
#pragma GCC unroll 32
  for (int j = 0; j < Order::kCount; ++j) {
    int k = Order::k(kBlock, j);
    int place = Order::offset(k);
    F product = a[k].mantissa * b.mantissa[place];
    I term = to_i(product * scale.of(a[k].exponent + b.exponent[place]));
    (j % 2 == 0 ? first : second) += term;
  }
  return finish<kRules>(total_of(first, second), largest);
}

// The narrow form. `largest_byte`: the largest sum of two exponent bytes of the block (of a
// product, if it is kFirstProductByte or more). With any product the scale and the result are
// normal f32; a block without one is c itself, which an f16 result needs no rule for.
template <BlockRules kRules, class Order, int kBlock>
LW_INLINE I block_sum_narrow(const Term* a, const float* b, I largest_byte, I c_code) {
  constexpr bool kHalf = kRules.result == BlockRules::Result::kF16;
  Term c = decode_accumulator<kRules>(c_code);
  I floor = broadcast(kHalf ? kRules.floor : -64);
  I largest = max(max(largest_byte - 2 * kByteBias, c.exponent), floor);
  F scale = as_f((kRules.fraction_bits + 127 - largest) << 23);
  I first = to_i(c.mantissa * scale);
  I second{};
#pragma GCC unroll 32
  for (int j = 0; j < Order::kCount; ++j) {
    int k = Order::k(kBlock, j);
    I term = to_i(a[k].mantissa * b[Order::offset(k)] * scale);
    (j % 2 == 0 ? first : second) += term;
  }
  Total total = total_of(first, second);
  if constexpr (kHalf) {
    return finish<kRules>(total, largest);
  } else {
    Cut cut = cut_to_24_bits(total.magnitude);
    I unit = (largest - kRules.fraction_bits + 127 + (cut.dropped & 8)) << 23;
    I result = as_i(cut.value * as_f(unit)) | (total.sign & INT32_MIN);
    result = largest_byte < kFirstProductByte ? c_code : result;
    if constexpr (kRules.result == BlockRules::Result::kF32Reduced) result &= ~0x3ff;
    return (result & INT32_MAX) == 0 ? I{} : result;
  }
}

}  // namespace lw::arith::LW_SIMD_NAMESPACE
