// The mbarrier instructions: whole kernels.

#include <gtest/gtest.h>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

// Thread 0 initialises `bar` with `count`; then `body`, in which %t is the thread, %p the output.
std::string kernel(int count, const std::string& body) {
  return R"(.visible .entry k(.param .u64 out) {
  .reg .b32 %t, %v, %n, %i, %a;
  .reg .b64 %p, %s, %o, %q;
  .reg .pred %first, %ok, %low;
  .shared .align 8 .b64 bar;
  .shared .align 4 .b32 word;
  ld.param.u64 %p, [out];
  mov.u32 %t, %tid.x;
  mov.u32 %a, bar;
  setp.eq.u32 %first, %t, 0;
  setp.lt.u32 %low, %t, 32;
  @%first mbarrier.init.shared::cta.b64 [bar], )" +
         std::to_string(count) + ";\n  bar.sync 0;\n" + body + "\n  ret;\n}";
}

const char* kWait = R"(WAIT:
  mbarrier.try_wait.parity.shared::cta.b64 %ok, [bar], 0;
  @!%ok bra WAIT;)";

TEST(MbarrierInstructions, WaitersSeeWhatTheArrivingWrote) {
  TestKernel test(kernel(32, std::string(R"(
  @!%low bra WAIT;
  mov.u32 %v, 9;
  st.shared.u32 [word], %v;
  mbarrier.arrive.shared::cta.b64 %s, [bar];
)") + kWait + R"(
  ld.shared.u32 %v, [word];
  mul.wide.u32 %o, %t, 4;
  add.u64 %q, %p, %o;
  st.global.u32 [%q], %v;)"));
  test.buffer(64);
  test.run(1, 64);
  for (uint32_t word : test.words(0)) EXPECT_EQ(word, 9u);
}

TEST(MbarrierInstructions, StatesAndPendingCounts) {
  // Without a space the address is generic.
  TestKernel test(kernel(5, R"(
  @!%first ret;
  cvt.u64.u32 %q, %a;
  cvta.shared.u64 %q, %q;
  mbarrier.arrive.noComplete.b64 %s, [%q], 2;
  mbarrier.pending_count.b64 %v, %s;
  st.global.u32 [%p], %v;
  mbarrier.test_wait.b64 %ok, [%q], %s;
  selp.u32 %v, 1, 0, %ok;
  st.global.u32 [%p+4], %v;
  mbarrier.arrive_drop.b64 %s, [%q], 2;
  mbarrier.arrive.b64 %s, [%q];
  mbarrier.pending_count.b64 %v, %s;
  st.global.u32 [%p+8], %v;
  mbarrier.test_wait.b64 %ok, [%q], %s;
  selp.u32 %v, 1, 0, %ok;
  st.global.u32 [%p+12], %v;
  mbarrier.arrive.b64 %s, [%q];
  mbarrier.pending_count.b64 %v, %s;
  st.global.u32 [%p+16], %v;)"));
  test.buffer(5);
  test.run(1, 32);
  EXPECT_EQ(test.words(0), (std::vector<uint32_t>{5, 0, 1, 1, 3}));
}

TEST(MbarrierInstructions, BytesCompleteAPhase) {
  TestKernel test(kernel(1, std::string(R"(
  @!%first bra WAIT;
  mbarrier.arrive.expect_tx.release.cta.shared::cta.b64 _, [bar], 48;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 16;
  mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [bar], 16;
  mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [bar], 48;
)") + kWait + R"(
  @%first st.global.u32 [%p], 3;)"));
  test.buffer(1);
  test.run(1, 64);
  EXPECT_EQ(test.words(0)[0], 3u);
}

TEST(MbarrierInstructions, TestWaitLetsOthersRun) {
  TestKernel test(kernel(32, R"(
  @%low bra WAIT;
  mbarrier.arrive.shared::cta.b64 %s, [%a];
  ret;
WAIT:
  mbarrier.test_wait.parity.acquire.cta.shared::cta.b64 %ok, [%a], 0;
  @!%ok bra WAIT;
  @%first st.global.u32 [%p], 4;)"));
  test.buffer(1);
  test.run(1, 64);
  EXPECT_EQ(test.words(0)[0], 4u);
}

TEST(MbarrierInstructions, FreshObjectPassesTheOtherParity) {
  TestKernel test(kernel(1, R"(
  mbarrier.try_wait.parity.shared::cta.b64 %ok, [bar], 1;
  selp.u32 %v, 7, 8, %ok;
  @%first st.global.u32 [%p], %v;)"));
  test.buffer(1);
  test.run(1, 32);
  EXPECT_EQ(test.words(0)[0], 7u);
}

std::string fault_of(int count, const std::string& body) {
  TestKernel test(kernel(count, "@!%first ret;\n" + body));
  test.buffer(1);
  const RunResult& result = test.launch(1, 32);
  return result.fault ? result.fault->text : "";
}

TEST(MbarrierInstructions, MisuseIsAFault) {
  const std::string object = "the mbarrier object at shared address 0x400";
  EXPECT_EQ(fault_of(2, "mbarrier.arrive.shared::cta.b64 %s, [bar], 3;"),
            object +
                ": more arrivals than the phase has pending (phase 0, 2 of 2 arrivals pending, "
                "0 bytes pending)");
  EXPECT_EQ(fault_of(1, "mbarrier.arrive_drop.shared::cta.b64 %s, [bar];"),
            object +
                ": no expected arrival is left for the next phase (phase 0, 1 of 1 arrivals "
                "pending, 0 bytes pending)");
  EXPECT_EQ(fault_of(2,
                     "mbarrier.inval.shared::cta.b64 [bar];\n"
                     "mbarrier.arrive.shared::cta.b64 %s, [bar];"),
            "no valid mbarrier object is there");
  EXPECT_EQ(fault_of(2,
                     "mbarrier.arrive.shared::cta.b64 %s, [bar];\n"
                     "mbarrier.init.shared::cta.b64 [bar], 1;"),
            object +
                ": initialised while it is valid and in use (phase 0, 1 of 2 arrivals pending, "
                "0 bytes pending)");
  EXPECT_EQ(fault_of(1, "ld.shared.u32 %v, [bar+4];"),
            "an ordinary access touches a live mbarrier object");
  EXPECT_EQ(fault_of(1, "st.shared.u32 [bar], %v;"),
            "an ordinary access touches a live mbarrier object");
  EXPECT_EQ(fault_of(1, "mbarrier.init.shared::cta.b64 [bar], 0;"),
            "the count 0 is outside 1..1048575");
  EXPECT_EQ(fault_of(1, "mbarrier.arrive.shared::cta.b64 %s, [%a+4];"), "not a multiple of 8");
  EXPECT_EQ(fault_of(1,
                     "mbarrier.arrive.shared::cta.b64 %s, [bar];\n"
                     "mbarrier.arrive.shared::cta.b64 _, [bar];\n"
                     "mbarrier.test_wait.shared::cta.b64 %ok, [bar], %s;"),
            object +
                ": the state is of neither the current phase nor the one just before (phase 2, "
                "1 of 1 arrivals pending, 0 bytes pending)");
}

TEST(MbarrierInstructions, ADeadlockTellsWhatIsMissing) {
  TestKernel test(kernel(3, std::string(R"(
  @%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [bar], 256;
)") + kWait));
  test.buffer(1);
  const RunResult& result = test.launch(1, 32);
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::deadlock);
  ASSERT_EQ(result.fault->waiting.size(), 1u);
  EXPECT_EQ(
      result.fault->waiting[0].what,
      "the mbarrier object at shared address 0x400, phase 0: 2 of 3 arrivals are missing, and "
      "256 expected bytes");
}

}  // namespace
}  // namespace lw::machine
