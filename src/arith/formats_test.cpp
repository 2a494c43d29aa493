#include "arith/formats.h"

#include <gtest/gtest.h>

#include "arith/exact.h"
#include "arith/random_bits.h"

namespace lw::arith {
namespace {

constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kTowardZero, Rounding::kDown,
                                   Rounding::kUp, Rounding::kNearestAway};

// Every f32 whose bits differ from a 16-bit code's by a little: midpoints and their neighbours too.
std::vector<float> around_codes(int shift) {
  std::vector<float> all;
  uint32_t half = 1u << (shift - 1);
  for (uint32_t code = 0; code < 0x10000; ++code)
    for (uint32_t offset : {0u, 1u, half - 1, half, half + 1, 2 * half - 1})
      all.push_back(f32_of((code << 16) + offset));
  return all;
}

TEST(Formats, F16WidensExactly) {
  for (uint32_t code = 0; code < 0x10000; ++code) {
    float wide = f32_from_f16(static_cast<uint16_t>(code));
    Decoded d = decode(kF16, code);
    if (d.kind == Decoded::Kind::kNan) {
      EXPECT_EQ(bits_of(wide), kNanF32);
    } else if (d.kind == Decoded::Kind::kInfinity) {
      EXPECT_EQ(wide, d.negative ? -INFINITY : INFINITY);
    } else {
      double value = std::ldexp(static_cast<double>(d.significand), d.exponent);
      EXPECT_EQ(bits_of(wide), bits_of(static_cast<float>(d.negative ? -value : value)));
      EXPECT_EQ(f16_from_f32_rn(wide), code);
    }
  }
}

void expect_narrowed(const Format& format, uint16_t (*narrow)(float, Narrowing), float x) {
  for (Rounding rounding : kRoundings) {
    uint64_t want = round_exact_to(format, Exact(x), rounding, kNanF16);
    ASSERT_EQ(narrow(x, {.rounding = rounding}), want) << std::hex << bits_of(x);
  }
}

TEST(Formats, F16RoundsOnceInEveryMode) {
  RandomBits random(1);
  for (int i = 0; i < 20000; ++i)
    expect_narrowed(kF16, f16_from_f32, f32_of(i % 2 ? random.word() : random.f32_near(113, 25)));
  for (uint32_t code = 0; code < 0x7c00; ++code) {  // midpoints and their neighbours
    float middle = (f32_from_f16(static_cast<uint16_t>(code)) +
                    (code == 0x7bff ? 65536.0f : f32_from_f16(static_cast<uint16_t>(code + 1)))) /
                   2;
    for (uint32_t offset : {0xffffffffu, 0u, 1u})
      expect_narrowed(kF16, f16_from_f32, f32_of((bits_of(middle) + offset) ^ code << 31));
  }
}

TEST(Formats, Bf16RoundsOnceInEveryMode) {
  for (uint32_t code = 0; code < 0x10000; code += 7)
    for (uint32_t low : {0u, 1u, 0x7fffu, 0x8000u, 0x8001u, 0xffffu})
      expect_narrowed(kBf16, bf16_from_f32, f32_of(code << 16 | low));
}

// The fast forms against the general one.
TEST(Formats, NearestFormsAgree) {
  for (int shift : {13, 16}) {
    for (float x : around_codes(shift)) {
      ASSERT_EQ(f16_from_f32_rn(x), f16_from_f32(x, {})) << std::hex << bits_of(x);
      ASSERT_EQ(bf16_from_f32_rn(x), bf16_from_f32(x, {})) << std::hex << bits_of(x);
    }
  }
  RandomBits random(2);
  for (int i = 0; i < 3000000; ++i) {
    float x = f32_of(i % 2 ? random.word() : random.f32_near(113, 25));
    ASSERT_EQ(f16_from_f32_rn(x), f16_from_f32(x, {})) << std::hex << bits_of(x);
    ASSERT_EQ(bf16_from_f32_rn(x), bf16_from_f32(x, {})) << std::hex << bits_of(x);
  }
}

TEST(Formats, SatfiniteAndRelu) {
  EXPECT_EQ(f16_from_f32(1e6f, {}), 0x7c00);
  EXPECT_EQ(f16_from_f32(1e6f, {.rounding = Rounding::kTowardZero}), 0x7bff);
  EXPECT_EQ(f16_from_f32(-INFINITY, {.rounding = Rounding::kTowardZero}), 0xfc00);
  EXPECT_EQ(f16_from_f32(-INFINITY, {.satfinite = true}), 0xfbff);
  EXPECT_EQ(bf16_from_f32(-1.0f, {.relu = true}), 0);
  EXPECT_EQ(bf16_from_f32(f32_of(0xff800001u), {.relu = true}), kNanF16);
}

// An addition on the bits for .rna, nearest even with its own NaN for .rn.
TEST(Formats, Tf32) {
  Narrowing rna{.rounding = Rounding::kNearestAway};
  EXPECT_EQ(tf32_from_f32(f32_of(0x3f801000u), rna), 0x3f802000u);
  EXPECT_EQ(tf32_from_f32(f32_of(0x7f7fffffu), rna), 0x7f800000u);
  EXPECT_EQ(tf32_from_f32(f32_of(0x7f800fffu), rna), 0x7f800000u);
  EXPECT_EQ(tf32_from_f32(f32_of(0x3f801000u), {}), 0x3f800000u);
  EXPECT_EQ(tf32_from_f32(f32_of(0x7f800001u), {}), kNanTf32);
  RandomBits random(4);
  for (int i = 0; i < 20000; ++i) {
    float x = f32_of(random.word());
    if (is_nan(x)) continue;
    for (Rounding rounding : kRoundings)
      ASSERT_EQ(tf32_from_f32(x, {.rounding = rounding}) >> 13,
                round_exact_to(kTf32, Exact(x), rounding, 0))
          << std::hex << bits_of(x);
  }
}

struct Short {
  Format format;
  float (*widen)(uint8_t);
  uint8_t (*narrow)(float, Narrowing);
  uint32_t largest;  // code
  uint32_t nan;
};
const Short kShorts[] = {
    {kE4m3, f32_from_e4m3, e4m3_from_f32, 0x7e, 0x7f},
    {kE5m2, f32_from_e5m2, e5m2_from_f32, 0x7b, 0x7f},
    {kE3m2, f32_from_e3m2, e3m2_from_f32, 0x1f, 0x1f},
    {kE2m3, f32_from_e2m3, e2m3_from_f32, 0x1f, 0x1f},
    {kE2m1, f32_from_e2m1, e2m1_from_f32, 0x07, 0x07},
};

TEST(Formats, ShortFormatsRoundTripAndSaturate) {
  for (const Short& s : kShorts) {
    uint32_t sign = (s.largest | (s.largest >> 1) | 1) + 1;
    while ((sign & (sign - 1)) != 0) sign &= sign - 1;
    for (uint32_t code = 0; code <= s.largest; ++code)
      for (uint32_t bit : {0u, sign})
        EXPECT_EQ(s.narrow(s.widen(static_cast<uint8_t>(code | bit)), {}), code | bit);
    EXPECT_EQ(s.narrow(1e30f, {}), s.largest);
    EXPECT_EQ(s.narrow(-INFINITY, {}), s.largest | sign);
    EXPECT_EQ(s.narrow(f32_of(0xffc00000u), {}), s.nan);
  }
}

// Nearest even: no other code is nearer, and on a tie the even one is taken.
TEST(Formats, ShortFormatsRoundToNearestEven) {
  RandomBits random(5);
  for (const Short& s : kShorts) {
    for (int i = 0; i < 20000; ++i) {
      float x = std::fabs(f32_of(random.f32_near(s.format.bias == 15 ? 120 : 126, 12)));
      if (i % 4 == 0) x = f32_of(bits_of(x) & 0xfff00000u);  // ties
      uint32_t code = s.narrow(x, {});
      double error = std::fabs(static_cast<double>(s.widen(static_cast<uint8_t>(code))) - x);
      for (uint32_t other = 0; other <= s.largest; ++other) {
        double distance = std::fabs(static_cast<double>(s.widen(static_cast<uint8_t>(other))) - x);
        ASSERT_TRUE(error < distance || other == code || (error == distance && code % 2 == 0))
            << x << ' ' << code << ' ' << other;
      }
    }
  }
}

TEST(Formats, ScaleFormat) {
  EXPECT_EQ(f32_from_ue8m0(0), 0x1p-127f);
  EXPECT_EQ(f32_from_ue8m0(127), 1.0f);
  EXPECT_EQ(bits_of(f32_from_ue8m0(255)), kNanF32);
  Narrowing up{.rounding = Rounding::kUp, .satfinite = true};
  Narrowing zero{.rounding = Rounding::kTowardZero, .satfinite = true};
  for (int code = 0; code < 255; ++code) {
    float x = f32_from_ue8m0(static_cast<uint8_t>(code));
    EXPECT_EQ(ue8m0_from_f32(x, up), code);
    EXPECT_EQ(ue8m0_from_f32(-x, zero), code);
    EXPECT_EQ(ue8m0_from_f32(std::nextafter(x, INFINITY), zero), code);
    EXPECT_EQ(ue8m0_from_f32(std::nextafter(x, INFINITY), up), std::min(code + 1, 254));
  }
  EXPECT_EQ(ue8m0_from_f32(NAN, up), 255);
}

TEST(Formats, F32FromF64) {
  RandomBits random(6);
  for (int i = 0; i < 10000; ++i) {
    int centre = i % 3 == 0 ? 1023 - 126 : i % 3 == 1 ? 1023 : 1023 + 127;
    uint64_t field = static_cast<uint64_t>(centre - 3 + static_cast<int>(random.below(7)));
    uint64_t bits = (random.next() & 0x800fffffffffffffu) | field << 52;
    if (i % 5 == 0) bits &= ~uint64_t{0x0fffffff};  // ties
    double x = f64_of(bits);
    for (Rounding rounding : kRoundings)
      for (bool ftz : {false, true})
        ASSERT_EQ(bits_of(f32_from_f64(x, {rounding, ftz, false})),
                  bits_of(round_exact(Exact(x), rounding, ftz)))
            << std::hex << bits;
  }
  EXPECT_EQ(bits_of(f32_from_f64(f64_of(0xfff0000020000000u), {})), 0xffc00001u);
  EXPECT_EQ(bits_of(f64_from_f32(f32_of(0xff800001u))), 0xfff8000020000000u);
  EXPECT_EQ(bits_of(f32_from_f64(NAN, {.sat = true})), 0u);
}

}  // namespace
}  // namespace lw::arith
