// Branches, guards, calls, exits, and lanes that go different ways.

#include <gtest/gtest.h>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

// A kernel whose thread t stores the register %result to out[t]; `body` computes it from %t.
std::string with_result(const std::string& body, const std::string& functions = "") {
  return functions + R"(
.visible .entry k(.param .u64 out) {
  .reg .pred %p<9>;
  .reg .b32 %r<30>;
  .reg .b32 %t, %result;
  .reg .b64 %rd<9>;
  mov.u32 %t, %tid.x;
  mov.u32 %result, 0;
)" + body +
         R"(
  ld.param.u64 %rd1, [out];
  mul.wide.u32 %rd2, %t, 4;
  add.u64 %rd1, %rd1, %rd2;
  st.global.u32 [%rd1], %result;
  ret;
})";
}

std::vector<uint32_t> results(const std::string& body, uint32_t threads = 64,
                              const std::string& functions = "") {
  TestKernel test(with_result(body, functions));
  test.buffer(threads);
  return test.run(1, threads).words(0);
}

TEST(Control, BothSidesOfABranchRun) {
  auto out = results(R"(
  and.b32 %r1, %t, 1;
  setp.eq.u32 %p1, %r1, 0;
  @%p1 bra EVEN;
  add.u32 %result, %t, 100;
  bra JOIN;
EVEN:
  add.u32 %result, %t, 200;
JOIN:
  add.u32 %result, %result, 1000;
)");
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t + (t % 2 ? 1100 : 1200));
}

TEST(Control, LanesLeaveALoopOneByOne) {
  auto out = results(R"(
  mov.u32 %r1, 0;
LOOP:
  add.u32 %result, %result, %r1;
  add.u32 %r1, %r1, 1;
  setp.le.u32 %p1, %r1, %t;
  @%p1 bra LOOP;
)");
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t * (t + 1) / 2);
}

TEST(Control, GuardsKeepTheOldValue) {
  auto out = results(R"(
  mov.u32 %result, 7;
  setp.lt.u32 %p1, %t, 10;
  @%p1 mov.u32 %result, 1;
  @!%p1 add.u32 %result, %result, 1;
)");
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 10 ? 1u : 8u);
}

TEST(Control, ExitedLanesAreNotWaitedFor) {
  TestKernel test(with_result(R"(
  setp.lt.u32 %p1, %t, 20;
  @%p1 exit;
  bar.sync 0;
  mov.u32 %result, 5;
)"));
  test.buffer(32);
  auto out = test.run(1, 32).words(0);
  for (uint32_t t = 0; t < 32; ++t) EXPECT_EQ(out[t], t < 20 ? 0u : 5u);
}

TEST(Control, CallsAreFollowed) {
  std::string functions = R"(
.func (.param .b32 r) twice(.param .b32 a) {
  .reg .b32 %x, %y;
  ld.param.u32 %x, [a];
  add.u32 %y, %x, %x;
  st.param.b32 [r], %y;
  ret;
}
.func (.param .b32 r) pick(.param .b32 a, .param .b32 b) {
  .reg .b32 %x, %y;
  .reg .pred %q;
  ld.param.u32 %x, [a];
  ld.param.u32 %y, [b];
  setp.lt.u32 %q, %x, %y;
  @%q bra SMALL;
  st.param.b32 [r], %y;
  ret;
SMALL:
  st.param.b32 [r], %x;
  ret;
})";
  auto out = results(R"(
  { .param .b32 p0; .param .b32 q0;
    st.param.b32 [p0], %t;
    call.uni (q0), twice, (p0);
    ld.param.b32 %r1, [q0]; }
  { .param .b32 p0; .param .b32 p1; .param .b32 q0;
    st.param.b32 [p0], %r1;
    st.param.b32 [p1], 40;
    call.uni (q0), pick, (p0, p1);
    ld.param.b32 %result, [q0]; }
)",
                     64, functions);
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], std::min(2 * t, 40u));
}

const std::string kThreeFunctions = R"(
.func (.param .b32 r) once(.param .b32 a) {
  .reg .b32 %x;
  ld.param.u32 %x, [a];
  add.u32 %x, %x, 1;
  st.param.b32 [r], %x;
  ret;
}
.func (.param .b32 r) squared(.param .b32 a) {
  .reg .b32 %x;
  .reg .pred %q;
  ld.param.u32 %x, [a];
  setp.gt.u32 %q, %x, 50;
  @%q bra LARGE;
  mul.lo.u32 %x, %x, %x;
LARGE:
  st.param.b32 [r], %x;
  ret;
}
.func (.param .b32 r) unlike(.param .b64 a) {
  st.param.b32 [r], 7;
  ret;
}
.global .u64 table[2] = { once, squared };
)";

// Calls what %rd3 points at with %t; all functions that take a word are candidates.
std::string call_pointer(const std::string& guard, const std::string& list = "") {
  return "{ .param .b32 p0; .param .b32 q0;\nst.param.b32 [p0], %t;\n"
         "proto: .callprototype (.param .b32 _) _ (.param .b32 _);\n" +
         list + guard + "call (q0), %rd3, (p0), " + (list.empty() ? "proto" : "names") + ";\n" +
         guard + "ld.param.b32 %result, [q0]; }\n";
}

TEST(Control, CallsThroughPointersGoWhereTheyPoint) {
  const std::string chosen = R"(
  and.b32 %r1, %t, 1;
  mul.wide.u32 %rd4, %r1, 8;
  mov.u64 %rd3, table;
  add.u64 %rd3, %rd3, %rd4;
  ld.global.u64 %rd3, [%rd3];
)";
  const auto expected = [](uint32_t t) { return t % 2 == 0 ? t + 1 : t > 50 ? t : t * t; };
  auto out = results(chosen + call_pointer(""), 64, kThreeFunctions);
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], expected(t)) << t;
  out = results(chosen + call_pointer("", "names: .calltargets once, squared;\n"), 64,
                kThreeFunctions);
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], expected(t)) << t;
  // Only some lanes call.
  out = results("mov.u32 %result, 5;\nsetp.lt.u32 %p1, %t, 10;\n" + chosen + call_pointer("@%p1 "),
                64, kThreeFunctions);
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], t < 10 ? expected(t) : 5) << t;
}

TEST(Control, APointerToSomethingElseIsNotAnalysed) {
  for (const char* pointer : {"mov.u64 %rd3, unlike;\n", "mov.u64 %rd3, 0;\n"}) {
    TestKernel test(with_result(pointer + call_pointer(""), kThreeFunctions));
    test.buffer(32);
    test.launch(1, 32);
    EXPECT_FALSE(test.result().finished);
  }
}

TEST(Control, ARecursionWithoutEndIsNotAnalysed) {
  TestKernel test(with_result("{ .param .b32 p; st.param.b32 [p], %t; call.uni f, (p); }", R"(
.func f(.param .b32 a) {
  .param .b32 b;
  call.uni f, (a);
  ret;
})"));
  test.buffer(32);
  test.launch(1, 32);
  ASSERT_TRUE(test.result().not_analysed.has_value());
  EXPECT_EQ(test.result().not_analysed->reason, "the stack of a thread is full, at 16 KiB");
}

TEST(Control, ManyTargets) {
  auto out = results(R"(
  and.b32 %r1, %t, 3;
  TABLE: .branchtargets A, B, C, A;
  brx.idx %r1, TABLE;
A: mov.u32 %result, 1; bra END;
B: mov.u32 %result, 2; bra END;
C: mov.u32 %result, 3;
END:
)");
  uint32_t expected[] = {1, 2, 3, 1};
  for (uint32_t t = 0; t < 64; ++t) EXPECT_EQ(out[t], expected[t % 4]);
}

TEST(Control, ALaneMaySpinOnAnotherLaneOfItsWarp) {
  TestKernel test(with_result(R"(
  ld.param.u64 %rd3, [out];
  setp.eq.u32 %p1, %t, 0;
  @%p1 bra WAIT;
  setp.eq.u32 %p2, %t, 31;
  @%p2 st.relaxed.gpu.global.u32 [%rd3+256], 1;
  bra DONE;
WAIT:
  ld.relaxed.gpu.global.u32 %r1, [%rd3+256];
  setp.eq.u32 %p3, %r1, 0;
  @%p3 bra WAIT;
DONE:
  mov.u32 %result, 9;
)"));
  test.buffer(65);
  EXPECT_EQ(test.run(1, 32).words(0)[0], 9u);
}

TEST(Control, ADivergentAlignedBarrierIsAFault) {
  TestKernel test(with_result(R"(
  setp.gt.u32 %p1, %t, 3;
  @%p1 bra AROUND;
  bar.sync 0;
AROUND:
)"));
  test.buffer(32);
  test.launch(1, 32);
  ASSERT_TRUE(test.result().fault.has_value());
  EXPECT_EQ(test.result().fault->kind, FaultKind::divergent_aligned);
  EXPECT_EQ(test.result().fault->lanes, 0xfu);
}

TEST(Control, AnUnmodelledFormIsHarmlessUntilReached) {
  const char* text = R"(
  setp.eq.u32 %p1, %t, 1000;
  @%p1 bra NEVER;
  bra END;
NEVER:
  suld.b.1d.b32.trap {%r1}, [s, {%r2}];
END:
)";
  auto out = results(text, 32, ".global .surfref s;\n");
  EXPECT_EQ(out[0], 0u);
}

TEST(Control, RunsAHundredMillionInstructions) {
  auto out = results(R"(
  mov.u32 %r1, 0;
LOOP:
  add.u32 %r1, %r1, 1;
  xor.b32 %result, %result, %r1;
  setp.ne.u32 %p1, %r1, 25000000;
  @%p1 bra LOOP;
)",
                     32);
  uint32_t expected = 0;
  for (uint32_t i = 1; i <= 25000000; ++i) expected ^= i;
  EXPECT_EQ(out[0], expected);
}

}  // namespace
}  // namespace lw::machine
