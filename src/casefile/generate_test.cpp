#include "casefile/generate.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace lw::casefile {
namespace {

TEST(Generate, DataIsFixedForEver) {
  EXPECT_EQ(splitmix64(0),
            0xe220a8397b1dcdafull);  // first output of the published generator, seed 0
  EXPECT_EQ(random_integer(7, 3, 5, 5), 5);
  double sum = 0, squares = 0;
  for (uint64_t i = 0; i < 100000; ++i) {
    double x = random_normal(1, i);
    sum += x, squares += x * x;
  }
  EXPECT_NEAR(sum / 100000, 0, 0.02);
  EXPECT_NEAR(squares / 100000, 1, 0.02);
}

TEST(Generate, IntegersStayInRange) {
  for (uint64_t i = 0; i < 1000; ++i) {
    int64_t x = random_integer(2, i, -8, 8);
    EXPECT_GE(x, -8);
    EXPECT_LE(x, 8);
  }
}

TEST(EncodeFloat, EqualsTheProcessorForF32) {
  for (uint64_t i = 0; i < 200000; ++i) {
    uint64_t bits = random_bits(3, i);
    bits = (bits & ~(uint64_t{0x7ff} << 52)) | ((870 + (bits >> 52) % 300) << 52);
    double value;
    std::memcpy(&value, &bits, 8);
    float narrow = static_cast<float>(value);
    uint32_t expected;
    std::memcpy(&expected, &narrow, 4);
    ASSERT_EQ(encode_float(value, kF32), expected) << value;
  }
}

TEST(EncodeFloat, IsTheInverseOfDecode) {
  for (FloatFormat format : {kF16, kBf16, kE4m3, kE5m2}) {
    for (uint64_t bits = 0; bits < 2 * format.sign(); ++bits) {
      double value = decode_float(bits, format);
      if (std::isnan(value) || std::isinf(value)) continue;
      ASSERT_EQ(encode_float(value, format), bits) << value;
    }
  }
}

TEST(EncodeFloat, SpecialValues) {
  EXPECT_EQ(encode_float(INFINITY, kF16), 0x7c00u);
  EXPECT_EQ(encode_float(65520, kF16), 0x7c00u);
  EXPECT_EQ(encode_float(NAN, kBf16), 0x7fffu);
  EXPECT_EQ(encode_float(1e9, kE4m3), 0x7eu);
  EXPECT_EQ(encode_float(-1e9, kE5m2), 0xfbu);
  EXPECT_EQ(decode_float(0x7e, kE4m3), 448);
}

}  // namespace
}  // namespace lw::casefile
