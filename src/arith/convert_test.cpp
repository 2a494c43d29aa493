#include "arith/convert.h"

#include <gtest/gtest.h>

#include "arith/exact.h"
#include "arith/integer.h"
#include "arith/random_bits.h"

namespace lw::arith {
namespace {

constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kTowardZero, Rounding::kDown,
                                   Rounding::kUp};

// The integer that a finite f32 rounds to, in 128 bits and by comparing remainders.
__int128 rounded(float x, Rounding rounding) {
  Decoded d = decode(kF32, bits_of(x));
  if (d.exponent >= 80)
    return d.negative ? -(static_cast<__int128>(1) << 100) : static_cast<__int128>(1) << 100;
  __int128 whole = d.significand;
  bool rest = false;
  int half = -1;  // below, at or above it
  if (d.exponent >= 0) {
    whole <<= d.exponent;
  } else if (d.exponent < -24) {
    rest = d.significand != 0;
    whole = 0;
  } else {
    uint64_t dropped = d.significand & ((uint64_t{1} << -d.exponent) - 1);
    uint64_t middle = uint64_t{1} << (-d.exponent - 1);
    whole = d.significand >> -d.exponent;
    rest = dropped != 0;
    half = dropped < middle ? -1 : dropped == middle ? 0 : 1;
  }
  bool away = false;
  if (rounding == Rounding::kNearestEven) away = half > 0 || (half == 0 && (whole & 1) != 0);
  if (rounding == Rounding::kDown) away = rest && d.negative;
  if (rounding == Rounding::kUp) away = rest && !d.negative;
  whole += away ? 1 : 0;
  return d.negative ? -whole : whole;
}

template <class Int>
void check_from_f32(RandomBits& random) {
  for (int i = 0; i < 60000; ++i) {
    float x = f32_of(i % 3 == 0 ? random.word() : random.f32_near(127 + i % 70, 4));
    if (!std::isfinite(x)) continue;
    for (Rounding rounding : kRoundings) {
      __int128 want = rounded(x, rounding);
      want = std::max<__int128>(want, std::numeric_limits<Int>::min());
      want = std::min<__int128>(want, std::numeric_limits<Int>::max());
      ASSERT_EQ(int_from_f32<Int>(x, rounding), static_cast<Int>(want)) << x;
      ASSERT_EQ(int_from_f64<Int>(x, rounding), static_cast<Int>(want)) << x;
    }
  }
  EXPECT_EQ(int_from_f32<Int>(INFINITY, Rounding::kTowardZero), std::numeric_limits<Int>::max());
  EXPECT_EQ(int_from_f32<Int>(-INFINITY, Rounding::kUp), std::numeric_limits<Int>::min());
}

TEST(Convert, FloatToIntegerRoundsAndClamps) {
  RandomBits random(1);
  check_from_f32<int8_t>(random);
  check_from_f32<uint8_t>(random);
  check_from_f32<int16_t>(random);
  check_from_f32<uint16_t>(random);
  check_from_f32<int32_t>(random);
  check_from_f32<uint32_t>(random);
  check_from_f32<int64_t>(random);
  check_from_f32<uint64_t>(random);
}

TEST(Convert, NanToInteger) {
  Rounding rz = Rounding::kTowardZero;
  EXPECT_EQ(int_from_f32<int8_t>(NAN, rz), 0);
  EXPECT_EQ(int_from_f32<uint32_t>(NAN, rz), 0u);
  EXPECT_EQ(int_from_f32<int32_t>(NAN, rz), 0);
  EXPECT_EQ(int_from_f32<uint64_t>(NAN, rz), uint64_t{1} << 63);
  EXPECT_EQ(int_from_f32<int64_t>(NAN, rz), INT64_MIN);
  EXPECT_EQ(int_from_f64<int32_t>(NAN, rz), INT32_MIN);
  EXPECT_EQ(int_from_f64<int8_t>(NAN, rz), -128);
  EXPECT_EQ(int_from_f64<uint16_t>(NAN, rz), 0x8000);
  EXPECT_EQ(int_from_f64<uint32_t>(NAN, rz), 0x80000000u);
  EXPECT_EQ(int_from_f64<uint64_t>(NAN, rz), uint64_t{1} << 63);
}

TEST(Convert, IntegerToFloatRoundsOnce) {
  RandomBits random(2);
  for (int i = 0; i < 20000; ++i) {
    uint64_t bits = random.next() >> random.below(64);
    int64_t x = static_cast<int64_t>(random.below(2) ? bits : 0 - bits);
    Exact value = Exact::of(x < 0, Big(x < 0 ? 0 - static_cast<uint64_t>(x) : x, 0));
    Exact magnitude = Exact::of(false, Big(bits, 0));
    for (Rounding rounding : kRoundings) {
      ASSERT_EQ(bits_of(f32_from_int(x, rounding)), round_exact_to(kF32, value, rounding, 0)) << x;
      ASSERT_EQ(f16_from_int(x, rounding), round_exact_to(kF16, value, rounding, 0)) << x;
      ASSERT_EQ(bf16_from_int(x, rounding), round_exact_to(kBf16, value, rounding, 0)) << x;
      ASSERT_EQ(bits_of(f64_from_int(x, rounding)), round_exact_to(kF64, value, rounding, 0)) << x;
      ASSERT_EQ(bits_of(f32_from_int(bits, rounding)),
                round_exact_to(kF32, magnitude, rounding, 0));
      ASSERT_EQ(bits_of(f64_from_int(bits, rounding)),
                round_exact_to(kF64, magnitude, rounding, 0));
    }
    ASSERT_EQ(f32_from_s32_rn(static_cast<int32_t>(x)),
              f32_from_int(int64_t{static_cast<int32_t>(x)}, Rounding::kNearestEven));
  }
}

TEST(Convert, RoundToIntegral) {
  EXPECT_EQ(bits_of(round_to_integral(-0.4f, Rounding::kNearestEven)), kSignF32);
  EXPECT_EQ(round_to_integral(2.5f, Rounding::kNearestEven), 2.0f);
  EXPECT_EQ(round_to_integral(-2.5f, Rounding::kDown), -3.0f);
  EXPECT_EQ(round_to_integral(0.1f, Rounding::kUp), 1.0f);
  EXPECT_EQ(bits_of(round_to_integral(f32_of(0xff800001u), Rounding::kUp)), kNanF32);
  EXPECT_EQ(bits_of(round_to_integral_f64(f64_of(0xfff0000000000001u), Rounding::kUp)),
            0xfff8000000000001u);
}

}  // namespace
}  // namespace lw::arith
