#include "arith/float64.h"

#include <gtest/gtest.h>

#include "arith/exact.h"
#include "arith/random_bits.h"

namespace lw::arith {
namespace {

constexpr Rounding kRoundings[] = {Rounding::kNearestEven, Rounding::kTowardZero, Rounding::kDown,
                                   Rounding::kUp};

// Exponents near 1, so that the exact results fit the 768 bits of the reference.
double near_one(RandomBits& random, int spread) {
  uint64_t field = 1023 + random.below(2 * spread + 1) - spread;
  return f64_of((random.next() & 0x800fffffffffffffu) | field << 52);
}

uint64_t rounded(const Exact& x, Rounding rounding) { return round_exact_to(kF64, x, rounding, 0); }

TEST(Float64, EveryRoundingEqualsExact) {
  RandomBits random(1);
  for (int i = 0; i < 5000; ++i) {
    double a = near_one(random, 60), b = near_one(random, 60), c = near_one(random, 100);
    if (i % 2 == 0) c = f64_of(bits_of(-(a * b)) + random.below(3));
    Exact x(a), y(b), z(c);
    for (Rounding rounding : kRoundings) {
      ASSERT_EQ(bits_of(add_f64(a, b, rounding)), rounded(exact_add(x, y, rounding), rounding));
      ASSERT_EQ(bits_of(mul_f64(a, b, rounding)), rounded(exact_mul(x, y), rounding));
      ASSERT_EQ(bits_of(fma_f64(a, b, c, rounding)),
                rounded(exact_add(exact_mul(x, y), z, rounding), rounding));
    }
  }
}

TEST(Float64, DirectedQuotientsAndRootsEncloseTheExactOnes) {
  RandomBits random(2);
  for (int i = 0; i < 5000; ++i) {
    double a = near_one(random, 60), b = near_one(random, 60);
    double low = div_f64(a, b, Rounding::kDown), high = div_f64(a, b, Rounding::kUp);
    // low * |b| <= |a| with b's sign moved to a, and likewise above.
    Exact divisor(std::fabs(b)), dividend(b < 0 ? a : -a);  // minus the dividend
    Exact below = exact_add(exact_mul(Exact(low), divisor), dividend, Rounding::kDown);
    Exact above = exact_add(exact_mul(Exact(high), divisor), dividend, Rounding::kUp);
    EXPECT_TRUE(below.negative && !above.negative) << a << ' ' << b;
    EXPECT_EQ(std::nextafter(low, INFINITY), high);
    double zero = div_f64(a, b, Rounding::kTowardZero);
    EXPECT_EQ(zero, zero < 0 ? high : low);
    double root = sqrt_f64(std::fabs(a), Rounding::kDown);
    EXPECT_EQ(std::nextafter(root, INFINITY), sqrt_f64(std::fabs(a), Rounding::kUp));
  }
  EXPECT_EQ(div_f64(1.0, 4.0, Rounding::kUp), 0.25);
  EXPECT_EQ(sqrt_f64(9.0, Rounding::kDown), 3.0);
}

TEST(Float64, Nans) {
  double first = f64_of(0x7ff0000000000001u), second = f64_of(0xfff8000000000002u);
  EXPECT_EQ(bits_of(add_f64(first, 1.0, Rounding::kUp)), 0x7ff8000000000001u);
  EXPECT_EQ(bits_of(add_f64(second, first, Rounding::kNearestEven)), 0x7ff8000000000001u);
  EXPECT_EQ(bits_of(sub_f64(1.0, second, Rounding::kNearestEven)), bits_of(second));
  double third = f64_of(0x7ff8000000000003u);
  EXPECT_EQ(bits_of(fma_f64(first, 1.0, second, Rounding::kNearestEven)), bits_of(second));
  EXPECT_EQ(bits_of(fma_f64(first, third, second, Rounding::kNearestEven)), bits_of(third));
  EXPECT_EQ(bits_of(div_f64(third, second, Rounding::kNearestEven)), bits_of(third));
  EXPECT_EQ(bits_of(neg_f64(first)), 0x7ff8000000000001u);
  EXPECT_EQ(bits_of(sub_f64(INFINITY, INFINITY, Rounding::kNearestEven)), 0xfff8000000000000u);
  EXPECT_EQ(min_f64(first, 1.0), 1.0);
  EXPECT_EQ(max_f64(1.0, second), 1.0);
  EXPECT_EQ(bits_of(min_f64(second, first)), 0x7ff8000000000001u);
  EXPECT_EQ(bits_of(min_f64(0.0, -0.0)), bits_of(-0.0));
  EXPECT_EQ(bits_of(max_f64(-0.0, 0.0)), 0u);
}

}  // namespace
}  // namespace lw::arith
