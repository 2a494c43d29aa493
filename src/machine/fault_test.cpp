// Plain errors and ends of a run.

#include "machine/fault.h"

#include <gtest/gtest.h>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

std::string kernel(const std::string& body) {
  return R"(
.shared .align 4 .b8 s[64];
.visible .entry k(.param .u64 out) {
  .reg .pred %p<9>;
  .reg .b32 %r<30>;
  .reg .b32 %t;
  .reg .b64 %rd<9>;
  mov.u32 %t, %tid.x;
  ld.param.u64 %rd1, [out];
)" + body +
         "\n  ret;\n}";
}

Fault fault_of(const std::string& body, uint32_t block = 32) {
  TestKernel test(kernel(body));
  test.buffer(32);
  test.launch(1, block);
  EXPECT_TRUE(test.result().fault.has_value()) << test.why();
  return test.result().fault.value_or(Fault{});
}

TEST(Fault, AStoreBehindTheBuffer) {
  Fault fault = fault_of(R"(
  mul.wide.u32 %rd2, %t, 8;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %t;)");
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault.lane.value, 16);
  EXPECT_EQ(fault.lanes, 0xffff0000u);
  EXPECT_EQ(fault.size_bytes, 4u);
  EXPECT_EQ(fault.address & 0xfff, 128u);
}

TEST(Fault, ContiguousLanesBehindTheBuffer) {
  Fault fault = fault_of(R"(
  mul.wide.u32 %rd2, %t, 4;
  add.u64 %rd1, %rd1, %rd2;
  ld.global.u32 %r1, [%rd1+4];)");
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault.lane.value, 31);
}

TEST(Fault, ANullPointer) {
  Fault fault = fault_of("mov.u64 %rd2, 0; ld.global.u32 %r1, [%rd2];");
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
  EXPECT_EQ(fault.address, 0u);
}

TEST(Fault, SharedMemoryBehindTheEnd) {
  Fault fault = fault_of("mov.u32 %r1, s; st.shared.u32 [%r1+64], %t;");
  EXPECT_EQ(fault.kind, FaultKind::out_of_bounds);
}

TEST(Fault, AMisalignedAddress) {
  Fault fault = fault_of("ld.global.u32 %r1, [%rd1+2];");
  EXPECT_EQ(fault.kind, FaultKind::misaligned);
  EXPECT_EQ(fault.lanes, ~0u);
}

TEST(Fault, WarpsThatWaitForEachOther) {
  Fault fault = fault_of(R"(
  setp.lt.u32 %p1, %t, 32;
  @%p1 bra FIRST;
  bar.sync 1, 64;
  bra END;
FIRST:
  bar.sync 2, 64;
END:)",
                         64);
  EXPECT_EQ(fault.kind, FaultKind::deadlock);
  ASSERT_EQ(fault.waiting.size(), 2u);
  EXPECT_EQ(fault.waiting[0].wait.kind, Wait::Kind::named_barrier);
  EXPECT_EQ(fault.waiting[0].wait.object, 2u);
  EXPECT_EQ(fault.waiting[1].wait.object, 1u);
}

TEST(Fault, AnEndlessLoopEndsByTheBudget) {
  Options options;
  options.step_limit = 100000;
  TestKernel test(kernel("L: bra L;"), options);
  test.buffer(32);
  test.launch(1, 32);
  ASSERT_TRUE(test.result().not_analysed.has_value());
  EXPECT_EQ(test.result().not_analysed->kind, NotAnalysed::Kind::steps);
  EXPECT_LT(test.result().reach.instructions, 200000u);
}

TEST(Fault, AReachedUnmodelledFormIsNamed) {
  TestKernel test(".global .surfref sf;\n" + kernel("suld.b.1d.b32.trap {%r1}, [sf, {%r2}];"));
  test.buffer(32);
  test.launch(1, 32);
  ASSERT_TRUE(test.result().not_analysed.has_value());
  EXPECT_EQ(test.result().not_analysed->kind, NotAnalysed::Kind::form);
}

}  // namespace
}  // namespace lw::machine
