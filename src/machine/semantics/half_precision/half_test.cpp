// Half and mixed precision arithmetic. What the functions compute is arith's tests; here: that each
// form reaches its function with its modifiers, both halves, and only lanes that run.

#include <gtest/gtest.h>

#include "machine/semantics/lane_kernel.h"

namespace lw::machine {
namespace {

constexpr uint32_t kOne = 0x3c00, kTwo = 0x4000, kThree = 0x4200, kMinusOne = 0xbc00;  // f16
constexpr uint32_t kOneB = 0x3f80, kTwoB = 0x4000, kThreeB = 0x4040;                   // bf16

uint32_t pair(uint32_t high, uint32_t low) { return high << 16 | low; }

// %d of lane 9, with the same operands in every lane.
uint32_t compute(const std::string& code, uint32_t a, uint32_t b = 0, uint32_t c = 0,
                 const std::string& target = "sm_90a") {
  LaneKernel kernel(code, target);
  kernel.a.assign(32, a);
  kernel.b.assign(32, b);
  kernel.c.assign(32, c);
  return kernel.run()[9];
}
// The same on the low halves of the operands.
uint32_t scalar(const std::string& instruction, uint32_t a, uint32_t b = 0, uint32_t c = 0) {
  return compute("cvt.u16.u32 %h0, %a; cvt.u16.u32 %h1, %b; cvt.u16.u32 %h2, %c;" + instruction +
                     "; cvt.u32.u16 %d, %h3;",
                 a, b, c);
}

TEST(Half, PairsOfF16) {
  EXPECT_EQ(compute("add.f16x2 %d, %a, %b;", pair(kOne, kTwo), pair(kTwo, kMinusOne)),
            pair(kThree, kOne));
  EXPECT_EQ(compute("sub.rn.f16x2 %d, %a, %b;", pair(kOne, kTwo), pair(kTwo, kOne)),
            pair(kMinusOne, kOne));
  EXPECT_EQ(compute("mul.f16x2 %d, %a, %b;", pair(kOne, kTwo), pair(kThree, kOne)),
            pair(kThree, kTwo));
  EXPECT_EQ(
      compute("fma.rn.f16x2 %d, %a, %b, %c;", pair(kOne, kOne), pair(kTwo, kOne), pair(kOne, kOne)),
      pair(kThree, kTwo));
  EXPECT_EQ(compute("neg.f16x2 %d, %a;", pair(kOne, kMinusOne)), pair(kMinusOne, kOne));
  EXPECT_EQ(compute("abs.f16x2 %d, %a;", pair(kOne, kMinusOne)), pair(kOne, kOne));
  EXPECT_EQ(compute("min.f16x2 %d, %a, %b;", pair(kOne, 0x7e00), pair(kTwo, kTwo)),
            pair(kOne, kTwo));
  EXPECT_EQ(compute("max.NaN.f16x2 %d, %a, %b;", pair(kOne, 0x7e00), pair(kTwo, kTwo)),
            pair(kTwo, 0x7fff));
}

TEST(Half, PairsOfBf16) {
  EXPECT_EQ(compute("add.bf16x2 %d, %a, %b;", pair(kOneB, kTwoB), pair(kTwoB, kOneB)),
            pair(kThreeB, kThreeB));
  EXPECT_EQ(compute("sub.bf16x2 %d, %a, %b;", pair(kTwoB, kThreeB), pair(kOneB, kTwoB)),
            pair(kOneB, kOneB));
  EXPECT_EQ(compute("mul.bf16x2 %d, %a, %b;", pair(kOneB, kTwoB), pair(kTwoB, kOneB)),
            pair(kTwoB, kTwoB));
  EXPECT_EQ(compute("fma.rn.bf16x2 %d, %a, %b, %c;", pair(kOneB, kOneB), pair(kTwoB, kOneB),
                    pair(kOneB, kOneB)),
            pair(kThreeB, kTwoB));
  EXPECT_EQ(compute("fma.rn.relu.bf16x2 %d, %a, %b, %c;", pair(0xbf80, kOneB), pair(kTwoB, kOneB),
                    pair(kOneB, kOneB)),
            pair(0, kTwoB));
  EXPECT_EQ(compute("neg.bf16x2 %d, %a;", pair(kOneB, 0)), pair(0xbf80, 0x8000));
  EXPECT_EQ(compute("abs.bf16x2 %d, %a;", pair(0xbf80, 0xff80)), pair(kOneB, 0x7f80));
  EXPECT_EQ(compute("min.bf16x2 %d, %a, %b;", pair(kOneB, kTwoB), pair(kTwoB, kOneB)),
            pair(kOneB, kOneB));
  EXPECT_EQ(compute("max.xorsign.abs.bf16x2 %d, %a, %b;", pair(0xbf80, kTwoB), pair(kTwoB, kOneB)),
            pair(0xc000, kTwoB));
}

TEST(Half, Scalars) {
  EXPECT_EQ(scalar("add.f16 %h3, %h0, %h1", kOne, kTwo), kThree);
  EXPECT_EQ(scalar("add.sat.f16 %h3, %h0, %h1", kOne, kTwo), kOne);
  EXPECT_EQ(scalar("add.ftz.f16 %h3, %h0, %h1", 1, kTwo), kTwo);
  EXPECT_EQ(scalar("mul.ftz.f16 %h3, %h0, %h1", 1, kTwo), 0u);
  EXPECT_EQ(scalar("mul.f16 %h3, %h0, %h1", 1, kTwo), 2u);
  EXPECT_EQ(scalar("sub.f16 %h3, %h0, %h1", kOne, kTwo), kMinusOne);
  EXPECT_EQ(scalar("fma.rn.relu.f16 %h3, %h0, %h1, %h2", kMinusOne, kTwo, kOne), 0u);
  EXPECT_EQ(scalar("fma.rn.f16 %h3, %h0, %h1, %h2", kMinusOne, kTwo, kOne), kMinusOne);
  EXPECT_EQ(scalar("add.bf16 %h3, %h0, %h1", kOneB, kTwoB), kThreeB);
  EXPECT_EQ(scalar("max.f16 %h3, %h0, %h1", kOne, kTwo), kTwo);
  EXPECT_EQ(scalar("neg.ftz.f16 %h3, %h0", 1), 0x8000u);
  EXPECT_EQ(scalar("neg.f16 %h3, %h0", 1), 0x8001u);
}

// Bits of an H200. Two halves are judged apart; the addend does not count, other NaNs do nothing.
TEST(Half, FmaWithAFactorOutOfBounds) {
  constexpr uint32_t kFill = 0x7ff7, kMinusFill = 0xfff7, kNan = 0x7fff;
  for (const bool brain : {false, true}) {
    const std::string type = brain ? "bf16" : "f16";
    const uint32_t one = brain ? kOneB : kOne;
    for (const char* modifier : {".", ".relu."}) {
      const std::string code = "fma.rn.oob" + (modifier + type) + " %h3, %h0, %h1, %h2";
      EXPECT_EQ(scalar(code, kFill, one, one), 0u) << code;
      EXPECT_EQ(scalar(code, one, kMinusFill, kNan), 0u) << code;
      EXPECT_EQ(scalar(code, one, one, kFill), kNan) << code;
      EXPECT_EQ(scalar(code, 0x7ff6, one, one), kNan) << code;
      EXPECT_EQ(scalar(code, 0x7ff8, one, one), kNan) << code;
      EXPECT_EQ(scalar(code, one, 0, one), one) << code;
    }
    EXPECT_EQ(compute("fma.rn.oob." + type + "x2 %d, %a, %b, %c;", pair(one, kFill),
                      pair(kFill, one), pair(one, one)),
              0u);
    EXPECT_EQ(compute("fma.rn.oob.relu." + type + "x2 %d, %a, %b, %c;", pair(one, kFill),
                      pair(0, one), pair(one, one)),
              pair(one, 0));
  }
  EXPECT_EQ(scalar("fma.rn.oob.relu.f16 %h3, %h0, %h1, %h2", kMinusOne, kTwo, kOne), 0u);
  EXPECT_EQ(scalar("fma.rn.oob.f16 %h3, %h0, %h1, %h2", kMinusOne, kTwo, kOne), kMinusOne);
}

TEST(Half, SpecialFunctions) {
  EXPECT_EQ(scalar("ex2.approx.f16 %h3, %h0", kOne), kTwo);
  EXPECT_EQ(scalar("ex2.approx.ftz.bf16 %h3, %h0", kOneB), kTwoB);
  EXPECT_EQ(scalar("tanh.approx.f16 %h3, %h0", 0x7c00), kOne);
  EXPECT_EQ(scalar("tanh.approx.bf16 %h3, %h0", 0xff80), 0xbf80u);
  EXPECT_EQ(compute("ex2.approx.f16x2 %d, %a;", pair(0, kOne)), pair(kOne, kTwo));
  EXPECT_EQ(compute("tanh.approx.bf16x2 %d, %a;", pair(0, 0x7f80)), pair(0, kOneB));
}

TEST(Half, OnlyLanesThatRun) {
  LaneKernel kernel("mov.b32 %d, 5; setp.eq.u32 %p0, %lane, 1; @%p0 add.f16x2 %d, %a, %a;");
  kernel.a.assign(32, pair(kOne, kOne));
  auto d = kernel.run();
  EXPECT_EQ(d[0], 5u);
  EXPECT_EQ(d[1], pair(kTwo, kTwo));
}

TEST(Mixed, AddSubFma) {
  const auto mixed = [](const std::string& instruction, uint32_t a, uint32_t b, float c) {
    return compute("cvt.u16.u32 %h0, %a; cvt.u16.u32 %h1, %b;" + instruction, a, b, bits(c),
                   "sm_100a");
  };
  EXPECT_EQ(mixed("add.f32.f16 %d, %h0, %c;", kOne, 0, 0.25f), bits(1.25f));
  EXPECT_EQ(mixed("sub.f32.bf16 %d, %h0, %c;", kOneB, 0, 0.25f), bits(0.75f));
  EXPECT_EQ(mixed("fma.rn.f32.bf16 %d, %h0, %h1, %c;", kTwoB, kThreeB, 0.5f), bits(6.5f));
  EXPECT_EQ(mixed("add.rn.sat.f32.f16 %d, %h0, %c;", kTwo, 0, 0.25f), bits(1.0f));
}

TEST(Mixed, TwoAtOnce) {
  const auto run = [](const std::string& instruction, uint32_t a, std::pair<float, float> b,
                      std::pair<float, float> c) {
    LaneKernel kernel(instruction, "sm_107a");
    kernel.a.assign(32, a);
    const auto both = [](std::pair<float, float> x) {
      return uint64_t{bits(x.second)} << 32 | bits(x.first);
    };
    kernel.wb.assign(32, both(b));
    kernel.wc.assign(32, both(c));
    kernel.run();
    const uint64_t d = kernel.wide_results[9];
    return std::pair{std::bit_cast<float>(static_cast<uint32_t>(d)),
                     std::bit_cast<float>(static_cast<uint32_t>(d >> 32))};
  };
  const std::pair none{0.0f, 0.0f};
  EXPECT_EQ(run("add.f32x2.f16x2.f32x2 %wd, %a, %wc;", pair(kOne, kTwo), none, {0.25f, 0.5f}),
            (std::pair{2.25f, 1.5f}));
  EXPECT_EQ(run("sub.rn.f32x2.bf16x2.f32x2 %wd, %a, %wc;", pair(kOneB, kTwoB), none, {0.25f, 0.5f}),
            (std::pair{1.75f, 0.5f}));
  EXPECT_EQ(run("fma.rn.f32x2.f16x2.f32x2.f32x2 %wd, %a, %wb, %wc;", pair(kThree, kTwo),
                {1.5f, 0.5f}, {1.0f, 2.0f}),
            (std::pair{4.0f, 3.5f}));
  // Only the upper sum is rounded up: 1 + 2^-30.
  EXPECT_EQ(run("add.rp.f32x2.f16x2.f32x2 %wd, %a, %wc;", pair(kOne, kOne), none, {0.0f, 0x1p-30f}),
            (std::pair{1.0f, 0x1.000002p0f}));
}

}  // namespace
}  // namespace lw::machine
