// shfl.sync, vote.sync, match.sync, redux.sync, elect.sync, activemask, bar.warp.sync.

#include <gtest/gtest.h>

#include "machine/semantics/lane_kernel.h"

namespace lw::machine {
namespace {

std::vector<uint32_t> hundreds() {
  std::vector<uint32_t> values;
  for (uint32_t lane = 0; lane < 32; ++lane) values.push_back(100 + lane);
  return values;
}

// %d = the value fetched, plus 1000 where the predicate holds.
std::vector<uint32_t> shuffle(const std::string& operands) {
  LaneKernel kernel("shfl.sync." + operands + "; @%p0 add.u32 %d, %d, 1000;");
  kernel.a = hundreds();
  return kernel.run();
}

TEST(Shfl, Butterfly) {
  auto d = shuffle("bfly.b32 %d|%p0, %a, 5, 31, -1");
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(d[lane], 1100 + (lane ^ 5)) << lane;
}

TEST(Shfl, UpStopsAtTheFirstLane) {
  auto d = shuffle("up.b32 %d|%p0, %a, 3, 0, -1");
  for (uint32_t lane = 0; lane < 3; ++lane) EXPECT_EQ(d[lane], 100 + lane);
  for (uint32_t lane = 3; lane < 32; ++lane) EXPECT_EQ(d[lane], 1100 + lane - 3);
}

TEST(Shfl, DownStopsAtTheLastLane) {
  auto d = shuffle("down.b32 %d|%p0, %a, 2, 31, -1");
  for (uint32_t lane = 0; lane < 30; ++lane) EXPECT_EQ(d[lane], 1100 + lane + 2);
  for (uint32_t lane = 30; lane < 32; ++lane) EXPECT_EQ(d[lane], 100 + lane);
}

TEST(Shfl, IndexInSegmentsOfEight) {
  auto d = shuffle("idx.b32 %d|%p0, %a, 3, 0x181f, -1");
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(d[lane], 1100 + (lane & 24) + 3);
}

TEST(Shfl, DownInSegmentsOfEight) {
  auto d = shuffle("down.b32 %d|%p0, %a, 1, 0x181f, -1");
  for (uint32_t lane = 0; lane < 32; ++lane)
    EXPECT_EQ(d[lane], lane % 8 == 7 ? 100 + lane : 1100 + lane + 1) << lane;
}

TEST(Shfl, LanesMayAskForDifferentOnes) {
  LaneKernel kernel("shfl.sync.idx.b32 %a, %a, %b, 31, -1; mov.b32 %d, %a;");  // into its source
  kernel.a = hundreds();
  for (uint32_t lane = 0; lane < 32; ++lane) kernel.b.push_back(31 - lane);
  auto d = kernel.run();
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(d[lane], 100 + 31 - lane);
}

TEST(Shfl, HalvesWithMasksOfTheirOwn) {
  LaneKernel kernel(R"(
    setp.lt.u32 %p0, %lane, 16;
    selp.b32 %r0, 0xffff, 0xffff0000, %p0;
    shfl.sync.idx.b32 %d, %a, 20, 0x100f, %r0;)");
  kernel.a = hundreds();
  auto d = kernel.run();
  for (uint32_t lane = 0; lane < 32; ++lane) EXPECT_EQ(d[lane], lane < 16 ? 104u : 120u) << lane;
}

TEST(Shfl, LanesThatCameByDifferentWaysMeet) {
  LaneKernel kernel(R"(
    setp.lt.u32 %p0, %lane, 16;
    @%p0 bra low;
    shfl.sync.bfly.b32 %d, %a, 16, 31, -1;
    add.u32 %d, %d, 1000;
    bra done;
  low:
    add.u32 %a, %a, 500;
    shfl.sync.bfly.b32 %d, %a, 16, 31, -1;
  done:)");
  kernel.a = hundreds();
  auto d = kernel.run();
  for (uint32_t lane = 0; lane < 16; ++lane) EXPECT_EQ(d[lane], 100 + lane + 16);
  for (uint32_t lane = 16; lane < 32; ++lane) EXPECT_EQ(d[lane], 1600 + lane - 16);
}

TEST(Shfl, LaneThatTakesNoPartGivesPoison) {
  LaneKernel kernel("shfl.sync.down.b32 %d, %a, 1, 31, -1;");
  kernel.a = hundreds();
  auto d = kernel.run(20);
  EXPECT_EQ(d[18], 119u);
  EXPECT_EQ(d[19], 0xa5a5a5a5u);
}

TEST(Meeting, CallerOutsideItsMaskIsAnError) {
  LaneKernel kernel("shfl.sync.idx.b32 %d, %a, 0, 31, 0x7fffffff;");
  RunResult result = kernel.end();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::wrong_mask);
  EXPECT_EQ(result.fault->lanes, 0x80000000u);
}

TEST(Meeting, NobodyWaitsForLanesThatExit) {
  LaneKernel kernel(R"(
    mov.u32 %d, 7;
    setp.eq.u32 %p0, %lane, 0;
    @%p0 bra gone;
    bar.warp.sync -1;
    vote.sync.ballot.b32 %d, %p0, -1;
    bra done;
  gone:
    exit;
  done:)");
  auto d = kernel.run();
  EXPECT_EQ(d[0], 0u);
  EXPECT_EQ(d[1], 0u);
}

TEST(Meeting, LanesThatNeverComeAreADeadlock) {
  LaneKernel kernel(R"(
    setp.lt.u32 %p0, %lane, 16;
    @%p0 bra low;
    barrier.sync 0;
    bra done;
  low:
    bar.warp.sync -1;
  done:)");
  RunResult result = kernel.end();
  ASSERT_TRUE(result.fault);
  EXPECT_EQ(result.fault->kind, FaultKind::deadlock);
}

TEST(BarWarpSync, BranchesMayHoldOneEach) {
  LaneKernel kernel(R"(
    setp.lt.u32 %p0, %lane, 5;
    @%p0 bra low;
    bar.warp.sync -1;
    add.u32 %d, %lane, 1;
    bra done;
  low:
    bar.warp.sync -1;
    add.u32 %d, %lane, 2;
  done:)");
  auto d = kernel.run();
  EXPECT_EQ(d[4], 6u);
  EXPECT_EQ(d[5], 6u);
}

// %d = the result of `vote` as 0 or 1, where the lanes of `mask` vote yes.
uint32_t vote(const std::string& mode, uint32_t mask) {
  LaneKernel kernel("setp.ne.u32 %p0, %a, 0; vote.sync." + mode +
                    ".pred %p1, %p0, -1; selp.b32 %d, 1, 0, %p1;");
  for (int lane = 0; lane < 32; ++lane) kernel.a.push_back(mask >> lane & 1);
  return kernel.run()[7];
}

TEST(Vote, AllAnyUni) {
  EXPECT_EQ(vote("all", 0xffffffff), 1u);
  EXPECT_EQ(vote("all", 0xfffffffe), 0u);
  EXPECT_EQ(vote("any", 0x10), 1u);
  EXPECT_EQ(vote("any", 0), 0u);
  EXPECT_EQ(vote("uni", 0), 1u);
  EXPECT_EQ(vote("uni", 0xffffffff), 1u);
  EXPECT_EQ(vote("uni", 2), 0u);
}

TEST(Vote, BallotOfNegatedPredicateInAMask) {
  LaneKernel kernel(R"(
    setp.lt.u32 %p0, %lane, 8;
    setp.eq.u32 %p1, %a, 1;
    @%p0 vote.sync.ballot.b32 %d, !%p1, 0xff;)");
  kernel.a = {1, 0, 1, 0, 0, 0, 0, 1};
  auto d = kernel.run();
  EXPECT_EQ(d[3], 0x7au);
  EXPECT_EQ(d[8], 0u);
}

TEST(Elect, TheLowestLaneOfTheMask) {
  LaneKernel kernel(R"(
    setp.gt.u32 %p0, %lane, 3;
    @!%p0 bra done;
    elect.sync %d|%p1, 0xfffffff0;
    @%p1 add.u32 %d, %d, 100;
  done:)");
  auto d = kernel.run();
  EXPECT_EQ(d[4], 104u);
  EXPECT_EQ(d[5], 4u);
  EXPECT_EQ(d[3], 0u);
}

TEST(Elect, NumberMayBeThrownAway) {
  LaneKernel kernel("elect.sync _|%p1, -1; selp.b32 %d, 1, 0, %p1;");
  auto d = kernel.run();
  EXPECT_EQ(d[0], 1u);
  EXPECT_EQ(d[1], 0u);
}

TEST(Activemask, OfThoseThatRunAndIsRemembered) {
  LaneKernel kernel("setp.lt.u32 %p0, %lane, 4; @%p0 activemask.b32 %d;");
  auto d = kernel.run();
  EXPECT_EQ(d[2], 0xfu);
  EXPECT_EQ(kernel.result.schedule_values.size(), 1u);
}

TEST(Match, AnyGivesThoseWithTheSameValue) {
  LaneKernel kernel("match.any.sync.b32 %d, %a, -1;");
  for (uint32_t lane = 0; lane < 32; ++lane) kernel.a.push_back(lane % 3);
  auto d = kernel.run();
  EXPECT_EQ(d[0], 0x49249249u);
  EXPECT_EQ(d[1], 0x92492492u);
  EXPECT_EQ(d[5], 0x24924924u);
}

TEST(Match, AnyOfWideValues) {
  LaneKernel kernel("match.any.sync.b64 %d, %wa, -1;");
  for (uint64_t lane = 0; lane < 32; ++lane) kernel.wa.push_back((lane & 1) << 40);
  EXPECT_EQ(kernel.run()[1], 0xaaaaaaaau);
}

TEST(Match, All) {
  LaneKernel kernel("match.all.sync.b32 %d|%p0, %a, -1; @!%p0 mov.b32 %d, 5;");
  kernel.a.assign(32, 9);
  EXPECT_EQ(kernel.run()[3], 0xffffffffu);
  kernel.a[17] = 8;
  EXPECT_EQ(kernel.run()[3], 5u);
  LaneKernel plain("match.all.sync.b64 %d, %wa, -1;");
  EXPECT_EQ(plain.run()[9], 0xffffffffu);
  plain.wa = {1};
  EXPECT_EQ(plain.run()[9], 0u);
}

uint32_t redux(const std::string& form) {
  LaneKernel kernel("redux.sync." + form + " %d, %a, -1;");
  for (uint32_t lane = 0; lane < 32; ++lane) kernel.a.push_back(lane * 3 - 30);  // -30 ... 63
  return kernel.run()[11];
}

TEST(Redux, Integers) {
  EXPECT_EQ(redux("add.s32"), 528u);
  EXPECT_EQ(redux("add.u32"), 528u);
  EXPECT_EQ(redux("min.s32"), static_cast<uint32_t>(-30));
  EXPECT_EQ(redux("max.s32"), 63u);
  EXPECT_EQ(redux("min.u32"), 0u);
  EXPECT_EQ(redux("max.u32"), static_cast<uint32_t>(-3));
  EXPECT_EQ(redux("and.b32"), 0u);
  EXPECT_EQ(redux("or.b32"), 0xffffffffu);
}

TEST(Redux, Xor) {
  LaneKernel kernel("redux.sync.xor.b32 %d, %a, -1;");
  kernel.a = {1, 2, 4, 1};
  EXPECT_EQ(kernel.run()[31], 6u);
}

uint32_t redux_f32(const std::string& form, std::vector<uint32_t> values) {
  LaneKernel kernel("redux.sync." + form + " %d, %a, -1;", "sm_100a");
  kernel.a = std::move(values);
  kernel.a.resize(32, bits(1.5f));
  return kernel.run()[11];
}

TEST(Redux, Floats) {
  const uint32_t nan = 0x7fc00001;
  EXPECT_EQ(redux_f32("min.f32", {bits(-2.0f), bits(3.0f)}), bits(-2.0f));
  EXPECT_EQ(redux_f32("max.abs.f32", {bits(-2.0f), bits(1.0f)}), bits(2.0f));
  EXPECT_EQ(redux_f32("max.f32", {nan, bits(3.0f)}), bits(3.0f));
  EXPECT_EQ(redux_f32("max.NaN.f32", {nan, bits(3.0f)}), 0x7fffffffu);
}

}  // namespace
}  // namespace lw::machine
