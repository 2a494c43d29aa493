// Kernels that allocate tensor memory, store to it, load from it and free it.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

Options two_sms() {
  Options options;
  options.sm_count = 2;
  return options;
}

// CTAs of one warp take turns of a few instructions.
class TakingTurns final : public Policy {
 public:
  Choice next(Machine& machine) override {
    const auto ctas = machine.resident();
    for (size_t tries = 0; tries < ctas.size(); ++tries) {
      Cta& cta = *ctas[at_++ % ctas.size()];
      if (cta.ready != 0) return {&cta.warps[0], nullptr, 2};
    }
    return {};
  }

 private:
  size_t at_ = 0;
};

std::vector<uint32_t> in_turns(const std::string& text, uint32_t ctas) {
  Options options;
  options.sm_count = 1;
  TestKernel test(text, options, "sm_100a");
  test.buffer(ctas);
  TakingTurns policy;
  test.launch(test.request(ctas, 32), policy);
  EXPECT_TRUE(test.result().finished) << test.why();
  return test.words(0);
}

// `body` runs with %t = tid.x, %base = the address of `columns` columns that warp 0 has allocated
// (%w: the warp), %rd1 = the address of out[tid].
std::string kernel(const std::string& body, int columns = 64) {
  return fmt::format(R"(
.shared .align 8 .b8 base[8];
.visible .entry k(.param .u64 out) {{
  .reg .pred %p<9>;
  .reg .b32 %r<140>;
  .reg .b32 %t, %w, %base;
  .reg .b64 %rd<9>;
  mov.u32 %t, %tid.x;
  shr.u32 %w, %t, 5;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %t, 4;
  add.u64 %rd1, %rd1, %rd2;
  setp.eq.u32 %p8, %w, 0;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], {0};
  bar.sync 0;
  ld.shared.b32 %base, [base];
{1}
  bar.sync 0;
  @%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, {0};
  ret;
}})",
                     columns, body);
}

Fault fault_of(const std::string& body, uint32_t block = 64) {
  TestKernel test(kernel(body), two_sms(), "sm_100a");
  test.buffer(block);
  test.launch(1, block);
  EXPECT_TRUE(test.result().fault.has_value()) << test.why();
  return test.result().fault.value_or(Fault{});
}

// Every warp has lanes of its own; a column written in one shape is read in another.
TEST(TensorMemoryRun, StoreAndLoadInTwoShapes) {
  TestKernel test(kernel(R"(
  add.u32 %r1, %t, 1000;
  add.u32 %r2, %t, 2000;
  tcgen05.st.sync.aligned.32x32b.x2.b32 [%base], {%r1, %r2};
  tcgen05.wait::st.sync.aligned;
  shl.b32 %r9, %w, 21;
  add.u32 %r9, %r9, %base;
  tcgen05.ld.sync.aligned.16x64b.x1.b32 {%r3}, [%r9];
  tcgen05.wait::ld.sync.aligned;
  st.global.b32 [%rd1], %r3;)"),
                  two_sms(), "sm_100a");
  test.buffer(128);
  const auto out = test.run(1, 128).words(0);
  for (uint32_t thread = 0; thread < 128; ++thread) {
    const uint32_t t = thread % 32;
    const uint32_t lane = thread / 32 * 32 + t / 4 + 8 * (t % 2);
    EXPECT_EQ(out[thread], lane + (t / 2 % 2 ? 2000 : 1000)) << thread;
  }
}

TEST(TensorMemoryRun, PacksTwoCells) {
  TestKernel test(kernel(R"(
  add.u32 %r1, %t, 0x70000;
  add.u32 %r2, %t, 0x80100;
  tcgen05.st.sync.aligned.32x32b.x2.b32 [%base], {%r1, %r2};
  tcgen05.ld.sync.aligned.32x32b.x1.pack::16b.b32 {%r3}, [%base];
  xor.b32 %r3, %r3, 0xffffffff;
  tcgen05.st.sync.aligned.32x32b.x1.unpack::16b.b32 [%base], {%r3};
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r4}, [%base+1];
  tcgen05.wait::ld.sync.aligned;
  st.global.b32 [%rd1], %r4;)"),
                  two_sms(), "sm_100a");
  test.buffer(32);
  const auto out = test.run(1, 32).words(0);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], 0x80000 | (~(0x100 + t) & 0xffff));
}

TEST(TensorMemoryRun, AHalfOfTheThreadsIsApart) {
  TestKernel test(kernel(R"(
  tcgen05.st.sync.aligned.16x32bx2.x1.b32 [%base], 7, {%t};
  mov.b32 %r1, 0;
  tcgen05.ld.sync.aligned.16x32bx2.x1.b32 {%r1}, [%base+7], -7;
  tcgen05.wait::ld.sync.aligned;
  st.global.b32 [%rd1], %r1;)"),
                  two_sms(), "sm_100a");
  test.buffer(32);
  const auto out = test.run(1, 32).words(0);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t ^ 16);
}

TEST(TensorMemoryRun, LeastAndGreatest) {
  TestKernel test(kernel(R"(
  cvt.rn.f32.u32 %r1, %t;
  mov.b32 %r2, 0fC1200000;
  mov.b32 %r3, 0f7FC00000;
  tcgen05.st.sync.aligned.32x32b.x4.b32 [%base], {%r1, %r2, %r1, %r3};
  tcgen05.wait::st.sync.aligned;
  tcgen05.ld.red.sync.aligned.32x32b.x4.min.f32 {%r5, %r6, %r7, %r8}, %r10, [%base];
  tcgen05.ld.red.sync.aligned.32x32b.x4.max.abs.f32 {%r5, %r6, %r7, %r8}, %r11, [%base];
  tcgen05.ld.red.sync.aligned.32x32b.x4.max.NaN.f32 {%r5, %r6, %r7, %r8}, %r12, [%base];
  tcgen05.ld.red.sync.aligned.32x32b.x2.max.u32 {%r5, %r6}, %r13, [%base];
  tcgen05.ld.red.sync.aligned.32x32b.x2.max.s32 {%r5, %r6}, %r14, [%base];
  tcgen05.wait::ld.sync.aligned;
  mul.wide.u32 %rd3, %t, 16;
  add.u64 %rd1, %rd1, %rd3;
  st.global.b32 [%rd1], %r10;
  st.global.b32 [%rd1+4], %r11;
  st.global.b32 [%rd1+8], %r12;
  st.global.b32 [%rd1+12], %r13;
  st.global.b32 [%rd1+16], %r14;)"),
                  two_sms(), "sm_103a");
  test.buffer(32 * 5);
  const auto out = test.run(1, 32).words(0);
  for (uint32_t t = 0; t < 32; ++t) {
    const auto number = std::bit_cast<uint32_t>(static_cast<float>(t));
    EXPECT_EQ(std::bit_cast<float>(out[5 * t]), -10.0f);
    EXPECT_EQ(std::bit_cast<float>(out[5 * t + 1]), std::max(10.0f, static_cast<float>(t)));
    EXPECT_EQ(out[5 * t + 2], 0x7fffffffu);
    EXPECT_EQ(out[5 * t + 3], 0xc1200000u);
    EXPECT_EQ(out[5 * t + 4], number);
  }
}

// All want all columns: they wait for each other, and find the bits of the one before (here 0, 2,
// 1).
TEST(TensorMemoryRun, CtasOfAnSmWaitForItsColumns) {
  const auto out = in_turns(kernel(R"(
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r1}, [%base];
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.u32 %r2, %r2, 1;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%base], {%r2};
  tcgen05.wait::st.sync.aligned;
  add.u64 %rd1, %rd1, %rd3;
  setp.eq.u32 %p1, %t, 0;
  @%p1 st.global.b32 [%rd1], %r1;)",
                                   512),
                            3);
  EXPECT_EQ(out, (std::vector<uint32_t>{0xa5a5a5a5u, 3, 1}));
}

TEST(TensorMemoryRun, CtasOfAnSmHaveDifferentColumns) {
  const auto out = in_turns(kernel(R"(
  mov.u32 %r2, %ctaid.x;
  mul.wide.u32 %rd3, %r2, 4;
  add.u64 %rd1, %rd1, %rd3;
  setp.eq.u32 %p1, %t, 0;
  @%p1 st.global.b32 [%rd1], %base;)",
                                   128),
                            4);
  EXPECT_EQ(out, (std::vector<uint32_t>{0, 128, 256, 384}));
}

TEST(TensorMemoryRun, WaitsForColumnsThatNobodyFrees) {
  const Fault fault = fault_of(R"(
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 64;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 64;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 64;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 64;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 64;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 64;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 64;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 32;)",
                               32);
  EXPECT_EQ(fault.kind, FaultKind::deadlock);
  ASSERT_FALSE(fault.waiting.empty());
  EXPECT_EQ(fault.waiting[0].what, "32 columns of tensor memory, of which its SM has 0 free");
}

void expect_misuse(const std::string& body, diagnose::RuleId rule, const std::string& text,
                   uint32_t block = 64) {
  const Fault fault = fault_of(body, block);
  EXPECT_EQ(fault.kind, FaultKind::tensor_memory_misuse);
  EXPECT_EQ(fault.rule, rule);
  EXPECT_EQ(fault.text, text);
}

using diagnose::RuleId;

TEST(TensorMemoryRun, WrongAllocations) {
  expect_misuse(R"(
  mov.u32 %r1, 48;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], %r1;)",
                RuleId::kT5_1, "48 columns: not a power of two from 32 to 512");
  expect_misuse("@%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 128;",
                RuleId::kT5_1, "128 columns after an allocation of 64");
  expect_misuse(R"(
  tcgen05.relinquish_alloc_permit.cta_group::1.sync.aligned;
  bar.sync 0;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 32;)",
                RuleId::kT5_5, "the CTA has relinquished its right to allocate");
  expect_misuse("@%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base+4], 32;",
                RuleId::kT5_6,
                "the 32 columns at 64 that it allocates are not freed when the CTA ends");
}

TEST(TensorMemoryRun, WrongFrees) {
  expect_misuse("@%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 32;", RuleId::kT5_3,
                "32 columns of the 64 allocated at column 0");
  expect_misuse("@%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 64;", RuleId::kT5_3,
                "the columns at 0 have been freed before");
  expect_misuse(R"(
  add.u32 %r1, %base, 32;
  @%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %r1, 32;)",
                RuleId::kT5_3, "no allocation of the CTA begins at column 32");
}

TEST(TensorMemoryRun, WrongAccesses) {
  expect_misuse(R"(
  add.u32 %r1, %base, 0x400000;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1];)",
                RuleId::kT5_24, "lanes 64 to 95: the warp reaches lanes 0 to 31", 32);
  expect_misuse(R"(
  add.u32 %r1, %base, 63;
  tcgen05.ld.sync.aligned.32x32b.x2.b32 {%r2, %r3}, [%r1];)",
                RuleId::kT5_25, "column 64 of columns 63 to 64 is in no allocation of the CTA", 32);
  expect_misuse("tcgen05.st.sync.aligned.32x32b.x1.b32 [%base+512], {%t};", RuleId::kT5_25,
                "columns 512 to 512, of 512", 32);
  expect_misuse(R"(
  @%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 64;
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%base], {%t};)",
                RuleId::kT5_25, "column 0 of columns 0 to 0 was freed by this warp", 32);
  expect_misuse(R"(
  add.u32 %r1, %base, %t;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%r1];)",
                RuleId::kE13, "the address differs between lanes: 0x0 and 0x1", 32);
}

// Another warp has freed the columns: their cells are still there.
TEST(TensorMemoryRun, ALoadAfterTheFree) {
  TestKernel test(kernel(R"(
  tcgen05.st.sync.aligned.32x32b.x1.b32 [%base], {%t};
  bar.sync 0;
  @%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 64;
  bar.sync 0;
  @%p8 bra DONE;
  tcgen05.ld.sync.aligned.32x32b.x1.b32 {%r2}, [%base];
  st.global.b32 [%rd1], %r2;
  ret;
DONE:
  ret;)"),
                  two_sms(), "sm_100a");
  test.buffer(64);
  EXPECT_EQ(test.run(1, 64).words(0)[40], 40u);
}

TEST(TensorMemoryRun, AWarpWithFewerLanes) {
  const Fault fault = fault_of("tcgen05.wait::ld.sync.aligned;", 48);
  EXPECT_EQ(fault.kind, FaultKind::divergent_aligned);
}

// Nothing was issued before it: the arrival comes at once.
TEST(TensorMemoryRun, CommitArrives) {
  TestKernel test(kernel(R"(
  setp.eq.u32 %p1, %t, 0;
  @%p1 mbarrier.init.shared::cta.b64 [bar], 1;
  bar.sync 0;
  @%p1 tcgen05.commit.cta_group::1.mbarrier::arrive::one.shared::cluster.b64 [bar];
WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %p2, [bar], 0;
  @!%p2 bra WAIT;
  st.global.b32 [%rd1], %t;)")
                      .insert(0, ".shared .align 8 .b64 bar;"),
                  two_sms(), "sm_100a");
  test.buffer(32);
  EXPECT_EQ(test.run(1, 32).words(0)[31], 31u);
}

}  // namespace
}  // namespace lw::machine
