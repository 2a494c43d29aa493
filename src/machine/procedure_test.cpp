// Functions that call themselves, and the stack: what tests/agree does not show.

#include <gtest/gtest.h>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

// Adds up 1 to n, where `stop` ends the descent.
std::string sum_kernel(const std::string& stop) {
  return R"(.func (.param .b32 r) sum(.param .b32 n) {
    .reg .b32 %n, %m;
    .reg .pred %p;
    .param .b32 down, up;
    ld.param.b32 %n, [n];
    mov.b32 %m, 0;
    )" + stop +
         R"(
    @%p bra DONE;
    sub.u32 %m, %n, 1;
    st.param.b32 [down], %m;
    call (up), sum, (down);
    ld.param.b32 %m, [up];
    DONE:
    add.u32 %m, %m, %n;
    st.param.b32 [r], %m;
    ret;
  }
  )";
}

// Lane i asks for the sum of 1 to i.
std::string program(const std::string& stop) {
  return sum_kernel(stop) + R"(.visible .entry k(.param .u64 out) {
    .reg .b32 %lane, %w;
    .reg .b64 %out, %at;
    .param .b32 first, result;
    ld.param.u64 %out, [out];
    mov.u32 %lane, %tid.x;
    st.param.b32 [first], %lane;
    call (result), sum, (first);
    ld.param.b32 %w, [result];
    bar.sync 0;
    mul.wide.u32 %at, %lane, 4;
    add.u64 %at, %out, %at;
    st.global.b32 [%at], %w;
    ret;
  })";
}

TEST(Procedures, LanesAreAtDepthsOfTheirOwn) {
  TestKernel test(program("setp.eq.u32 %p, %n, 0;"));
  test.buffer(32);
  test.run(1, 32);
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(test.words(0)[lane], lane * (lane + 1) / 2);
}

TEST(Procedures, AStackThatIsFullIsSaid) {
  TestKernel test(program("setp.ne.u32 %p, %n, %n;"));
  test.buffer(32);
  const RunResult& result = test.launch(1, 32);
  ASSERT_TRUE(result.not_analysed);
  EXPECT_EQ(result.not_analysed->reason, "the stack of a thread is full, at 16 KiB");
}

TEST(Procedures, SoIsOneThatIsWrittenOver) {
  TestKernel test(program(R"(setp.eq.u32 %p, %n, 0;
    .reg .b64 %at;
    mov.b64 %at, down;
    st.local.b32 [%at+-24], -1;
    st.local.b32 [%at+-20], -1;
    st.local.b32 [%at+-16], -1;
    st.local.b32 [%at+-12], -1;)"));
  test.buffer(32);
  const RunResult& result = test.launch(1, 32);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->text, "a function returns, and its stack is written over");
}

}  // namespace
}  // namespace lw::machine
