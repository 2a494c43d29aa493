#include "arith/float32.h"

#include <gtest/gtest.h>

#include <array>
#include <vector>

#include "arith/exact.h"
#include "arith/random_bits.h"

namespace lw::arith {
namespace {

constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kTowardZero, Rounding::kDown,
                                   Rounding::kUp};

// Operands whose results meet every edge: all magnitudes, close to each other, around 2^-126 and
// the largest number, specials.
class Operands {
 public:
  float next() {
    switch (random_.below(8)) {
      case 0:
        return f32_of(random_.word());
      case 1:
        return f32_of(random_.f32_near(64, 3));  // products around 2^-126
      case 2:
        return f32_of(random_.f32_near(127, 2));
      case 3:
        return f32_of(random_.f32_near(2, 3));
      case 4:
        return f32_of((random_.word() & 0x80000000u) | random_.below(1u << 24));
      case 5:
        return f32_of(random_.f32_near(252, 3));
      case 6:
        return f32_of((random_.word() & 0x80000007u) | random_.f32_near(100, 80) << 1 >> 1);
      default:
        return f32_of(kEdges[random_.below(kEdges.size())] ^ (random_.word() & kSignF32));
    }
  }

 private:
  static constexpr std::array<uint32_t, 14> kEdges = {
      0x00000000u, 0x00000001u, 0x007fffffu, 0x00800000u, 0x00800001u, 0x3f7fffffu, 0x3f800000u,
      0x3f800001u, 0x7f7fffffu, 0x7f800000u, 0x7f800001u, 0x7fc00000u, 0x20000000u, 0x1fffffffu};
  RandomBits random_{7};
};

std::vector<FloatMode> all_modes() {
  std::vector<FloatMode> modes;
  for (Rounding rounding : kRoundings)
    for (bool ftz : {false, true})
      for (bool sat : {false, true}) modes.push_back({rounding, ftz, sat});
  return modes;
}

// The device's result of an exact number: flushed, rounded once, clamped.
float expected(const Exact& value, FloatMode mode) {
  float r = round_exact(value, mode.rounding, mode.ftz);
  return mode.sat ? saturate(r) : r;
}

float flushed(float x, FloatMode mode) { return mode.ftz ? flush(x) : x; }

template <class Operation, class Reference>
void compare_binary(Operation operation, Reference reference) {
  Operands operands;
  for (int i = 0; i < 12000; ++i) {
    float a = operands.next();
    float b = operands.next();
    if (i % 8 == 0) b = 0x1p-126f / a;  // a product next to the smallest normal number
    if (i % 8 == 1) a = 0x1p-126f * b;  // a quotient
    for (FloatMode mode : all_modes()) {
      float want =
          expected(reference(Exact(flushed(a, mode)), Exact(flushed(b, mode)), mode), mode);
      float got = operation(a, b, mode);
      ASSERT_EQ(bits_of(got), bits_of(want))
          << std::hex << bits_of(a) << ' ' << bits_of(b) << " rounding "
          << static_cast<int>(mode.rounding) << " ftz " << mode.ftz << " sat " << mode.sat;
    }
  }
}

TEST(Float32, AddEqualsExactSum) {
  compare_binary([](float a, float b, FloatMode m) { return add(a, b, m); },
                 [](Exact a, Exact b, FloatMode m) { return exact_add(a, b, m.rounding); });
  compare_binary(add_exactly,
                 [](Exact a, Exact b, FloatMode m) { return exact_add(a, b, m.rounding); });
}

TEST(Float32, MulEqualsExactProduct) {
  compare_binary([](float a, float b, FloatMode m) { return mul(a, b, m); },
                 [](Exact a, Exact b, FloatMode) { return exact_mul(a, b); });
}

TEST(Float32, DivEqualsExactQuotient) {
  compare_binary([](float a, float b, FloatMode m) { return div(a, b, m); },
                 [](Exact a, Exact b, FloatMode) { return exact_div(a, b); });
}

TEST(Float32, SqrtEqualsExactRoot) {
  compare_binary([](float a, float, FloatMode m) { return sqrt(a, m); },
                 [](Exact a, Exact, FloatMode) { return exact_sqrt(a); });
}

TEST(Float32, FmaEqualsExactSumOfProduct) {
  Operands operands;
  for (int i = 0; i < 24000; ++i) {
    float a = operands.next();
    float b = operands.next();
    // Half of the addends nearly cancel the product.
    float c = i % 2 == 0 ? operands.next()
                         : f32_of(bits_of(-(a * b)) + static_cast<uint32_t>(i / 2 % 5) - 2);
    for (FloatMode mode : all_modes()) {
      Exact product = exact_mul(Exact(flushed(a, mode)), Exact(flushed(b, mode)));
      float want = expected(exact_add(product, Exact(flushed(c, mode)), mode.rounding), mode);
      ASSERT_EQ(bits_of(fma(a, b, c, mode)), bits_of(want))
          << std::hex << bits_of(a) << ' ' << bits_of(b) << ' ' << bits_of(c);
    }
  }
}

// What rounds to 24 bits below the smallest normal number is flushed, though an f32 would hold it.
TEST(Float32, FlushDecidesAfterUnboundedRounding) {
  float a = f32_of(0x3f7fffffu);
  float b = f32_of(0x00800000u);
  EXPECT_EQ(bits_of(mul(a, b, {.ftz = false})), 0x00800000u);
  EXPECT_EQ(bits_of(mul(a, b, {.ftz = true})), 0u);
  EXPECT_EQ(bits_of(mul(-a, b, {.ftz = true})), kSignF32);
  EXPECT_EQ(bits_of(fma(a, b, 0.0f, {.ftz = true})), 0u);
  // 2^-126 less 2^-162: results of the H200.
  float x = f32_of(0x14026e52u), y = f32_of(0x9a1ba40cu);
  EXPECT_EQ(bits_of(fma(x, y, b, {.ftz = true})), 0x00800000u);
  EXPECT_EQ(bits_of(fma(x, y, b, {Rounding::kTowardZero, true})), 0u);
}

TEST(Float32, MinMax) {
  float nan = f32_of(0x7f812345u);
  EXPECT_EQ(min(nan, 1.0f, {}), 1.0f);
  EXPECT_EQ(max(1.0f, nan, {}), 1.0f);
  EXPECT_EQ(bits_of(max(1.0f, nan, {.nan = true})), kNanF32);
  EXPECT_EQ(bits_of(max(nan, nan, {})), kNanF32);
  for (float zero : {0.0f, -0.0f}) {
    EXPECT_EQ(bits_of(min(zero, -zero, {})), kSignF32);
    EXPECT_EQ(bits_of(max(zero, -zero, {})), 0u);
  }
  EXPECT_EQ(bits_of(min(f32_of(0x80000001u), 1.0f, {.ftz = true})), kSignF32);
  EXPECT_EQ(min(-3.0f, 2.0f, {.xorsign_abs = true}), -2.0f);
  EXPECT_EQ(max(-3.0f, -2.0f, {.xorsign_abs = true}), 3.0f);
}

TEST(Float32, NegAbsAreAdditionsToNans) {
  for (bool ftz : {false, true}) {
    EXPECT_EQ(bits_of(neg(f32_of(0x7f800001u), ftz)), kNanF32);
    EXPECT_EQ(bits_of(abs(f32_of(0xffc00001u), ftz)), kNanF32);
  }
  EXPECT_EQ(bits_of(neg(f32_of(0x00000001u), true)), kSignF32);
  EXPECT_EQ(bits_of(neg(f32_of(0x00000001u), false)), 0x80000001u);
}

TEST(Float32, SaturateClearsNanAndNegativeZero) {
  EXPECT_EQ(bits_of(add(f32_of(kNanF32), 1.0f, {.sat = true})), 0u);
  EXPECT_EQ(bits_of(mul(-0.0f, 1.0f, {.sat = true})), 0u);
  EXPECT_EQ(add(2.0f, 3.0f, {.sat = true}), 1.0f);
}

}  // namespace
}  // namespace lw::arith
