#include "program/influence.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "ptx/parser.h"

namespace lw::program {
namespace {

// Places of a module with one kernel: the instruction's index is its OpId.
class OneKernel final : public PlaceSource {
 public:
  uint32_t first_place(ptx::FunctionId) override { return 0; }
};

std::vector<Influence> influences_in(std::string_view body) {
  std::string text = fmt::format(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out) {{\n"
      ".reg .pred p, q;\n.reg .b32 r<8>;\n.reg .b64 rd<8>;\n"
      ".shared .align 8 .b64 bar;\n{}\nret;\n}}\n",
      body);
  diagnose::Emitter emitter;
  std::optional<ptx::Module> module = ptx::parse(text, "test.ptx", emitter);
  for (const auto& diagnostic : emitter.diagnostics()) ADD_FAILURE() << diagnostic.message;
  if (!module) return {};
  OneKernel places;
  return find_influences(*module, flatten(*module, ptx::FunctionId(0), places));
}

std::vector<PollLoop> polls_in(std::string_view body) {
  std::string text = fmt::format(
      ".version 8.0\n.target sm_90\n.address_size 64\n"
      ".visible .entry k(.param .u64 out) {{\n"
      ".reg .pred p;\n.reg .b32 r<8>;\n.reg .b64 rd<8>;\nld.param.u64 rd0, [out];\n{}\nret;\n}}\n",
      body);
  diagnose::Emitter emitter;
  std::optional<ptx::Module> module = ptx::parse(text, "test.ptx", emitter);
  for (const auto& diagnostic : emitter.diagnostics()) ADD_FAILURE() << diagnostic.message;
  if (!module) return {};
  OneKernel places;
  return find_poll_loops(*module, flatten(*module, ptx::FunctionId(0), places));
}

Influence only(std::string_view body) {
  std::vector<Influence> found = influences_in(body);
  EXPECT_EQ(found.size(), 1u);
  return found.empty() ? Influence{} : found[0];
}

TEST(Influence, WaitLoopReachesNothing) {
  Influence wait = only(
      "W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0;\n"
      "@p bra D;\nbra W;\nD:\n");
  EXPECT_EQ(wait.cause, Cause::mbarrier_test);
  EXPECT_EQ(wait.arrival, Arrival::nowhere);
}

TEST(Influence, WaitLoopThroughSelpReachesNothing) {
  Influence wait = only(
      "W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0;\n"
      "selp.u32 r0, 1, 0, p;\nsetp.eq.u32 q, r0, 0;\n@q bra W;\n");
  EXPECT_EQ(wait.arrival, Arrival::nowhere);
}

TEST(Influence, WaitAtTheHeadOfAnOuterLoopReachesNothing) {
  Influence wait = only(
      "mov.u32 r1, 0;\n"
      "W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0;\n@!p bra W;\n"
      "st.shared.u32 [bar+8], r1;\nadd.u32 r1, r1, 1;\nsetp.lt.u32 q, r1, 3;\n@q bra W;\n");
  EXPECT_EQ(wait.arrival, Arrival::nowhere);
}

constexpr std::string_view kBackOff =
    "mov.u64 rd1, %globaltimer;\nmov.u32 r1, 0;\nbra W;\nA: add.u32 r1, r1, 1;\n"
    "W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0;\n@p bra D;\n"
    "setp.lt.u32 q, r1, 16;\n@q bra A;\n"
    "mov.u64 rd2, %globaltimer;\nsub.u64 rd3, rd2, rd1;\nsetp.lt.u64 q, rd3, 40000;\n@q bra W;\n"
    "cvt.u32.u64 r2, rd3;\nnanosleep.u32 r2;\nbra W;\nD:\n";

TEST(Influence, WaitThatBacksOffByTheClockReachesNothing) {
  for (const Influence& one : influences_in(kBackOff)) EXPECT_EQ(one.arrival, Arrival::nowhere);
}

TEST(Influence, StoredTripCountOfAWaitReachesMemory) {
  const auto found = influences_in(fmt::format("{}st.shared.u32 [bar+8], r1;\n", kBackOff));
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].cause, Cause::mbarrier_test);
  EXPECT_EQ(found[1].arrival, Arrival::memory);
}

TEST(Influence, WaitThatBacksOffAndGivesUpReachesControl) {
  const auto found = influences_in(
      "mov.u64 rd1, %globaltimer;\n"
      "W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0;\n@p bra D;\n"
      "mov.u64 rd2, %globaltimer;\nsub.u64 rd3, rd2, rd1;\nsetp.lt.u64 q, rd3, 400;\n@q bra W;\n"
      "setp.lt.u64 q, rd3, 4000;\n@!q bra D;\nnanosleep.u32 20;\nbra W;\nD:\n");
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[1].cause, Cause::mbarrier_test);
  EXPECT_EQ(found[1].arrival, Arrival::control);
}

TEST(Influence, WaitWithTripCountReachesControl) {
  Influence wait = only(
      "mov.u32 r1, 0;\n"
      "W: mbarrier.try_wait.parity.shared.b64 p, [bar], 0;\n"
      "@p bra D;\nadd.u32 r1, r1, 1;\nsetp.lt.u32 q, r1, 100;\n@q bra W;\nD:\n");
  EXPECT_EQ(wait.arrival, Arrival::control);
}

TEST(Influence, TestWhoseAnswerIsDroppedIsAPeek) {
  EXPECT_EQ(only("mbarrier.try_wait.parity.shared.b64 p, [bar], 0;\n").arrival, Arrival::waits);
}

constexpr std::string_view kPeek =
    "mbarrier.test_wait.parity.shared.b64 p, [bar], 0;\nselp.u32 r0, 1, 0, p;\n";
constexpr std::string_view kWait =
    "W: mbarrier.try_wait.parity.shared.b64 q, [bar], 0;\n@!q bra W;\n";

TEST(Influence, TestThatDecidesWhetherToWaitIsAPeek) {
  const auto found = influences_in(
      fmt::format("{}st.shared.u32 [bar+8], 1;\nsetp.eq.u32 q, r0, 1;\n@q bra D;\n{}D:\n"
                  "st.shared.u32 [bar+16], 1;\n",
                  kPeek, kWait));
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].arrival, Arrival::waits);
  EXPECT_EQ(found[1].arrival, Arrival::nowhere);
}

TEST(Influence, PeekThatSkipsWorkReachesControl) {
  const auto found = influences_in(fmt::format(
      "{}setp.eq.u32 q, r0, 1;\n@q bra D;\n{}st.shared.u32 [bar+8], 1;\nD:\n", kPeek, kWait));
  EXPECT_EQ(found[0].arrival, Arrival::control);
}

TEST(Influence, WhatTheWayToAWaitWritesIsFollowed) {
  const auto found = influences_in(
      fmt::format("mov.u32 r2, 0;\n{}setp.eq.u32 q, r0, 1;\n@q bra D;\n{}mov.u32 r2, 8;\nD:\n"
                  "st.shared.u32 [r2], 1;\n",
                  kPeek, kWait));
  EXPECT_EQ(found[0].arrival, Arrival::control);
}

TEST(Influence, TestWithoutLoopReachesControl) {
  EXPECT_EQ(only("mbarrier.test_wait.parity.shared.b64 p, [bar], 0;\n@p bra D;\n"
                 "st.shared.u32 [bar+8], 1;\nD:\n")
                .arrival,
            Arrival::control);
}

TEST(Influence, LoopThatWorksWhileItPollsReachesControl) {
  Influence wait = only(
      "W: st.shared.u32 [bar+8], 1;\n"
      "mbarrier.test_wait.parity.shared.b64 p, [bar], 0;\n@!p bra W;\n");
  EXPECT_EQ(wait.arrival, Arrival::control);
}

TEST(Influence, DelayLoopIsHarmless) {
  std::vector<Influence> clocks = influences_in(
      "mov.u64 rd0, %globaltimer;\n"
      "W: mov.u64 rd1, %globaltimer;\nsub.u64 rd2, rd1, rd0;\n"
      "setp.lt.u64 p, rd2, 20000;\n@p bra W;\n");
  ASSERT_EQ(clocks.size(), 2u);
  EXPECT_EQ(clocks[0].arrival, Arrival::nowhere);
  EXPECT_EQ(clocks[1].arrival, Arrival::nowhere);
}

TEST(Influence, StoredClockReachesMemory) {
  Influence clock =
      only("ld.param.u64 rd0, [out];\nmov.u64 rd1, %clock64;\nst.global.u64 [rd0], rd1;\n");
  EXPECT_EQ(clock.cause, Cause::clock);
  EXPECT_EQ(clock.arrival, Arrival::memory);
  EXPECT_EQ(clock.arrived_at, base::OpId(2));
}

TEST(Influence, ClockInAnAddressReachesControl) {
  Influence clock = only("mov.u32 r0, %smid;\nand.b32 r1, r0, 7;\nst.shared.u32 [r1], 1;\n");
  EXPECT_EQ(clock.cause, Cause::placement);
  EXPECT_EQ(clock.arrival, Arrival::control);
}

TEST(Influence, AtomicResultThatNobodyUsesReachesNothing) {
  Influence atomic = only("ld.param.u64 rd0, [out];\natom.global.add.u32 r0, [rd0], 1;\n");
  EXPECT_EQ(atomic.cause, Cause::strong_read);
  EXPECT_EQ(atomic.arrival, Arrival::nowhere);
}

TEST(Polls, LoopAroundAStrongLoadPolls) {
  const auto polls =
      polls_in("W: ld.acquire.gpu.global.u32 r0, [rd0];\nsetp.ne.u32 p, r0, 1;\n@p bra W;\n");
  ASSERT_EQ(polls.size(), 1u);
  EXPECT_EQ(polls[0].load, 1u);
  EXPECT_EQ(polls[0].back, std::vector<uint32_t>{3});
}

TEST(Polls, LoopWithTheExitInTheMiddlePolls) {
  const auto polls = polls_in(
      "W: ld.volatile.global.u32 r0, [rd0];\nsetp.eq.u32 p, r0, 1;\n@p bra D;\n"
      "nanosleep.u32 20;\nbra W;\nD:\n");
  ASSERT_EQ(polls.size(), 1u);
  EXPECT_EQ(polls[0].back, std::vector<uint32_t>{5});
}

TEST(Polls, LoopThatBacksOffPolls) {
  const auto polls = polls_in(
      ".reg .pred q;\nmov.u32 r1, 0;\nbra W;\nA: add.u32 r1, r1, 1;\n"
      "W: ld.acquire.gpu.global.u32 r0, [rd0];\nsetp.eq.u32 p, r0, 1;\n@p bra D;\n"
      "setp.lt.u32 q, r1, 16;\n@q bra A;\nnanosleep.u32 20;\nbra W;\nD:\n");
  ASSERT_EQ(polls.size(), 1u);
  EXPECT_EQ(polls[0].load, 4u);
  EXPECT_EQ(polls[0].back, (std::vector<uint32_t>{8, 10}));
}

TEST(Polls, LoopThatDoesMoreOrReadsWeaklyDoesNot) {
  EXPECT_TRUE(polls_in("W: ld.global.u32 r0, [rd0];\nsetp.ne.u32 p, r0, 1;\n@p bra W;\n").empty());
  EXPECT_TRUE(polls_in("W: ld.relaxed.gpu.global.u32 r0, [rd0];\nst.global.u32 [rd0+4], r0;\n"
                       "setp.ne.u32 p, r0, 1;\n@p bra W;\n")
                  .empty());
  EXPECT_TRUE(polls_in("ld.relaxed.gpu.global.u32 r0, [rd0];\n").empty());
}

TEST(Influence, RegisterPoolWaitsWhereItStands) {
  Influence pool = only("setmaxnreg.inc.sync.aligned.u32 232;\n");
  EXPECT_EQ(pool.cause, Cause::register_pool);
  EXPECT_EQ(pool.arrival, Arrival::control);
}

TEST(Influence, GoesThroughTheConditionCode) {
  Influence clock = only(
      "mov.u32 r0, %clock;\nadd.cc.u32 r1, r0, 5;\naddc.u32 r2, 0, 0;\n"
      "ld.param.u64 rd0, [out];\nst.global.u32 [rd0], r2;\n");
  EXPECT_EQ(clock.cause, Cause::clock);
  EXPECT_EQ(clock.arrival, Arrival::memory);
}

TEST(Influence, AllocationWaitsWhereItStands) {
  Influence alloc = only(
      "tcgen05.alloc.cta_group::1.sync.aligned.shared::cta.b32 [r0], 128;\n"
      "ld.shared.b32 r1, [r0];\n");
  EXPECT_EQ(alloc.cause, Cause::tensor_columns);
  EXPECT_EQ(alloc.arrival, Arrival::control);
}

}  // namespace
}  // namespace lw::program
