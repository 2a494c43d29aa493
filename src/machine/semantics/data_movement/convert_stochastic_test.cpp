// cvt.rs and the conversions with scales, against values in double.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "arith/formats.h"
#include "machine/semantics/lane_kernel.h"
#include "machine/semantics/test_instruction.h"

namespace lw::machine {
namespace {

double value_of(uint16_t code, bool brain) {
  return static_cast<double>(brain ? arith::f32_from_bf16(code) : arith::f32_from_f16(code));
}

// Towards zero, or one place further if the dropped part and the random one add up to a place.
double expected(double x, uint32_t random, bool brain) {
  const int dropped = brain ? 16 : 13;
  const int exponent = std::max(std::ilogb(x), -126);
  const double place = std::ldexp(1, exponent - 23 + dropped);
  const double whole = std::floor(std::abs(x) / place);
  const double rest = std::ldexp(std::abs(x) / place - whole, dropped);
  const double kept = random & ((1u << dropped) - 1);
  const bool up = rest + kept >= std::ldexp(1, dropped);
  return std::copysign((whole + (up ? 1 : 0)) * place, x);
}

void check(bool brain, const Values& floats, uint64_t seed) {
  LaneKernel kernel(std::string("cvt.rs.") + (brain ? "bf16x2" : "f16x2") + ".f32 %d, %a, %b, %c;",
                    "sm_100a");
  const Values random = sample(32, seed);
  for (int lane = 0; lane < 32; ++lane) {
    kernel.a.push_back(static_cast<uint32_t>(floats[lane]));
    kernel.b.push_back(static_cast<uint32_t>(floats[31 - lane]));
    kernel.c.push_back(static_cast<uint32_t>(random[lane]));
  }
  const auto d = kernel.run();
  for (uint32_t lane = 0; lane < 32; ++lane) {
    const auto high = std::bit_cast<float>(kernel.a[lane]);
    const auto low = std::bit_cast<float>(kernel.b[lane]);
    EXPECT_EQ(value_of(static_cast<uint16_t>(d[lane] >> 16), brain),
              expected(high, kernel.c[lane] >> 16, brain))
        << high;
    EXPECT_EQ(value_of(static_cast<uint16_t>(d[lane]), brain), expected(low, kernel.c[lane], brain))
        << low;
  }
}

TEST(Stochastic, CarriesRoundAwayFromZero) {
  for (uint64_t seed = 1; seed < 30; ++seed) {
    Values halves = sample(32, seed), any = sample(32, seed + 50);
    for (uint64_t& bits : halves) bits = (bits & 0x83ffffff) | 0x3c000000;  // 2^-7 to 2^0 and up
    for (uint64_t& bits : any)
      if ((bits >> 23 & 0xff) >= 0xfe || (bits & 0x7fffffff) == 0) bits = 0x3f812345;
    check(false, halves, seed + 100);
    check(true, halves, seed + 200);
    check(true, any, seed + 300);
  }
}

uint32_t one(const std::string& modifiers, uint32_t a, uint32_t random) {
  LaneKernel kernel("cvt.rs" + modifiers + ".f32 %d, %a, %a, %c;", "sm_100a");
  kernel.a.assign(32, a);
  kernel.c.assign(32, random);
  return kernel.run()[7] >> 16;
}

TEST(Stochastic, EdgesOfTheFormats) {
  EXPECT_EQ(one(".bf16x2", 0x7fc12345, 0), 0x7fffu);
  EXPECT_EQ(one(".bf16x2", 0x7f7fffff, 0xffffffff), 0x7f80u);
  EXPECT_EQ(one(".satfinite.bf16x2", 0x7f7fffff, 0xffffffff), 0x7f7fu);
  EXPECT_EQ(one(".satfinite.bf16x2", 0xff800000, 0), 0xff7fu);
  EXPECT_EQ(one(".relu.bf16x2", 0xbf812345, 0xffffffff), 0u);
  EXPECT_EQ(one(".f16x2", 0x477fffff, 0xffffffff), 0x7c00u);
  EXPECT_EQ(one(".f16x2", 0x477fffff, 0), 0x7bffu);
  EXPECT_EQ(one(".satfinite.f16x2", 0x4b000000, 0), 0x7bffu);
  EXPECT_EQ(one(".f16x2", 0x80000000, 0xffffffff), 0x8000u);
}

TEST(Stochastic, AHalfThatIsSubnormalIsSaid) {
  LaneKernel kernel("cvt.rs.f16x2.f32 %d, %a, %a, %c;", "sm_100a");
  kernel.a.assign(32, 0x38000000);
  EXPECT_TRUE(kernel.end().not_analysed);
}

// bf16 of a number and a scale, rounded to nearest even by hand.
uint16_t nearest(double x) {
  if (x != x) return 0x7fff;
  return arith::bf16_from_f64(x, {});
}

TEST(Scaled, ElementsAreMultipliedByTheirOwnPower) {
  const std::pair<const char*, float (*)(uint8_t)> kFormats[] = {
      {"e4m3x2", arith::f32_from_e4m3},
      {"e5m2x2", arith::f32_from_e5m2},
      {"e2m3x2", arith::f32_from_e2m3},
      {"s2f6x2", [](uint8_t x) { return static_cast<float>(static_cast<int8_t>(x)) / 64; }}};
  for (const auto& [format, widen] : kFormats)
    for (uint32_t first = 0; first < 256; first += 32) {
      LaneKernel kernel(std::string("cvt.u16.u32 %h0, %a;\ncvt.u16.u32 %h1, %b;\n"
                                    "cvt.rn.scaled::n2::ue8m0.bf16x2.") +
                            format + " %d, %h0, %h1;",
                        "sm_100a");
      for (uint32_t lane = 0; lane < 32; ++lane) {
        const uint32_t mask = std::string(format) == "e2m3x2" ? 0x3f : 0xff;
        kernel.a.push_back(((first + lane) & mask) << 8 | ((first * 7 + lane * 5) & mask));
        kernel.b.push_back((lane * 9 + first) % 256 << 8 | (255 - lane * 3));
      }
      const auto d = kernel.run();
      for (uint32_t lane = 0; lane < 32; ++lane)
        for (uint32_t half = 0; half < 2; ++half) {
          const auto code = static_cast<uint8_t>(kernel.a[lane] >> (8 * half));
          const auto scale = static_cast<uint8_t>(kernel.b[lane] >> (8 * half));
          const double power = scale == 255 ? std::numeric_limits<double>::quiet_NaN()
                                            : std::ldexp(1, int{scale} - 127);
          EXPECT_EQ(d[lane] >> (16 * half) & 0xffff, nearest(double{widen(code)} * power))
              << format << ' ' << int{code} << ' ' << int{scale};
        }
    }
}

}  // namespace
}  // namespace lw::machine
