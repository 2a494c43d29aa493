#include "ptx/numbers.h"

#include <gtest/gtest.h>

#include <bit>

namespace lw::ptx {
namespace {

TEST(Numbers, IntegersInAllBases) {
  EXPECT_EQ(parse_number("12")->bits, 12u);
  EXPECT_EQ(parse_number("0x1F")->bits, 31u);
  EXPECT_EQ(parse_number("0b101")->bits, 5u);
  EXPECT_EQ(parse_number("017")->bits, 15u);
  EXPECT_EQ(parse_number("0")->bits, 0u);
  EXPECT_EQ(parse_number("0x5410U")->literal, Literal::unsigned_integer);
  EXPECT_EQ(parse_number("18446744073709551615")->bits, ~uint64_t{0});
}

TEST(Numbers, FloatsByBitsAndByDecimals) {
  EXPECT_EQ(parse_number("0f3F800000")->literal, Literal::f32_bits);
  EXPECT_EQ(parse_number("0f3F800000")->bits, 0x3F800000u);
  EXPECT_EQ(parse_number("0d3FF0000000000000")->literal, Literal::f64_bits);
  EXPECT_EQ(parse_number("1.")->bits, std::bit_cast<uint64_t>(1.0));
  EXPECT_EQ(parse_number("25e-2")->bits, std::bit_cast<uint64_t>(0.25));
}

TEST(Numbers, OtherTextIsNoNumber) {
  for (std::string_view text :
       {"", "0x", "1y", "0f12", "0d3FF", "18446744073709551616", "08", "U", "1.5.2", "1e999"}) {
    EXPECT_FALSE(parse_number(text)) << text;
  }
}

}  // namespace
}  // namespace lw::ptx
