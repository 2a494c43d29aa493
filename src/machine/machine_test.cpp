#include "machine/machine.h"

#include <gtest/gtest.h>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

TEST(Machine, AddsVectors) {
  TestKernel test(R"(
.visible .entry add(.param .u64 x, .param .u64 y, .param .u64 z, .param .u32 n) {
  .reg .pred %p<2>;
  .reg .f32 %f<4>;
  .reg .b32 %r<6>;
  .reg .b64 %rd<11>;
  ld.param.u64 %rd1, [x];
  ld.param.u64 %rd2, [y];
  ld.param.u64 %rd3, [z];
  ld.param.u32 %r2, [n];
  mov.u32 %r3, %ctaid.x;
  mov.u32 %r4, %ntid.x;
  mov.u32 %r5, %tid.x;
  mad.lo.s32 %r1, %r3, %r4, %r5;
  setp.ge.s32 %p1, %r1, %r2;
  @%p1 bra $L__BB0_2;
  cvta.to.global.u64 %rd4, %rd1;
  mul.wide.s32 %rd5, %r1, 4;
  add.s64 %rd6, %rd4, %rd5;
  cvta.to.global.u64 %rd7, %rd2;
  add.s64 %rd8, %rd7, %rd5;
  ld.global.f32 %f1, [%rd8];
  ld.global.f32 %f2, [%rd6];
  add.f32 %f3, %f2, %f1;
  cvta.to.global.u64 %rd9, %rd3;
  add.s64 %rd10, %rd9, %rd5;
  st.global.f32 [%rd10], %f3;
$L__BB0_2:
  ret;
}
)");
  std::vector<uint32_t> x, y;
  for (uint32_t i = 0; i < 1000; ++i) {
    x.push_back(std::bit_cast<uint32_t>(static_cast<float>(i)));
    y.push_back(std::bit_cast<uint32_t>(1000.5f));
  }
  test.buffer(1000, x);
  test.buffer(1000, y);
  test.buffer(1000);
  test.parameter(uint32_t{1000});
  test.run(8, 128);
  for (uint32_t i = 0; i < 1000; ++i) EXPECT_EQ(test.floats(2)[i], static_cast<float>(i) + 1000.5f);
  EXPECT_EQ(test.result().reach.ctas, 8u);
  EXPECT_EQ(test.result().reach.warps, 32u);
}

}  // namespace
}  // namespace lw::machine
