// The named barriers as instructions: whole kernels.

#include <gtest/gtest.h>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

// out[tid] = the value that the neighbour 32 threads on wrote before the barrier.
std::string exchange(const std::string& barrier) {
  return R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %a, %v, %n;
  .reg .b64 %p, %o;
  .shared .align 4 .b8 s[1024];
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  shl.b32 %a, %t, 2;
  mov.u32 %n, s;
  add.u32 %n, %n, %a;
  st.shared.u32 [%n], %t;
  )" + barrier +
         R"(
  add.u32 %v, %t, 32;
  rem.u32 %v, %v, 128;
  shl.b32 %v, %v, 2;
  mov.u32 %n, s;
  add.u32 %n, %n, %v;
  ld.shared.u32 %v, [%n];
  cvt.u64.u32 %o, %a;
  add.u64 %p, %p, %o;
  st.global.u32 [%p], %v;
  ret;
})";
}

TEST(BarrierInstructions, SyncExchangesAmongWarps) {
  for (const char* barrier : {"bar.sync 0;", "barrier.sync 3, 128;", "barrier.cta.sync.aligned 15;",
                              "mov.u32 %v, 128; mov.u32 %n, 7; bar.cta.sync %n, %v;"}) {
    TestKernel test(exchange(barrier));
    test.buffer(128);
    test.run(1, 128);
    for (uint32_t i = 0; i < 128; ++i) EXPECT_EQ(test.words(0)[i], (i + 32) % 128) << barrier;
  }
}

TEST(BarrierInstructions, ReductionsGiveEveryThreadTheResult) {
  TestKernel test(R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %c, %r;
  .reg .b64 %p, %o;
  .reg .pred %small, %all, %any;
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  setp.lt.u32 %small, %t, 70;
  bar.red.popc.u32 %c, 1, %small;
  barrier.red.and.pred %all, 2, 96, %small;
  bar.red.or.pred %any, 2, !%small;
  selp.u32 %r, 1000, 0, %all;
  add.u32 %c, %c, %r;
  selp.u32 %r, 2000, 0, %any;
  add.u32 %c, %c, %r;
  mul.wide.u32 %o, %t, 4;
  add.u64 %p, %p, %o;
  st.global.u32 [%p], %c;
  ret;
})");
  test.buffer(96);
  test.run(1, 96);
  for (uint32_t i = 0; i < 96; ++i) EXPECT_EQ(test.words(0)[i], 70u + 2000);
}

TEST(BarrierInstructions, ArriveDoesNotWait) {
  TestKernel test(R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %v, %w;
  .reg .b64 %p;
  .reg .pred %producer;
  .shared .align 4 .b8 s[4];
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  setp.lt.u32 %producer, %t, 32;
  @%producer bra PRODUCE;
  bar.sync 1, 64;
  ld.shared.u32 %v, [s];
  st.global.u32 [%p], %v;
  ret;
PRODUCE:
  mov.u32 %v, 41;
  st.shared.u32 [s], %v;
  bar.arrive 1, 64;
  st.global.u32 [%p+4], %v;
  ret;
})");
  test.buffer(2);
  test.run(1, 64);
  EXPECT_EQ(test.words(0), (std::vector<uint32_t>{41, 41}));
}

TEST(BarrierInstructions, LanesOfADivergentWarpMayArriveApart) {
  TestKernel test(R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t;
  .reg .b64 %p;
  .reg .pred %low, %first;
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  setp.lt.u32 %low, %t, 16;
  setp.eq.u32 %first, %t, 0;
  @%low bra LOW;
  barrier.sync 2;
  bra DONE;
LOW:
  barrier.sync 2;
DONE:
  @%first st.global.u32 [%p], 5;
  ret;
})");
  test.buffer(1);
  test.run(1, 32);
  EXPECT_EQ(test.words(0)[0], 5u);
}

// Lane 0 waits for the other warp inside the loop while the lanes beside it are back at its top.
TEST(BarrierInstructions, AnElectedLaneMayWaitInsideALoop) {
  TestKernel test(R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %i, %parity;
  .reg .b64 %p, %s;
  .reg .pred %first, %other, %ok, %again;
  .shared .align 8 .b64 bar;
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  setp.eq.u32 %first, %t, 0;
  setp.eq.u32 %other, %t, 32;
  @%first mbarrier.init.shared.b64 [bar], 1;
  mov.u32 %i, 0;
LOOP:
  bar.sync 0;
  @%other mbarrier.arrive.shared.b64 %s, [bar];
  @!%first bra JOIN;
  and.b32 %parity, %i, 1;
WAIT:
  mbarrier.try_wait.parity.shared.b64 %ok, [bar], %parity;
  @!%ok bra WAIT;
JOIN:
  add.u32 %i, %i, 1;
  setp.lt.u32 %again, %i, 5;
  @%again bra LOOP;
  @%first st.global.u32 [%p], %i;
  ret;
})");
  test.buffer(1);
  test.run(1, 64);
  EXPECT_EQ(test.words(0)[0], 5u);
}

TEST(BarrierInstructions, ThreadsMayLeaveByABranchToTheEnd) {
  TestKernel test(R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t;
  .reg .b64 %p;
  .reg .pred %late;
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  setp.ge.u32 %late, %t, 40;
  @%late bra END;
  bar.sync 0;
  st.global.u32 [%p], 6;
END:
  ret;
})");
  test.buffer(1);
  test.run(1, 64);
  EXPECT_EQ(test.words(0)[0], 6u);
}

TEST(BarrierInstructions, ThreadsThatExitDropOut) {
  TestKernel test(R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t;
  .reg .b64 %p;
  .reg .pred %late;
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  setp.ge.u32 %late, %t, 40;
  @%late ret;
  barrier.sync 0;
  st.global.u32 [%p], 6;
  ret;
})");
  test.buffer(1);
  test.run(1, 96);
  EXPECT_EQ(test.words(0)[0], 6u);
}

// Runs one barrier instruction in all of 64 threads (or what `before` leaves of them).
std::string fault_of(const std::string& body) {
  TestKernel test(
      ".visible .entry k() {\n.reg .b32 %t, %w;\n.reg .pred %p;\nmov.u32 %t, %tid.x;\n" + body +
      "\nret;\n}");
  const RunResult& result = test.launch(1, 64);
  return result.fault ? result.fault->text : "";
}

TEST(BarrierInstructions, MisuseIsAFault) {
  EXPECT_EQ(fault_of("mov.u32 %w, 16; bar.sync %w;"),
            "barrier 16 does not exist: there are 16, from 0");
  EXPECT_EQ(fault_of("mov.u32 %w, 33; bar.sync 1, %w;"),
            "barrier 1: the thread count is not a multiple of 32 (this thread count: 33)");
  EXPECT_EQ(fault_of("mov.u32 %w, 96; bar.sync 1, %w;"),
            "barrier 1: the thread count is more than the CTA has (this thread count: 96)");
  EXPECT_EQ(
      fault_of("bar.arrive 1, 64; bar.arrive 1, 64;"),
      "barrier 1: more arrivals than the thread count allows (this thread count: 64); live in "
      "generation 0 with 64 threads");
  EXPECT_EQ(fault_of("setp.lt.u32 %p, %t, 16;\n@%p bar.sync 0;\nmov.u32 %w, %t;"),
            "not all threads of the warp execute it together");
}

TEST(BarrierInstructions, ADeadlockNamesWhoIsMissing) {
  TestKernel test(R"(.visible .entry k() {
  .reg .b32 %t;
  .reg .pred %p;
  mov.u32 %t, %tid.x;
  setp.ge.u32 %p, %t, 64;
  @%p bra OTHER;
  bar.sync 1, 96;
  ret;
OTHER:
  bar.sync 2, 96;
  ret;
})");
  const RunResult& result = test.launch(1, 96);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::deadlock);
  ASSERT_EQ(result.fault->waiting.size(), 3u);
  EXPECT_EQ(result.fault->waiting[0].what,
            "barrier 1, generation 0: 2 of 3 warps have arrived; not arrived: warps 2");
}

}  // namespace
}  // namespace lw::machine
