#include "arith/half.h"

#include <gtest/gtest.h>

#include "arith/exact.h"
#include "arith/random_bits.h"

namespace lw::arith {
namespace {

Exact value_f16(uint16_t x) { return Exact(f32_from_f16(x)); }
Exact value_bf16(uint16_t x) { return Exact(f32_from_bf16(x)); }

uint16_t rounded(const Format& format, const Exact& x) {
  return static_cast<uint16_t>(round_exact_to(format, x, Rounding::kNearestEven, kNanF16));
}

uint16_t rounded_f16_ftz(const Exact& x) {
  if (is_tiny(kF16, x, Rounding::kNearestEven)) return x.negative ? 0x8000 : 0;
  return rounded(kF16, x);
}

constexpr Rounding kRn = Rounding::kNearestEven;

// Operands whose products and sums meet each other.
uint16_t code(RandomBits& random, int i, const Format& format) {
  uint32_t sign = random.word() & 0x8000;
  if (i % 8 == 0) return static_cast<uint16_t>(random.word());
  int centre = i % 8 < 6 ? format.bias : i % 8 == 6 ? 2 : 2 * format.bias - 1;
  int field = centre + static_cast<int>(random.below(9)) - 4;
  field = std::max(field, 0);
  uint32_t magnitude = static_cast<uint32_t>(field) << format.fraction_bits |
                       (random.word() & ((1u << format.fraction_bits) - 1));
  return static_cast<uint16_t>((magnitude & 0x7fff) | sign);
}

TEST(Half, F16EqualsExact) {
  RandomBits random(1);
  for (int i = 0; i < 60000; ++i) {
    uint16_t a = code(random, i, kF16);
    uint16_t b = code(random, i / 8, kF16);
    uint16_t c = code(random, i / 64, kF16);
    Exact x = value_f16(a), y = value_f16(b), z = value_f16(c);
    Exact negative_y = value_f16(static_cast<uint16_t>(b ^ 0x8000));
    ASSERT_EQ(add_f16(a, b), rounded(kF16, exact_add(x, y, kRn))) << a << ' ' << b;
    ASSERT_EQ(sub_f16(a, b), rounded(kF16, exact_add(x, negative_y, kRn))) << a << ' ' << b;
    ASSERT_EQ(mul_f16(a, b), rounded(kF16, exact_mul(x, y))) << a << ' ' << b;
    ASSERT_EQ(fma_f16(a, b, c), rounded(kF16, exact_add(exact_mul(x, y), z, kRn)))
        << a << ' ' << b << ' ' << c;
    Exact fx = value_f16(flush_f16(a)), fy = value_f16(flush_f16(b)), fz = value_f16(flush_f16(c));
    ASSERT_EQ(fma_f16(a, b, c, {.ftz = true}),
              rounded_f16_ftz(exact_add(exact_mul(fx, fy), fz, kRn)));
    ASSERT_EQ(mul_f16(a, b, {.ftz = true}), rounded_f16_ftz(exact_mul(fx, fy)));
  }
}

TEST(Half, Bf16EqualsExact) {
  RandomBits random(2);
  for (int i = 0; i < 60000; ++i) {
    uint16_t a = code(random, i, kBf16);
    uint16_t b = code(random, i / 8, kBf16);
    uint16_t c = code(random, i / 64, kBf16);
    Exact x = value_bf16(a), y = value_bf16(b), z = value_bf16(c);
    ASSERT_EQ(add_bf16(a, b), rounded(kBf16, exact_add(x, y, kRn))) << a << ' ' << b;
    ASSERT_EQ(mul_bf16(a, b), rounded(kBf16, exact_mul(x, y))) << a << ' ' << b;
    ASSERT_EQ(fma_bf16(a, b, c), rounded(kBf16, exact_add(exact_mul(x, y), z, kRn)))
        << a << ' ' << b << ' ' << c;
  }
}

// One operand over all codes.
TEST(Half, EveryCode) {
  for (uint32_t i = 0; i < 0x10000; ++i) {
    uint16_t a = static_cast<uint16_t>(i);
    bool nan16 = is_nan_f16(a), nan_b = is_nan_bf16(a);
    ASSERT_EQ(add_f16(a, 0x8000), nan16 ? kNanF16 : a);
    ASSERT_EQ(mul_f16(a, 0x3c00), nan16 ? kNanF16 : a);
    ASSERT_EQ(fma_bf16(a, 0x3f80, 0x8000), nan_b ? kNanF16 : a);
    ASSERT_EQ(neg_f16(neg_f16(a)), nan16 ? kNanF16 : a);
    ASSERT_EQ(max_f16(a, a), nan16 ? kNanF16 : a);
    ASSERT_EQ(max_f16(a, 0x7e00), nan16 ? kNanF16 : a);
    ASSERT_EQ(max_f16(a, 0x7e00, {.nan = true}), kNanF16);
    ASSERT_EQ(min_bf16(a, a), nan_b ? kNanF16 : a);
    ASSERT_EQ(abs_bf16(a), nan_b ? kNanF16 : a & 0x7fff);
    ASSERT_EQ(fma_f16(a, 0x3c00, 0x8000, {.relu = true}), nan16 ? kNanF16 : a & 0x8000 ? 0 : a);
  }
}

TEST(Half, MinMaxOrderZeros) {
  EXPECT_EQ(min_f16(0x0000, 0x8000), 0x8000);
  EXPECT_EQ(max_bf16(0x8000, 0x0000), 0x0000);
  EXPECT_EQ(max_f16(0x8001, 0xbc00, {.ftz = true}), 0x8000);
  EXPECT_EQ(min_f16(0xc200, 0x4000, {.xorsign_abs = true}), 0xc000);
  EXPECT_EQ(min_f16(0xbdc4, 0xfc01, {.xorsign_abs = true}), 0x3dc4);  // the NaN's sign counts
}

TEST(Half, BothHalves) {
  uint32_t sum =
      each_half([](uint16_t x, uint16_t y) { return add_f16(x, y); }, 0x3c004000u, 0x3c003c00u);
  EXPECT_EQ(sum, 0x40004200u);
}

}  // namespace
}  // namespace lw::arith
