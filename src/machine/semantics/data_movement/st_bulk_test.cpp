#include <gtest/gtest.h>

#include "machine/test_kernel.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

// 512 bytes of shared memory full of ones; `body` (of thread 0); then all words go out.
std::string kernel(const std::string& body) {
  return R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %a, %n, %v;
  .reg .b64 %p, %o, %size;
  .reg .pred %first;
  .shared .align 16 .b8 block[512];
  mov.u32 %t, %tid.x;
  shl.b32 %n, %t, 2;
  mov.u32 %a, block;
  add.u32 %a, %a, %n;
  st.shared.u32 [%a], -1;
  bar.sync 0;
  setp.eq.u32 %first, %t, 0;
  @!%first bra WAIT;
)" + body +
         R"(
WAIT:
  bar.sync 0;
  ld.shared.u32 %v, [%a];
  ld.param.u64 %p, [out];
  mul.wide.u32 %o, %t, 4;
  add.u64 %p, %p, %o;
  st.global.u32 [%p], %v;
  ret;
})";
}

TEST(StBulk, FillsWithZeros) {
  for (uint32_t from : {0u, 8u, 24u, 400u})
    for (uint32_t size : {0u, 8u, 40u, 104u}) {
      TestKernel test(
          kernel("mov.u64 %size, " + std::to_string(size) + ";\nst.bulk.weak.shared::cta [block+" +
                 std::to_string(from) + "], %size, 0;"),
          {}, "sm_100a");
      test.buffer(128);
      const auto words = test.run(1, 128).words(0);
      for (uint32_t i = 0; i < 128; ++i)
        EXPECT_EQ(words[i], 4 * i >= from && 4 * i < from + size ? 0u : ~0u) << from << ' ' << i;
    }
}

TEST(StBulk, IsAnOrdinaryStoreToTheOrder) {
  const auto races = [](const std::string& barrier) {
    TestKernel test(kernel("st.bulk.weak.shared::cta [block+8], 256, 0;\n" + barrier), {},
                    "sm_100a");
    test.buffer(128);
    order::Engine engine({}, &test.machine().order_values());
    EXPECT_TRUE(test.launch(1, 128, 0, &engine).finished) << test.why();
    return engine.finish().races.size();
  };
  EXPECT_EQ(races(""), 0u);
  // A second fill by thread 32 with nothing between.
  TestKernel test(R"(.visible .entry k() {
  .reg .b32 %t;
  .reg .pred %p;
  .shared .align 16 .b8 block[512];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %p, %t, 0;
  @%p st.bulk.weak.shared::cta [block], 64, 0;
  setp.eq.u32 %p, %t, 32;
  @%p st.shared.u32 [block+60], 1;
  ret;
})",
                  {}, "sm_100a");
  order::Engine engine({}, &test.machine().order_values());
  EXPECT_TRUE(test.launch(1, 64, 0, &engine).finished) << test.why();
  EXPECT_EQ(engine.finish().races.size(), 1u);
}

TEST(StBulk, OddSizesAndPlacesOutsideAreFaults) {
  const auto fault = [](const std::string& instruction) {
    TestKernel test(kernel(instruction), {}, "sm_100a");
    test.buffer(128);
    const RunResult& result = test.launch(1, 128);
    EXPECT_TRUE(result.fault) << instruction;
    return result.fault ? result.fault->kind : FaultKind{};
  };
  EXPECT_EQ(fault("st.bulk.weak.shared::cta [block], 12, 0;"), FaultKind::bulk_misuse);
  EXPECT_EQ(fault("st.bulk.weak.shared::cta [block+4], 16, 0;"), FaultKind::misaligned);
  EXPECT_EQ(fault("st.bulk.weak.shared::cta [block+256], 512, 0;"), FaultKind::out_of_bounds);
}

}  // namespace
}  // namespace lw::machine
