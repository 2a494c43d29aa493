// Kernels that copy from shared to tensor memory.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <functional>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

constexpr uint32_t kPoison = 0xa5a5a5a5;
constexpr uint32_t kWords = 8;  // of a lane that are read back

// Copies `image` (core matrices of eight lines of 16 bytes; the second 16 bytes of a row LBO away)
// and returns the first eight columns of every lane.
std::vector<uint32_t> copied(const std::string& shape, const std::vector<uint32_t>& image) {
  std::string loads, stores;
  for (uint32_t i = 0; i < kWords; ++i) {
    loads += fmt::format("{}%r{}", i ? ", " : "", 100 + i);
    stores += fmt::format("  st.global.b32 [%rd1+{}], %r{};\n", 4 * i, 100 + i);
  }
  Options options;
  options.sm_count = 1;
  TestKernel test(
      fmt::format(R"(
.shared .align 1024 .b8 image[4096];
.shared .align 8 .b64 bar;
.shared .align 4 .b32 base;
.visible .entry k(.param .u64 out, .param .u64 from) {{
  .reg .pred %p<9>;
  .reg .b32 %r<140>;
  .reg .b32 %t, %w, %base;
  .reg .b64 %rd<12>;
  mov.u32 %t, %tid.x;
  shr.u32 %w, %t, 5;
  setp.eq.u32 %p7, %t, 0;
  setp.eq.u32 %p8, %w, 0;
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %t, 32;
  add.u64 %rd1, %rd1, %rd2;
  @%p7 mbarrier.init.shared::cta.b64 [bar], 1;
  @%p8 tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [base], 32;
  ld.param.u64 %rd2, [from];
  mov.u32 %r2, %t;
COPY:
  mul.wide.u32 %rd5, %r2, 4;
  add.u64 %rd5, %rd5, %rd2;
  ld.global.b32 %r3, [%rd5];
  shl.b32 %r4, %r2, 2;
  mov.u32 %r5, image;
  add.u32 %r4, %r4, %r5;
  st.shared.b32 [%r4], %r3;
  add.u32 %r2, %r2, 128;
  setp.lt.u32 %p1, %r2, 1024;
  @%p1 bra COPY;
  bar.sync 0;
  ld.shared.b32 %base, [base];
  @!%p7 bra ISSUED;
  mov.u32 %r10, image;
  shr.u32 %r11, %r10, 4;
  cvt.u64.u32 %rd6, %r11;
  or.b64 %rd6, %rd6, {0};
  tcgen05.cp.cta_group::1.{1} [%base], %rd6;
  tcgen05.commit.cta_group::1.mbarrier::arrive::one.b64 [bar];
ISSUED:
  mbarrier.try_wait.parity.shared::cta.b64 %p4, [bar], 0;
  @!%p4 bra ISSUED;
  tcgen05.ld.sync.aligned.32x32b.x8.b32 {{{2}}}, [%base];
  tcgen05.wait::ld.sync.aligned;
{3}
  bar.sync 0;
  @%p8 tcgen05.dealloc.cta_group::1.sync.aligned.b32 %base, 32;
  ret;
}})",
                  uint64_t{1} << 46 | uint64_t{128 / 16} << 32 | uint64_t{2048 / 16} << 16, shape,
                  loads, stores),
      options, "sm_100a");
  test.buffer(128 * kWords);
  test.buffer(image.size(), image);
  return test.run(1, 128).words(0);
}

// Word `word` of row `row`.
uint32_t value(uint32_t row, uint32_t word) { return 1000 * row + word; }

std::vector<uint32_t> rows_image() {
  std::vector<uint32_t> image(1024);
  for (uint32_t row = 0; row < 128; ++row)
    for (uint32_t word = 0; word < 8; ++word)
      image[word / 4 * 512 + row / 8 * 32 + row % 8 * 4 + word % 4] = value(row, word);
  return image;
}

// `row_of` says which row a lane gets, -1: none.
void expect_rows(const std::string& shape, uint32_t words,
                 const std::function<int(uint32_t)>& row_of) {
  const auto out = copied(shape, rows_image());
  for (uint32_t lane = 0; lane < 128; ++lane)
    for (uint32_t word = 0; word < kWords; ++word) {
      const int row = row_of(lane);
      const uint32_t want =
          row < 0 || word >= words ? kPoison : value(static_cast<uint32_t>(row), word);
      ASSERT_EQ(out[lane * kWords + word], want) << shape << ' ' << lane << ' ' << word;
    }
}

TEST(TensorCopies, EveryShape) {
  const auto same = [](uint32_t lane) { return static_cast<int>(lane); };
  expect_rows("128x256b", 8, same);
  expect_rows("128x128b", 4, same);
  expect_rows("4x256b", 8,
              [](uint32_t lane) { return lane % 32 == 0 ? static_cast<int>(lane / 32) : -1; });
  expect_rows("64x128b.warpx2::02_13", 4,
              [](uint32_t lane) { return static_cast<int>(lane % 64); });
  expect_rows("64x128b.warpx2::01_23", 4,
              [](uint32_t lane) { return static_cast<int>(lane / 64 * 32 + lane % 32); });
  expect_rows("32x128b.warpx4", 4, [](uint32_t lane) { return static_cast<int>(lane % 32); });
}

TEST(TensorCopies, UnpackToContainers) {
  std::vector<uint32_t> image(1024);
  image[0] = 0x4321;
  auto out = copied("128x128b.b8x16.b4x16_p64", image);
  EXPECT_EQ(out[0], 0x100c0804u);
  image[0] = 0x0c2041;
  out = copied("128x128b.b8x16.b6x16_p32", image);
  EXPECT_EQ(out[0], 0x03020101u);
}

}  // namespace
}  // namespace lw::machine
