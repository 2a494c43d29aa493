#pragma once
// Made-up input data, the same on every machine and compiler.
//
// Element i of a buffer depends on (seed, i) alone: a counter-based generator, so data can be made
// in any order, in pieces, or in parallel. No library function of floating point is used, since
// those differ in the last bit from system to system: "normal" is a sum of twelve uniform 16-bit
// integers (Irwin-Hall: mean 0, variance 1, tails end at 6), scaled by one IEEE multiplication and
// rounded once to the element type.
//
// Plain C++17 without other headers of ours, so that CUDA host code makes the same data by
// including this file.

#include <cstdint>
#include <cstring>

namespace lw::casefile {

// The mixing step of the splitmix64 generator (Steele, Lea, Flood 2014): a bijection of the
// counter.
constexpr uint64_t splitmix64(uint64_t state) {
  state += 0x9e3779b97f4a7c15ull;
  state = (state ^ (state >> 30)) * 0xbf58476d1ce4e5b9ull;
  state = (state ^ (state >> 27)) * 0x94d049bb133111ebull;
  return state ^ (state >> 31);
}

// 64 random bits number `index` of the stream `seed`.
constexpr uint64_t random_bits(uint64_t seed, uint64_t index) {
  return splitmix64(splitmix64(seed) ^ index);
}

// In (-6, 6), a multiple of 2^-16, mean 0, variance 1.
constexpr double random_normal(uint64_t seed, uint64_t index) {
  int64_t sum = 0;
  for (uint64_t draw = 0; draw < 3; ++draw) {
    uint64_t bits = random_bits(seed, 3 * index + draw);
    for (int part = 0; part < 4; ++part)
      sum += static_cast<int64_t>((bits >> (16 * part)) & 0xffff);
  }
  return static_cast<double>(sum - 6 * 0xffff) / 65536.0;
}

// In [-1, 1), a multiple of 2^-23.
constexpr double random_uniform(uint64_t seed, uint64_t index) {
  int64_t bits = static_cast<int64_t>(random_bits(seed, index) >> 40);
  return static_cast<double>(bits - (int64_t{1} << 23)) / 8388608.0;
}

// low <= result <= high.
constexpr int64_t random_integer(uint64_t seed, uint64_t index, int64_t low, int64_t high) {
  uint64_t span = static_cast<uint64_t>(high) - static_cast<uint64_t>(low) + 1;
  uint64_t bits = random_bits(seed, index);
  return static_cast<int64_t>(static_cast<uint64_t>(low) + (span == 0 ? bits : bits % span));
}

// A binary floating-point format with a sign bit. `has_infinity` is false for e4m3, whose top
// exponent holds numbers too and whose only NaN is all ones; such formats saturate.
struct FloatFormat {
  int exponent_bits;
  int mantissa_bits;
  bool has_infinity;
  bool saturates;

  constexpr int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  constexpr uint64_t sign() const { return uint64_t{1} << (exponent_bits + mantissa_bits); }
  constexpr uint64_t largest() const {
    uint64_t all = sign() - 1;
    return has_infinity ? all - (uint64_t{1} << mantissa_bits) : all - 1;
  }
  constexpr uint64_t infinity() const { return largest() + (has_infinity ? 1 : 0); }
  // The quiet NaN that the hardware's own conversions make: all ones below the sign.
  constexpr uint64_t nan() const { return sign() - 1; }
};

inline constexpr FloatFormat kF64{11, 52, true, false};
inline constexpr FloatFormat kF32{8, 23, true, false};
inline constexpr FloatFormat kF16{5, 10, true, false};
inline constexpr FloatFormat kBf16{8, 7, true, false};
inline constexpr FloatFormat kE4m3{4, 3, false, true};
inline constexpr FloatFormat kE5m2{5, 2, true, true};

// Rounds to nearest, ties to even, straight from the bits of `value`; subnormals are kept.
inline uint64_t encode_float(double value, FloatFormat format) {
  uint64_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  const uint64_t sign = (bits >> 63) != 0 ? format.sign() : 0;
  const uint64_t fraction = bits & ((uint64_t{1} << 52) - 1);
  const int exponent = static_cast<int>((bits >> 52) & 0x7ff);
  if (exponent == 0x7ff && fraction != 0) return format.nan();
  if (exponent == 0x7ff) return sign | (format.saturates ? format.largest() : format.infinity());
  if (exponent == 0 && format.mantissa_bits < 52)
    return sign;  // below every smaller format's range
  if (format.mantissa_bits == 52) return bits;

  const uint64_t significand = fraction | (uint64_t{1} << 52);
  int target = exponent - 1023 + format.bias();  // biased exponent in the target format
  int drop = 52 - format.mantissa_bits;          // low bits to round away
  if (target < 1) drop += 1 - target;
  if (drop > 53) return sign;
  const uint64_t half = uint64_t{1} << (drop - 1);
  uint64_t kept = significand >> drop;
  const uint64_t rest = significand & ((half << 1) - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  // A carry out of the mantissa moves into the exponent by itself.
  uint64_t result =
      target < 1 ? kept : kept + (static_cast<uint64_t>(target - 1) << format.mantissa_bits);
  if (result > format.largest()) result = format.saturates ? format.largest() : format.infinity();
  return sign | result;
}

// The value of `bits` read in `format`; exact, since every format here fits a double.
inline double decode_float(uint64_t bits, FloatFormat format) {
  uint64_t wide;
  const uint64_t sign = (bits & format.sign()) != 0 ? uint64_t{1} << 63 : 0;
  const uint64_t magnitude = bits & (format.sign() - 1);
  const uint64_t exponent = magnitude >> format.mantissa_bits;
  const uint64_t fraction = magnitude & ((uint64_t{1} << format.mantissa_bits) - 1);
  const bool special = magnitude > format.largest();
  if (special) {
    const bool infinite = format.has_infinity && magnitude == format.infinity();
    wide = sign | (uint64_t{0x7ff} << 52) | (infinite ? 0 : uint64_t{1} << 51);
  } else if (exponent == 0) {
    double unit = 1.0;  // of the last place of a subnormal: halving is exact
    for (int i = 0; i < format.bias() - 1 + format.mantissa_bits; ++i) unit /= 2;
    const double value = static_cast<double>(fraction) * unit;
    return sign != 0 ? -value : value;
  } else {
    const uint64_t rebias = static_cast<uint64_t>(1023 - format.bias());
    wide = sign | ((exponent + rebias) << 52) | (fraction << (52 - format.mantissa_bits));
  }
  double value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

}  // namespace lw::casefile
