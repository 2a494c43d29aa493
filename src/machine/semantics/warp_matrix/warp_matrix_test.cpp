// ldmatrix, stmatrix, movmatrix, mma: whole kernels of one warp.

#include <gtest/gtest.h>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

// Shared memory holds 256 words, word i = i; then `body`; then %r0..%r3 of each thread go out.
std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %a, %n, %i, %r<4>;
  .reg .f32 %f<4>;
  .reg .b64 %p, %o;
  .reg .pred %more;
  .shared .align 16 .b8 tile[1024];
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  mov.u32 %i, %t;
FILL:
  shl.b32 %n, %i, 2;
  mov.u32 %a, tile;
  add.u32 %a, %a, %n;
  st.shared.u32 [%a], %i;
  add.u32 %i, %i, 32;
  setp.lt.u32 %more, %i, 256;
  @%more bra FILL;
  bar.warp.sync -1;
  mov.u32 %r0, 0;
  mov.u32 %r1, 0;
  mov.u32 %r2, 0;
  mov.u32 %r3, 0;
  shl.b32 %n, %t, 4;
  mov.u32 %a, tile;
  add.u32 %a, %a, %n;
)" + body +
         R"(
  mul.wide.u32 %o, %t, 16;
  add.u64 %p, %p, %o;
  st.global.v4.u32 [%p], {%r0, %r1, %r2, %r3};
  ret;
})";
}

std::vector<uint32_t> results(const std::string& body, const std::string& target = "sm_90a") {
  TestKernel test(kernel(body), {}, target);
  test.buffer(128);
  test.run(1, 32);
  return test.words(0);
}

// 16-bit element (row, column) of matrix `index`, whose rows are the words 4 * lane on.
uint32_t element(uint32_t index, uint32_t row, uint32_t column) {
  const uint32_t word = 32 * index + 4 * row + column / 2;
  return column % 2 ? word >> 16 : word & 0xffff;
}

TEST(WarpMatrix, LoadsFourMatrices) {
  const auto out = results("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%a];");
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t index = 0; index < 4; ++index)
      EXPECT_EQ(out[4 * lane + index], 32 * index + lane);
}

TEST(WarpMatrix, LoadsTransposed) {
  const auto out = results("ldmatrix.sync.aligned.m8n8.x2.trans.shared::cta.b16 {%r0, %r1}, [%a];");
  for (uint32_t lane = 0; lane < 32; ++lane)
    for (uint32_t index = 0; index < 2; ++index) {
      const uint32_t row = lane % 4 * 2, column = lane / 4;
      EXPECT_EQ(out[4 * lane + index], element(index, row, column) | element(index, row + 1, column)
                                                                         << 16);
    }
}

TEST(WarpMatrix, StoreIsTheInverseOfLoad) {
  const auto out = results(R"(
  ldmatrix.sync.aligned.m8n8.x1.trans.shared.b16 {%r0}, [%a];
  stmatrix.sync.aligned.m8n8.x1.trans.shared.b16 [%a+512], {%r0};
  ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r1}, [%a+512];
  movmatrix.sync.aligned.m8n8.trans.b16 %r2, %r0;)");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(out[4 * lane + 1], lane);
    EXPECT_EQ(out[4 * lane + 2], lane);
  }
}

// Byte `index` of shared memory as `kernel` fills it.
uint32_t byte_at(uint32_t index) { return index / 4 >> (8 * (index % 4)) & 0xff; }
// Element `index` of a row of `bits` bits each that starts at byte `start`.
uint32_t short_at(uint32_t start, uint32_t bits, uint32_t index) {
  uint32_t value = 0;
  for (uint32_t bit = 0; bit < bits; ++bit) {
    const uint32_t at = bits * index + bit;
    value |= (byte_at(start + at / 8) >> (at % 8) & 1) << bit;
  }
  return value;
}

TEST(WarpMatrix, WidensShortElements) {
  for (const auto& [format, bits] : {std::pair{"b4x16_p64", 4u}, std::pair{"b6x16_p32", 6u}}) {
    const auto out = results(std::string("ldmatrix.sync.aligned.m8n16.x4.shared::cta.b8x16.") +
                                 format + " {%r0, %r1, %r2, %r3}, [%a];",
                             "sm_100a");
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t index = 0; index < 4; ++index)
        for (uint32_t i = 0; i < 4; ++i)
          EXPECT_EQ(out[4 * lane + index] >> (8 * i) & 0xff,
                    short_at(16 * (8 * index + lane / 4), bits, lane % 4 * 4 + i));
  }
}

TEST(WarpMatrix, TransposesSquaresOfBytes) {
  const std::tuple<const char*, uint32_t> kFormats[] = {
      {"b8", 8}, {"b8x16.b4x16_p64", 4}, {"b8x16.b6x16_p32", 6}};
  for (const auto& [format, bits] : kFormats) {
    const auto out = results(std::string("ldmatrix.sync.aligned.m16n16.x2.trans.shared.") + format +
                                 " {%r0, %r1, %r2, %r3}, [%a];",
                             "sm_100a");
    for (uint32_t lane = 0; lane < 32; ++lane)
      for (uint32_t r = 0; r < 4; ++r)
        for (uint32_t i = 0; i < 4; ++i) {
          const uint32_t row = r / 2 * 16 + lane % 4 * 4 + i, column = lane / 4 + r % 2 * 8;
          EXPECT_EQ(out[4 * lane + r] >> (8 * i) & 0xff, short_at(16 * row, bits, column));
        }
  }
}

TEST(WarpMatrix, StoresBytesTransposed) {
  // Each register holds four bytes of its own number; the rows come back by a plain load.
  const auto out = results(R"(
  shl.b32 %r0, %t, 2;
  mul.lo.u32 %r0, %r0, 0x01010101;
  add.u32 %r0, %r0, 0x03020100;
  add.u32 %r1, %r0, 0x80808080;
  stmatrix.sync.aligned.m16n8.x2.trans.shared.b8 [%a], {%r0, %r1};
  bar.warp.sync -1;
  ldmatrix.sync.aligned.m8n8.x2.shared.b16 {%r2, %r3}, [%a];)",
                           "sm_100a");
  for (uint32_t index = 0; index < 2; ++index)
    for (uint32_t row = 0; row < 8; ++row)
      for (uint32_t column = 0; column < 16; ++column) {
        const uint32_t word = out[4 * (4 * row + column / 4) + 2 + index];
        const uint32_t lane = column % 8 * 4 + row / 2, element = column / 8 * 2 + row % 2;
        EXPECT_EQ(word >> (8 * (column % 4)) & 0xff, 4 * lane + element + 128 * index);
      }
}

TEST(WarpMatrix, MultipliesAndAccumulates) {
  // A and B of ones: every element of D is 16 plus C.
  const auto out = results(R"(
  mov.u32 %r0, 0x3c003c00;
  mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f0, %f1, %f2, %f3}, {%r0, %r0, %r0, %r0}, {%r0, %r0}, {0f3F800000, 0f00000000, 0f40000000, 0f00000000};
  mov.b32 %r0, %f0;
  mov.b32 %r1, %f1;
  mov.b32 %r2, %f2;
  mov.b32 %r3, %f3;)");
  for (uint32_t lane = 0; lane < 32; ++lane) {
    EXPECT_EQ(std::bit_cast<float>(out[4 * lane]), 17.0f);
    EXPECT_EQ(std::bit_cast<float>(out[4 * lane + 1]), 16.0f);
    EXPECT_EQ(std::bit_cast<float>(out[4 * lane + 2]), 18.0f);
  }
}

TEST(WarpMatrix, ADivergentWarpIsAFault) {
  TestKernel test(kernel(R"(
  setp.lt.u32 %more, %t, 8;
  @%more ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%r0}, [%a];)"));
  test.buffer(128);
  const RunResult& result = test.launch(1, 32);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::divergent_aligned);
}

}  // namespace
}  // namespace lw::machine
