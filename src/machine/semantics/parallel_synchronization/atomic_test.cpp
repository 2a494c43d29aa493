// atom, red.

#include <gtest/gtest.h>

#include <algorithm>

#include "machine/semantics/lane_kernel.h"

namespace lw::machine {
namespace {

// The first word of `memory` after all lanes have done `form` with their number.
uint32_t reduce(const std::string& form, uint32_t start) {
  LaneKernel kernel(form + " [%bytes], %lane;");
  kernel.memory = {start};
  kernel.run();
  return kernel.memory[0];
}

TEST(Red, Integers) {
  EXPECT_EQ(reduce("red.global.add.u32", 1000), 1496u);
  EXPECT_EQ(reduce("red.relaxed.gpu.global.add.s32", 0), 496u);
  EXPECT_EQ(reduce("red.min.u32", 5), 0u);
  EXPECT_EQ(reduce("red.global.max.s32", 0xffffff00), 31u);
  EXPECT_EQ(reduce("red.global.max.u32", 0xffffff00), 0xffffff00u);
  EXPECT_EQ(reduce("red.global.and.b32", 0xff), 0u);
  EXPECT_EQ(reduce("red.global.or.b32", 0x100), 0x11fu);
  EXPECT_EQ(reduce("red.global.xor.b32", 0), 0u);
  EXPECT_EQ(reduce("red.global.inc.u32", 30), 31u);  // 30 >= 0, 0 >= 0 ... then up to the last lane
  EXPECT_EQ(reduce("red.release.cta.global.add.u32", 4), 500u);
}

TEST(Atom, OldValuesGoUpLaneByLane) {
  LaneKernel kernel("atom.global.add.u32 %d, [%bytes+4], 2;");
  kernel.memory = {0, 10};
  auto d = kernel.run();
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(d[lane], 10 + 2 * lane);
  EXPECT_EQ(kernel.memory[1], 74u);
}

TEST(Atom, ExchangeAndCompare) {
  LaneKernel kernel(R"(
    setp.eq.u32 %p0, %lane, 3;
    @%p0 atom.exch.b32 %d, [%bytes], 77;
    setp.eq.u32 %p0, %lane, 4;
    @%p0 atom.acq_rel.gpu.global.cas.b32 %d, [%bytes], 77, 78;
    setp.eq.u32 %p0, %lane, 5;
    @%p0 atom.global.cas.b32 %d, [%bytes], 77, 79;)");
  kernel.memory = {9};
  auto d = kernel.run();
  EXPECT_EQ(d[3], 9u);
  EXPECT_EQ(d[4], 77u);
  EXPECT_EQ(d[5], 78u);
  EXPECT_EQ(kernel.memory[0], 78u);
}

TEST(Atom, SixtyFourBits) {
  LaneKernel kernel(R"(
    cvt.u64.u32 %w0, %lane;
    atom.global.add.u64 %wd, [%bytes], %w0;
    atom.global.cas.b64 %w1, [%bytes+8], 5, 6;
    red.global.max.s64 [%bytes+16], %w0;)");
  kernel.memory = {0xffffffff, 0, 5, 0, 0xffffffff, 0xffffffff};
  kernel.run();
  EXPECT_EQ(kernel.wide_results[2], 0x100000000u);
  EXPECT_EQ(kernel.memory[0], 495u);
  EXPECT_EQ(kernel.memory[1], 1u);
  EXPECT_EQ(kernel.memory[2], 6u);
  EXPECT_EQ(kernel.memory[4], 31u);
  EXPECT_EQ(kernel.memory[5], 0u);
}

TEST(Atom, SixteenBitsAndOneHundredTwentyEight) {
  LaneKernel kernel(R"(
    .reg .b128 %q0, %q1, %q2;
    setp.eq.u32 %p0, %lane, 0;
    @!%p0 bra done;
    mov.b16 %h0, 0x1234;
    mov.b16 %h1, 0x5678;
    atom.global.cas.b16 %h2, [%bytes+2], %h0, %h1;
    cvt.u32.u16 %d, %h2;
    mov.b64 %w0, 7;
    mov.b64 %w1, 8;
    mov.b128 %q0, {%w0, %w1};
    atom.global.exch.b128 %q1, [%bytes+16], %q0;
    mov.b128 {%w2, %w3}, %q1;
    mov.b64 %wd, %w3;
    atom.global.cas.b128 %q2, [%bytes+16], %q0, %q1;
  done:)");
  kernel.memory = {0x12340000, 0, 0, 0, 1, 2, 3, 4};
  EXPECT_EQ(kernel.run()[0], 0x1234u);
  EXPECT_EQ(kernel.memory[0], 0x56780000u);
  EXPECT_EQ(kernel.wide_results[0], 0x0000000400000003u);
  EXPECT_EQ(std::vector<uint32_t>(kernel.memory.begin() + 4, kernel.memory.begin() + 8),
            (std::vector<uint32_t>{1, 2, 3, 4}));
}

TEST(Atom, FloatsFlushInGlobalMemoryOnly) {
  LaneKernel kernel(R"(
    .shared .align 4 .b32 word;
    setp.eq.u32 %p0, %lane, 0;
    @!%p0 bra done;
    red.global.add.f32 [%bytes], 0f00000003;
    st.shared.b32 [word], 4;
    atom.shared.add.f32 %d, [word], 0f00000003;
    ld.shared.b32 %d, [word];
    red.global.add.f64 [%bytes+8], 0d3ff0000000000000;
    atom.global.add.f32 %r0, [%bytes+16], 0f3f800000;
  done:)");
  kernel.memory = {4, 0, 0, 0, bits(2.0f)};
  EXPECT_EQ(kernel.run()[0], 7u);
  EXPECT_EQ(kernel.memory[0], 0u);
  EXPECT_EQ(kernel.memory[3], 0x3ff00000u);
  EXPECT_EQ(kernel.memory[4], bits(3.0f));
}

TEST(Atom, FloatsThatKeepSubnormals) {
  LaneKernel kernel(R"(
    setp.eq.u32 %p0, %lane, 0;
    @!%p0 bra done;
    red.global.add.noftz.f32 [%bytes], 0f00000003;
    atom.global.add.noftz.f32 %d, [%bytes], 0f00000001;
    mov.b32 %r0, 2;
    red.global.add.noftz.v2.f32 [%bytes+8], {%r0, %r0};
    atom.global.add.noftz.v2.f32 {%r1, %r2}, [%bytes+8], {%r0, %r0};
  done:)",
                    "sm_90a");
  kernel.memory = {4, 0, 1, 2};
  EXPECT_EQ(kernel.run()[0], 7u);
  EXPECT_EQ(kernel.memory[0], 8u);
  EXPECT_EQ(kernel.memory[2], 5u);
  EXPECT_EQ(kernel.memory[3], 6u);
}

TEST(Atom, Halves) {
  LaneKernel kernel(R"(
    setp.eq.u32 %p0, %lane, 0;
    @!%p0 bra done;
    atom.global.add.noftz.f16x2 %d, [%bytes], %a;
    red.global.add.noftz.bf16x2 [%bytes+4], %b;
    cvt.u16.u32 %h0, %a;
    red.global.add.noftz.f16 [%bytes+8], %h0;
  done:)");
  kernel.a = {0x3c003c00};
  kernel.b = {0x3f803f80};
  kernel.memory = {0x40003c00, 0x3f804000, 0xdead3c00};
  EXPECT_EQ(kernel.run()[0], 0x40003c00u);
  EXPECT_EQ(kernel.memory[0], 0x42004000u);
  EXPECT_EQ(kernel.memory[1], 0x40004040u);
  EXPECT_EQ(kernel.memory[2], 0xdead4000u);
}

TEST(Atom, Vectors) {
  LaneKernel kernel(R"(
    setp.eq.u32 %p0, %lane, 0;
    @!%p0 bra done;
    atom.global.add.v2.f32 {%r0, %d}, [%bytes], {%a, %b};
    red.global.add.v4.f32 [%bytes+16], {%a, %b, %a, %b};
    cvt.u16.u32 %h0, %c;
    red.global.max.noftz.v2.bf16 [%bytes+32], {%h0, %h0};
    atom.global.add.noftz.v2.f16x2 {%r1, %r2}, [%bytes+40], {%c, %c};
  done:)");
  kernel.a = {bits(1.0f)};
  kernel.b = {bits(2.0f)};
  kernel.c = {0x3f80};
  kernel.memory = {bits(5.0f), bits(6.0f), 0,          0,         bits(1.0f),
                   bits(1.0f), bits(1.0f), bits(1.0f), 0x40000000};
  EXPECT_EQ(kernel.run()[0], bits(6.0f));
  EXPECT_EQ(kernel.memory[0], bits(6.0f));
  EXPECT_EQ(kernel.memory[1], bits(8.0f));
  EXPECT_EQ(kernel.memory[7], bits(3.0f));
  EXPECT_EQ(kernel.memory[8], 0x40003f80u);
  EXPECT_EQ(kernel.memory[11], 0x3f80u);
}

TEST(Atom, GenericAddressOfSharedMemory) {
  LaneKernel kernel(R"(
    .shared .align 4 .b32 word;
    mov.u64 %w0, word;
    cvta.shared.u64 %w1, %w0;
    st.shared.b32 [word], 0;
    atom.add.u32 %r0, [%w1], 1;
    ld.shared.b32 %d, [word];)");
  EXPECT_EQ(kernel.run()[4], 32u);
}

TEST(Atom, OutsideEveryBuffer) {
  LaneKernel kernel("red.global.add.u32 [%bytes+1024], 1;");
  RunResult result = kernel.end();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::out_of_bounds);
}

}  // namespace
}  // namespace lw::machine
