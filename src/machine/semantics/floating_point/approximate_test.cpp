// Special functions, division, square root. Their bits are arith's tests; here: that each form
// reaches its function with its modifiers.

#include <gtest/gtest.h>

#include "arith/float32.h"
#include "arith/mufu.h"
#include "machine/semantics/lane_kernel.h"

namespace lw::machine {
namespace {

using arith::f32_of;

uint32_t compute(const std::string& instruction, float a, float b = 0) {
  LaneKernel kernel(instruction + ";");
  kernel.a.assign(32, bits(a));
  kernel.b.assign(32, bits(b));
  return kernel.run()[31];
}
uint64_t compute_wide(const std::string& instruction, double a, double b = 0) {
  LaneKernel kernel(instruction + ";");
  kernel.wa.assign(32, bits(a));
  kernel.wb.assign(32, bits(b));
  kernel.run();
  return kernel.wide_results[31];
}

TEST(SpecialFunctions, OfF32) {
  const float tiny = f32_of(5);
  for (bool ftz : {false, true}) {
    const std::string mode = ftz ? ".ftz.f32" : ".f32";
    for (float x : {0.7f, 3.3f, tiny}) {
      EXPECT_EQ(compute("ex2.approx" + mode + " %d, %a", x), bits(arith::ex2_approx(x, ftz)));
      EXPECT_EQ(compute("lg2.approx" + mode + " %d, %a", x), bits(arith::lg2_approx(x, ftz)));
      EXPECT_EQ(compute("rcp.approx" + mode + " %d, %a", x), bits(arith::rcp_approx(x, ftz)));
      EXPECT_EQ(compute("rsqrt.approx" + mode + " %d, %a", x), bits(arith::rsqrt_approx(x, ftz)));
      EXPECT_EQ(compute("sqrt.approx" + mode + " %d, %a", x), bits(arith::sqrt_approx(x, ftz)));
      EXPECT_EQ(compute("sin.approx" + mode + " %d, %a", x), bits(arith::sin_approx(x)));
      EXPECT_EQ(compute("cos.approx" + mode + " %d, %a", x), bits(arith::cos_approx(x)));
      EXPECT_EQ(compute("div.approx" + mode + " %d, %a, %b", x, 3.1f),
                bits(arith::div_approx(x, 3.1f, ftz)));
      EXPECT_EQ(compute("div.full" + mode + " %d, %a, %b", x, 3.1f),
                bits(arith::div_full(x, 3.1f, ftz)));
    }
  }
  EXPECT_EQ(compute("tanh.approx.f32 %d, %a", 0.7f), bits(arith::tanh_approx(0.7f)));
}

TEST(SpecialFunctions, OfF64) {
  EXPECT_EQ(compute_wide("rcp.approx.ftz.f64 %wd, %wa", 4.0), bits(0.25));
  EXPECT_EQ(compute_wide("rsqrt.approx.ftz.f64 %wd, %wa", 4.0), bits(0.5));
}

TEST(SpecialFunctions, OnlyLanesThatRun) {
  LaneKernel kernel("mov.b32 %d, 5; setp.eq.u32 %p0, %lane, 1; @%p0 ex2.approx.f32 %d, %a;");
  kernel.a.assign(32, bits(3.0f));
  auto d = kernel.run();
  EXPECT_EQ(d[0], 5u);
  EXPECT_EQ(d[1], bits(8.0f));
}

TEST(LeastAndGreatest, OfThree) {
  const auto three = [](const std::string& form) {
    LaneKernel kernel(form + " %d, %a, %b, %c;", "sm_100a");
    kernel.a.assign(32, bits(1.0f));
    kernel.b.assign(32, bits(-3.0f));
    kernel.c.assign(32, bits(2.0f));
    return kernel.run()[0];
  };
  EXPECT_EQ(three("min.f32"), bits(-3.0f));
  EXPECT_EQ(three("max.f32"), bits(2.0f));
  EXPECT_EQ(three("max.abs.f32"), bits(3.0f));
}

TEST(Division, OfF32) {
  EXPECT_EQ(compute("div.rn.f32 %d, %a, %b", 1.0f, 3.0f), 0x3eaaaaabu);
  EXPECT_EQ(compute("div.rz.f32 %d, %a, %b", 1.0f, 3.0f), 0x3eaaaaaau);
  EXPECT_EQ(compute("div.rn.ftz.f32 %d, %a, %b", f32_of(3), 3.0f), 0u);
  EXPECT_EQ(compute("div.rn.f32 %d, %a, %b", f32_of(3), 3.0f), 1u);
  EXPECT_EQ(compute("div.rn.f32 %d, %a, %b", 0.0f, 0.0f), 0x7fffffffu);
  EXPECT_EQ(compute("rcp.rn.f32 %d, %a", 3.0f), 0x3eaaaaabu);
  EXPECT_EQ(compute("rcp.rm.f32 %d, %a", 3.0f), 0x3eaaaaaau);
  EXPECT_EQ(compute("sqrt.rn.f32 %d, %a", 2.0f), 0x3fb504f3u);
  EXPECT_EQ(compute("sqrt.rp.f32 %d, %a", 2.0f), 0x3fb504f4u);
}

TEST(Division, OfF64) {
  EXPECT_EQ(compute_wide("div.rn.f64 %wd, %wa, %wb", 1.0, 3.0), 0x3fd5555555555555u);
  EXPECT_EQ(compute_wide("div.rp.f64 %wd, %wa, %wb", 1.0, 3.0), 0x3fd5555555555556u);
  EXPECT_EQ(compute_wide("rcp.rn.f64 %wd, %wa", 3.0), 0x3fd5555555555555u);
  EXPECT_EQ(compute_wide("sqrt.rn.f64 %wd, %wa", 2.0), 0x3ff6a09e667f3bcdu);
}

}  // namespace
}  // namespace lw::machine
