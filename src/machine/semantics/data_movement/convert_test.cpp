// cvt, cvt.pack. Expected values by the facts measured on an H200 (arith/convert.h, formats.h).

#include <gtest/gtest.h>

#include <limits>

#include "machine/semantics/lane_kernel.h"

namespace lw::machine {
namespace {

struct Case {
  std::string code;  // from %a, %b or %wa to %d or %wd
  uint64_t source;
  uint64_t result;
};

// Lane 5 has the source; the others 0.
uint64_t narrow(const std::string& code, uint64_t source, const std::string& target) {
  LaneKernel kernel(code, target);
  kernel.a.assign(32, static_cast<uint32_t>(source));
  return kernel.run()[5];
}
uint64_t wide(const std::string& code, uint64_t source) {
  LaneKernel kernel(code);
  kernel.wa.assign(32, source);
  kernel.a.assign(32, static_cast<uint32_t>(source));
  kernel.run();
  return kernel.wide_results[5];
}

void expect_words(const std::vector<Case>& cases, const std::string& target = "sm_90a") {
  for (const Case& it : cases)
    EXPECT_EQ(narrow(it.code, it.source, target), it.result) << it.code << " of " << it.source;
}
void expect_wides(const std::vector<Case>& cases) {
  for (const Case& it : cases)
    EXPECT_EQ(wide(it.code, it.source), it.result) << it.code << " of " << it.source;
}

constexpr uint32_t kNan = 0x7fc12345;

TEST(Convert, IntegersWithin32Bits) {
  expect_words({
      {"cvt.s32.s8 %d, %a;", 0x1ff, 0xffffffff},
      {"cvt.u32.u8 %d, %a;", 0x1ff, 0xff},
      {"cvt.u32.s8 %d, %a;", 0x80, 0xffffff80},
      {"cvt.s8.s32 %d, %a;", 0x180, 0xffffff80},
      {"cvt.u8.u32 %d, %a;", 0x180, 0x80},
      {"cvt.u16.s8 %h0, %a; cvt.u32.u16 %d, %h0;", 0xfe, 0xfffe},
      {"cvt.s16.s8 %h0, %a; cvt.u32.u16 %d, %h0;", 0xfe, 0xfffe},
      {"cvt.s32.s16 %d, %a;", 0x8001, 0xffff8001},
      {"cvt.u32.u16 %d, %a;", 0x12348001, 0x8001},
      {"cvt.u32.s32 %d, %a;", 0xfedcba98, 0xfedcba98},
  });
}

TEST(Convert, IntegersSaturate) {
  expect_words({
      {"cvt.sat.u8.s32 %d, %a;", 300, 255},
      {"cvt.sat.u8.s32 %d, %a;", static_cast<uint32_t>(-5), 0},
      {"cvt.sat.s8.s32 %d, %a;", static_cast<uint32_t>(-300), 0xffffff80},
      {"cvt.sat.s8.u32 %d, %a;", 200, 127},
      {"cvt.sat.s16.s32 %d, %a;", 40000, 32767},
      {"cvt.sat.u32.s32 %d, %a;", 0x80000000, 0},
      {"cvt.sat.s32.u32 %d, %a;", 0x80000000, 0x7fffffff},
  });
  LaneKernel kernel("cvt.sat.s32.s64 %d, %wa;");
  kernel.wa = {uint64_t{1} << 40, ~(uint64_t{1} << 40), 5};
  auto d = kernel.run();
  EXPECT_EQ(d[0], 0x7fffffffu);
  EXPECT_EQ(d[1], 0x80000000u);
  EXPECT_EQ(d[2], 5u);
}

TEST(Convert, IntegersTo64BitsAndBack) {
  expect_wides({
      {"cvt.u64.u32 %wd, %a;", 0x80000000, 0x80000000},
      {"cvt.s64.s32 %wd, %a;", 0x80000000, 0xffffffff80000000},
      {"cvt.u64.u8 %wd, %a;", 0x1ff, 0xff},
      {"cvt.s64.s8 %wd, %a;", 0xfe, 0xfffffffffffffffe},
      {"cvt.s64.u64 %wd, %wa;", 0x123456789abcdef0, 0x123456789abcdef0},
      {"cvt.u32.u64 %d, %wa; cvt.u64.u32 %wd, %d;", 0x123456789abcdef0, 0x9abcdef0},
      {"cvt.s32.s8 %wd, %wa;", 0x80, 0xffffffffffffff80},
      {"cvt.u8.u64 %wd, %wa;", 0x1234, 0x34},
  });
}

TEST(Convert, SpecialRegistersAndConstantsAreSources) {
  LaneKernel kernel("cvt.u64.u32 %w0, %tid.x; cvt.s64.s16 %w1, -3; add.s64 %wd, %w0, %w1;");
  kernel.run();
  EXPECT_EQ(kernel.wide_results[5], 2u);
  EXPECT_EQ(kernel.wide_results[1], ~uint64_t{1});
}

TEST(Convert, IntegersToFloats) {
  expect_words({
      {"cvt.rn.f32.s32 %d, %a;", static_cast<uint32_t>(-7), bits(-7.0f)},
      {"cvt.rn.f32.u32 %d, %a;", 0xffffffff, bits(4294967296.0f)},
      {"cvt.rz.f32.u32 %d, %a;", 0xffffffff, 0x4f7fffff},
      {"cvt.rm.f32.s32 %d, %a;", static_cast<uint32_t>(-16777217), bits(-16777218.0f)},
      {"cvt.rn.f32.u8 %d, %a;", 0x1ff, bits(255.0f)},
      {"cvt.rn.sat.f32.s32 %d, %a;", 9, bits(1.0f)},
      {"cvt.rn.f16.s32 %h0, %a; cvt.u32.u16 %d, %h0;", 3, 0x4200},
      {"cvt.rn.f16.u32 %h0, %a; cvt.u32.u16 %d, %h0;", 70000, 0x7c00},
      {"cvt.rn.bf16.s32 %h0, %a; cvt.u32.u16 %d, %h0;", 3, 0x4040},
  });
  expect_wides({
      {"cvt.rn.f64.s32 %wd, %a;", static_cast<uint32_t>(-7), bits(-7.0)},
      {"cvt.rn.f64.u64 %wd, %wa;", 1, bits(1.0)},
      {"cvt.rp.f64.s64 %wd, %wa;", (uint64_t{1} << 53) + 1, bits(9007199254740994.0)},
  });
}

TEST(Convert, FloatsToIntegers) {
  expect_words({
      {"cvt.rzi.s32.f32 %d, %a;", bits(-2.9f), static_cast<uint32_t>(-2)},
      {"cvt.rzi.u32.f32 %d, %a;", bits(-2.9f), 0},
      {"cvt.rzi.u32.f32 %d, %a;", bits(3e9f), 3000000000u},
      {"cvt.rzi.s32.f32 %d, %a;", bits(3e9f), 0x7fffffff},
      {"cvt.rzi.s32.f32 %d, %a;", bits(-1e20f), 0x80000000},
      {"cvt.rzi.s32.f32 %d, %a;", kNan, 0},
      {"cvt.rzi.u32.f32 %d, %a;", 0x7f800000, 0xffffffff},
      {"cvt.rni.s32.f32 %d, %a;", bits(2.5f), 2},
      {"cvt.rni.s32.f32 %d, %a;", bits(3.5f), 4},
      {"cvt.rmi.s32.f32 %d, %a;", bits(-2.5f), static_cast<uint32_t>(-3)},
      {"cvt.rpi.s32.f32 %d, %a;", bits(-2.5f), static_cast<uint32_t>(-2)},
      {"cvt.rpi.ftz.s32.f32 %d, %a;", 1, 0},
      {"cvt.rpi.s32.f32 %d, %a;", 1, 1},
      {"cvt.rzi.s8.f32 %d, %a;", bits(-200.0f), 0xffffff80},
      {"cvt.rzi.u8.f32 %d, %a;", bits(300.0f), 255},
      {"mov.b32 {%h0, %h1}, %a; cvt.rni.s32.f16 %d, %h0;", 0xc100, static_cast<uint32_t>(-2)},
      {"mov.b32 {%h0, %h1}, %a; cvt.rzi.s32.bf16 %d, %h0;", 0x40b0, 5},
  });
  expect_wides({
      {"cvt.rzi.s64.f32 %wd, %a;", kNan, uint64_t{1} << 63},
      {"cvt.rzi.u64.f32 %wd, %a;", bits(-1.0f), 0},
      {"cvt.rzi.s64.f64 %wd, %wa;", bits(-5.75), static_cast<uint64_t>(-5)},
      {"cvt.rni.u64.f64 %wd, %wa;", bits(1e30), ~uint64_t{0}},
      {"cvt.rzi.u32.f64 %d, %wa; cvt.u64.u32 %wd, %d;", 0x7ff8000000000000, 0x80000000},
  });
}

TEST(Convert, BetweenFloats) {
  expect_words({
      {"cvt.rn.f16.f32 %h0, %a; cvt.u32.u16 %d, %h0;", bits(1.0f / 3), 0x3555},
      {"cvt.rp.f16.f32 %h0, %a; cvt.u32.u16 %d, %h0;", bits(1.0f / 3), 0x3556},
      {"cvt.rn.sat.f16.f32 %h0, %a; cvt.u32.u16 %d, %h0;", bits(-2.0f), 0},
      {"cvt.rn.f16.f32 %h0, %a; cvt.u32.u16 %d, %h0;", kNan, 0x7fff},
      {"mov.b32 {%h0, %h1}, %a; cvt.f32.f16 %d, %h0;", 0xc000, bits(-2.0f)},
      {"mov.b32 {%h0, %h1}, %a; cvt.f32.f16 %d, %h0;", 0xfe01, 0x7fffffff},
      {"mov.b32 {%h0, %h1}, %a; cvt.f32.bf16 %d, %h0;", 0xffc1, 0xffc10000},
      {"mov.b32 {%h0, %h1}, %a; cvt.rni.f16.f16 %h0, %h0; cvt.u32.u16 %d, %h0;", 0x3e00, 0x4000},
      {"mov.b32 {%h0, %h1}, %a; cvt.rn.bf16.f16 %h0, %h0; cvt.u32.u16 %d, %h0;", 0x3c00, 0x3f80},
      {"mov.b32 {%h0, %h1}, %a; cvt.rn.f16.bf16 %h0, %h0; cvt.u32.u16 %d, %h0;", 0x3f80, 0x3c00},
      {"cvt.rn.bf16.f32 %h0, %a; cvt.u32.u16 %d, %h0;", bits(1.00390625f), 0x3f80},
      {"cvt.rz.bf16.f32 %h0, %a; cvt.u32.u16 %d, %h0;", bits(1.007f), 0x3f80},
      {"cvt.rn.relu.bf16.f32 %h0, %a; cvt.u32.u16 %d, %h0;", bits(-1.0f), 0},
      {"cvt.rn.satfinite.bf16.f32 %h0, %a; cvt.u32.u16 %d, %h0;", 0x7f800000, 0x7f7f},
      {"cvt.rn.relu.f16.f32 %h0, %a; cvt.u32.u16 %d, %h0;", bits(-1.0f), 0},
      {"cvt.rni.f32.f32 %d, %a;", bits(2.5f), bits(2.0f)},
      {"cvt.rni.f32.f32 %d, %a;", kNan, 0x7fffffff},
      {"cvt.sat.f32.f32 %d, %a;", bits(1.5f), bits(1.0f)},
      {"cvt.sat.f32.f32 %d, %a;", kNan, 0},
      {"cvt.ftz.f32.f32 %d, %a;", 0x80000001, 0x80000000},
      {"cvt.f32.f32 %d, %a;", kNan, kNan},
      {"cvt.f64.f32 %w0, %a; cvt.rz.f32.f64 %d, %w0;", bits(0.1f), bits(0.1f)},
  });
  expect_wides({
      {"cvt.f64.f32 %wd, %a;", bits(-0.5f), bits(-0.5)},
      {"cvt.rzi.f64.f64 %wd, %wa;", bits(-5.75), bits(-5.0)},
      {"cvt.rn.f32.f64 %d, %wa; cvt.u64.u32 %wd, %d;", bits(0.1), bits(0.1f)},
      {"cvt.rn.f16.f64 %h0, %wa; cvt.u64.u16 %wd, %h0;", bits(1.0 / 3), 0x3555},
      {"cvt.rn.bf16.f64 %h0, %wa; cvt.u64.u16 %wd, %h0;", bits(-2.0), 0xc000},
  });
}

TEST(Convert, PairsOfHalves) {
  LaneKernel kernel(
      "cvt.rn.bf16x2.f32 %r0, %a, %b; cvt.rn.f16x2.f32 %r1, %a, %b;"
      "mov.b64 %wd, {%r0, %r1}; cvt.rn.relu.f16x2.f32 %d, %a, %b;");
  kernel.a.assign(32, bits(-2.0f));
  kernel.b.assign(32, bits(1.0f));
  EXPECT_EQ(kernel.run()[30], 0x00003c00u);
  EXPECT_EQ(kernel.wide_results[30], 0xc0003c00c0003f80u);
}

TEST(Convert, Tf32) {
  expect_words({
      {"cvt.rna.tf32.f32 %d, %a;", 0x3f801000, 0x3f802000},
      {"cvt.rn.tf32.f32 %d, %a;", 0x3f801000, 0x3f800000},
      {"cvt.rz.relu.tf32.f32 %d, %a;", bits(-1.0f), 0},
      {"cvt.rn.tf32.f32 %d, %a;", kNan, 0x7fffe000},
  });
}

TEST(Convert, EightBits) {
  LaneKernel kernel(R"(
    cvt.rn.satfinite.e4m3x2.f32 %h0, %a, %b;
    cvt.rn.satfinite.e5m2x2.f32 %h1, %a, %b;
    mov.b32 %d, {%h0, %h1};
    cvt.rn.f16x2.e4m3x2 %r0, %h0;
    cvt.rn.satfinite.e4m3x2.f16x2 %h2, %r0;
    cvt.u32.u16 %r1, %h2;
    mov.b64 %wd, {%r0, %r1};)");
  kernel.a.assign(32, bits(1000.0f));
  kernel.b.assign(32, bits(-1.5f));
  EXPECT_EQ(kernel.run()[3], 0x64be7ebcu);  // 448, -1.5; 1024, -1.5
  EXPECT_EQ(kernel.wide_results[3], 0x00007ebc5f00be00u);
  expect_words({{"mov.b32 {%h0, %h1}, %a; cvt.rn.relu.f16x2.e5m2x2 %d, %h0;", 0xbc3c, 0x3c00}});
}

TEST(Convert, SixAndFourBitsAndScales) {
  expect_words(
      {
          {"cvt.rn.satfinite.e2m3x2.f32 %h0, %a, %a; cvt.u32.u16 %d, %h0;", bits(1.0f), 0x0808},
          {"cvt.rn.satfinite.e3m2x2.f32 %h0, %a, %a; cvt.u32.u16 %d, %h0;", bits(-100.0f), 0x3f3f},
          {"mov.b32 {%h0, %h1}, %a; cvt.rn.f16x2.e2m3x2 %d, %h0;", 0x0828, 0x3c00bc00},
          {"cvt.rp.ue8m0x2.f32 %h0, %a, %a; cvt.u32.u16 %d, %h0;", bits(3.0f), 0x8181},
          {"cvt.rz.ue8m0x2.bf16x2 %h0, %a; cvt.u32.u16 %d, %h0;", 0x3f804040, 0x7f80},
          {"mov.b32 {%h0, %h1}, %a; cvt.rn.bf16x2.ue8m0x2 %d, %h0;", 0x7f80, 0x3f804000},
      },
      "sm_100a");
}

TEST(Convert, PairsOfShortFormatsAndBf16) {
  expect_words(
      {
          {"cvt.rn.satfinite.e4m3x2.bf16x2 %h0, %a; cvt.u32.u16 %d, %h0;", 0x3f80c000, 0x38c0},
          {"mov.b32 {%h0, %h1}, %a; cvt.rn.bf16x2.e4m3x2 %d, %h0;", 0x38c0, 0x3f80c000},
          {"cvt.rn.satfinite.e2m3x2.f16x2 %h0, %a; cvt.u32.u16 %d, %h0;", 0x3c00bc00, 0x0828},
      },
      "sm_100a");
}

TEST(Convert, ShortFormatsTowardsZero) {
  expect_words(
      {
          {"cvt.rz.satfinite.e4m3x2.f32 %h0, %a, %a; cvt.u32.u16 %d, %h0;", bits(1.24f), 0x3939},
          {"cvt.rz.satfinite.e4m3x2.f32 %h0, %a, %a; cvt.u32.u16 %d, %h0;", bits(-1e9f), 0xfefe},
          {"cvt.rz.satfinite.relu.e2m3x2.f32 %h0, %a, %a; cvt.u32.u16 %d, %h0;", bits(-1.0f), 0},
          {"cvt.rz.satfinite.e5m2x2.f16x2 %h0, %a; cvt.u32.u16 %d, %h0;", 0x3cffbcff, 0x3cbc},
      },
      "sm_107a");
}

TEST(Convert, FloatsInWiderRegisters) {
  expect_wides({
      {"mov.b64 %wd, -1; cvt.rn.f32.f64 %wd, %wa;", bits(0.5), bits(0.5f)},
      {"cvt.f64.f32 %wd, %wa;", 0xabcd000000000000 | bits(0.5f), bits(0.5)},
      {"cvt.rzi.s32.f32 %d, %wa; cvt.u64.u32 %wd, %d;", 0xab00000000000000 | bits(7.5f), 7},
      {"cvt.rn.f32.s32 %wd, %a;", 3, bits(3.0f)},
      {"mov.b64 %wd, -1; cvt.rn.f16.f32 %wd, %a;", bits(1.0f), 0x3c00},
      {"mov.b32 %d, -1; cvt.rn.f16.f32 %d, %a; cvt.u64.u32 %wd, %d;", bits(1.0f), 0x3c00},
  });
}

TEST(Convert, Pack) {
  LaneKernel kernel(R"(
    cvt.pack.sat.s16.s32 %r0, %a, %b;
    cvt.pack.sat.u8.s32.b32 %r1, %a, %b, %c;
    mov.b64 %wd, {%r0, %r1};
    cvt.pack.sat.s8.s32.b32 %d, %a, %b, %c;)");
  kernel.a.assign(32, 100000);
  kernel.b.assign(32, static_cast<uint32_t>(-7));
  kernel.c.assign(32, 0x12345678);
  EXPECT_EQ(kernel.run()[0], 0x56787ff9u);
  EXPECT_EQ(kernel.wide_results[0], 0x5678ff007ffffff9u);
}

TEST(Convert, OnlyLanesThatRun) {
  LaneKernel kernel("mov.b32 %d, 77; setp.lt.u32 %p0, %lane, 2; @%p0 cvt.rn.f32.u32 %d, %a;");
  kernel.a = {1, 2, 3};
  auto d = kernel.run();
  EXPECT_EQ(d[1], bits(2.0f));
  EXPECT_EQ(d[2], 77u);
}

}  // namespace
}  // namespace lw::machine
