// What the order engine hears of collectives and atomics: who meets, what is ordered, whose old
// value is used.

#include <gtest/gtest.h>

#include "machine/test_kernel.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

// Every lane writes its word of shared memory, does `between`, and reads its neighbour's.
size_t races(const std::string& between) {
  TestKernel test(R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<3>;
  .reg .b32 %r<6>;
  .reg .b64 %w<3>;
  .shared .align 4 .b8 words[128];
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, words;
  shl.b32 %r2, %r0, 2;
  add.u32 %r1, %r1, %r2;
  xor.b32 %r2, %r2, 4;
  mov.u32 %r3, words;
  add.u32 %r3, %r3, %r2;
  st.shared.u32 [%r1], %r0;
)" + between + R"(
  ld.shared.u32 %r4, [%r3];
  ld.param.u64 %w0, [out];
  mul.wide.u32 %w1, %r0, 4;
  add.u64 %w0, %w0, %w1;
  st.global.u32 [%w0], %r4;
  ret;
})");
  test.buffer(32);
  order::Engine engine({});
  EXPECT_TRUE(test.launch(1, 32, 0, &engine).finished) << test.why();
  return engine.finish().races.size();
}

TEST(WarpOrder, BarWarpSyncOrdersMemory) {
  EXPECT_EQ(races("bar.warp.sync -1;"), 0u);
  EXPECT_EQ(races(""), 1u);
}

TEST(WarpOrder, OtherMeetingsOrderNone) {
  EXPECT_EQ(races("shfl.sync.bfly.b32 %r5, %r0, 1, 31, -1;"), 1u);
  EXPECT_EQ(races("vote.sync.all.pred %p1, %p0, -1;"), 1u);
}

TEST(WarpOrder, BarWarpSyncOfDivergedLanes) {
  EXPECT_EQ(races(R"(
  setp.lt.u32 %p0, %r0, 7;
  @%p0 bra low;
  bar.warp.sync -1;
  bra done;
low:
  bar.warp.sync -1;
done:)"),
            0u);
}

// How many atomics returned a value that another order would have changed.
size_t unforced(const std::string& code) {
  TestKernel test(R"(
.visible .entry k(.param .u64 out) {
  .reg .b32 %r<3>;
  .reg .b64 %w<3>;
  ld.param.u64 %w0, [out];
)" + code + R"(
  ret;
})");
  test.buffer(8);
  order::Engine engine({});
  EXPECT_TRUE(test.launch(2, 32, 0, &engine).finished) << test.why();
  EXPECT_EQ(test.words(0)[0], 64u);
  EXPECT_EQ(engine.finish().races.size(), 0u);
  return engine.facts().unforced.size();
}

TEST(AtomicOrder, OnlyUsedValuesDependOnTheOrder) {
  EXPECT_EQ(unforced("red.global.add.u32 [%w0], 1;"), 0u);
  EXPECT_EQ(unforced("atom.global.add.u32 %r0, [%w0], 1;"), 0u);
  EXPECT_NE(unforced("atom.global.add.u32 %r0, [%w0], 1; red.global.max.u32 [%w0+4], %r0;"), 0u);
}

}  // namespace
}  // namespace lw::machine
