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

// Where the terms are so few that their total keeps 31 bits: below 2^(F + 2) each, c below half.
template <BlockRules kRules>
constexpr bool fits_31_bits(int terms) {
  const int64_t unit = int64_t{1} << (kRules.fraction_bits + 1);
  return (2 * terms + 1) * unit < int64_t{1} << 31;
}
LW_INLINE Total small_total_of(I a, I b) {
  const I sum = a + b, sign = sum >> 31;
  return {as_u((sum ^ sign) - sign), sign};
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

// The same of a total of 31 bits: nothing is dropped.
LW_INLINE F cut_small_to_24_bits(U magnitude) {
  const I integer = as_i(magnitude);
  return to_f(integer & ~(integer >> 24));
}

// Magnitude to f32 so that a second rounding to fewer bits is right: exact below 2^24, else without
// its lowest eight bits, to be multiplied by 2^8, its last bit odd if any of them was set.
struct Odd {
  F value;
  I dropped;
};
LW_INLINE Odd odd_of(U magnitude) {
  const I dropped = as_i(magnitude >> 24) != 0;
  const I sticky = as_i(magnitude & 255u) != 0;
  const I shifted = as_i(magnitude >> 8) | (sticky & 1);
  return {to_f(dropped ? shifted : as_i(magnitude)), dropped};
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

// What the narrow form does with one total, and the constants of that, which outlive the columns.
template <BlockRules kRules>
struct Narrow {
  static constexpr bool kHalf = kRules.result == BlockRules::Result::kF16;
  static constexpr int kBias = 127;

  I field = held(255);
  I byte_to_field = held(2 * kByteBias - kBias);
  I floor = held((kHalf ? kRules.floor : -64) + kBias);
  I scale = held(kRules.fraction_bits + 2 * kBias);
  I inverse = held(2 * kBias << 23);
  I sign = held(kHalf ? 0x8000 : INT32_MIN);

  // The accumulator's value and the field of its exponent.
  LW_INLINE Term accumulator(I code) const {
    if constexpr (!kHalf) return {as_f(code), (code >> 23) & field};
    const Term c = decode_value(accumulator_layout<kRules.result>(code), kF16.bias);
    return {c.mantissa, c.exponent + (kBias - kByteBias)};
  }
  LW_INLINE I scale_of(I largest_byte, I c_field) const {
    const I largest = max(max(largest_byte - byte_to_field, c_field), floor);
    return (scale - largest) << 23;
  }
  template <bool kSmall>
  LW_INLINE I finish(I first, I second, I scale_bits) const {
    const Total total = kSmall ? small_total_of(first, second) : total_of(first, second);
    const I unit = inverse - scale_bits;
    if constexpr (kHalf) {
      // The product is a normal f32: the floor is -21.
      const Odd odd = odd_of(total.magnitude);
      const I code = round_to_f16(as_i(odd.value * as_f(unit + (odd.dropped & 8 << 23))));
      return code == 0 ? code : code | (total.sign & sign);
    } else if constexpr (kSmall) {
      return as_i(cut_small_to_24_bits(total.magnitude) * as_f(unit)) | (total.sign & sign);
    } else {
      const Cut cut = cut_to_24_bits(total.magnitude);
      return as_i(cut.value * as_f(unit + (cut.dropped & 8 << 23))) | (total.sign & sign);
    }
  }
};

// The narrow form. `largest_byte`: the largest sum of two exponent bytes of the block (of a
// product, if it is kFirstProductByte or more). With any product the scale and the result are
// normal f32; a block without one is c itself, which an f16 result needs no rule for. `kProducts`:
// every lane has one.
template <BlockRules kRules, class Order, int kBlock, bool kProducts = false>
LW_INLINE I block_sum_narrow(const Narrow<kRules>& narrow, const Term* a, const float* b,
                             I largest_byte, I c_code) {
  const Term c = narrow.accumulator(c_code);
  const I scale_bits = narrow.scale_of(largest_byte, c.exponent);
  const F scale = as_f(scale_bits);
  I first = to_i(c.mantissa * scale);
  I second{};
#pragma GCC unroll 32
  for (int j = 0; j < Order::kCount; ++j) {
    int k = Order::k(kBlock, j);
    I term = to_i(a[k].mantissa * b[Order::offset(k)] * scale);
    (j % 2 == 0 ? first : second) += term;
  }
  constexpr bool kSmall = fits_31_bits<kRules>(Order::kCount);
  I result = narrow.template finish<kSmall>(first, second, scale_bits);
  if constexpr (kRules.result == BlockRules::Result::kF16) return result;
  if constexpr (!kProducts) result = largest_byte < kFirstProductByte ? c_code : result;
  if constexpr (kRules.result == BlockRules::Result::kF32Reduced) result &= ~0x3ff;
  if constexpr (kProducts && kRules.result == BlockRules::Result::kF32Cut) return result;
  return (result & INT32_MAX) == 0 ? I{} : result;
}

}  // namespace lw::arith::LW_SIMD_NAMESPACE
