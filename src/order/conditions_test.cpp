// How far a finding reaches: from which access on another matching may change things, what a race
// may have led to, whether the state of a barrier is the same in all schedules.

#include <gtest/gtest.h>

#include "order/engine.h"

namespace lw::order {
namespace {

constexpr CtaId kCta{0};
constexpr OpId kWrite{1};
constexpr OpId kRead{2};
constexpr OpId kSync{3};
constexpr OpId kSecond{4};
constexpr Mbarrier kObject{kCta, 4096};
constexpr BarrierId kMeet{1};
constexpr BarrierId kAhead{2};

class Conditions : public ::testing::Test {
 protected:
  Conditions() : engine({}, nullptr) {
    engine.begin_grid(GridId{0}, {});
    engine.begin_cta(kCta, GridId{0}, 128, 8192);
    engine.mbarrier_init(warp(0), kSync, 1, kObject);
    sync({0, 1, 2, 3});
  }
  Warp& warp(uint16_t index) { return engine.warp(kCta, WarpId{index}); }
  void write(uint16_t index, uint64_t base, OpId op = kWrite) {
    engine.write_contiguous(warp(index), op, kAllLanes, Space::kShared, base, 4);
  }
  void read(uint16_t index, uint64_t base, OpId op = kRead) {
    engine.read_contiguous(warp(index), op, kAllLanes, Space::kShared, base, 4);
  }
  void sync(std::initializer_list<uint16_t> warps) {
    for (uint16_t index : warps)
      engine.barrier_arrive(warp(index), kSync, kMeet, BarrierKind::kSync, kAllLanes);
    engine.barrier_complete(kCta, kMeet);
  }
  // Warp 0 arrives twice where warp 1 syncs twice: the second arrival may come too early.
  void run_ahead() {
    for (int generation = 0; generation < 2; ++generation) {
      engine.barrier_arrive(warp(0), kSync, kAhead, BarrierKind::kArrive, kAllLanes);
      engine.barrier_arrive(warp(1), kSync, kAhead, BarrierKind::kSync, kAllLanes);
      engine.barrier_complete(kCta, kAhead);
    }
  }
  void complete_phase(uint16_t index) {
    engine.mbarrier_arrive(warp(index), kSync, 1, kObject, Strength::kRelease, Scope::kCta);
    engine.mbarrier_complete(kObject);
  }
  void wait(uint16_t index) {
    engine.mbarrier_wait(warp(index), kSync, kAllLanes, kObject, Strength::kAcquire, Scope::kCta);
  }
  std::vector<RuleId> unforced() {
    std::vector<RuleId> rules;
    for (const Unforced& fact : engine.finish().unforced) rules.push_back(fact.rule);
    return rules;
  }

  Engine engine;
};

TEST_F(Conditions, ARaceBeforeAnOpenMatchIsThereInAllSchedules) {
  write(2, 0);
  read(3, 0);
  run_ahead();
  ASSERT_EQ(unforced(), std::vector{RuleId::kD4});
  EXPECT_FALSE(engine.finish().races[0].first.after_unforced);
}

TEST_F(Conditions, ARaceThatEndsBeforeTheMatchIsSeenToBeOpenMayHangOnIt) {
  engine.barrier_arrive(warp(0), kSync, kAhead, BarrierKind::kArrive, kAllLanes);
  engine.barrier_arrive(warp(1), kSync, kAhead, BarrierKind::kSync, kAllLanes);
  engine.barrier_complete(kCta, kAhead);
  write(2, 0);
  read(3, 0);
  engine.barrier_arrive(warp(0), kSync, kAhead, BarrierKind::kArrive, kAllLanes);
  ASSERT_EQ(unforced(), std::vector{RuleId::kD4});
  EXPECT_TRUE(engine.finish().races[0].first.after_unforced);
}

TEST_F(Conditions, AWaitThatIsLappedLaterPutsWhatFollowsItInDoubt) {
  complete_phase(0);
  wait(1);
  write(1, 0);
  read(2, 0);
  complete_phase(0);
  EXPECT_EQ(unforced(), std::vector{RuleId::kD3});
  EXPECT_TRUE(engine.finish().races[0].first.after_unforced);
}

TEST_F(Conditions, AQuickWaiterMayGetThePhaseOfTwoPhasesAgo) {
  for (int phase = 0; phase < 2; ++phase) {
    complete_phase(0);
    wait(0);
  }
  wait(1);
  EXPECT_EQ(unforced(), std::vector{RuleId::kD3});
}

TEST_F(Conditions, AWaiterThatKnowsThePhaseBeforeIsNotQuick) {
  complete_phase(0);
  wait(0);
  sync({0, 1});
  complete_phase(0);
  wait(1);
  EXPECT_TRUE(unforced().empty());
}

TEST_F(Conditions, ABlockedWaiterMayHaveBeenInTimeForThePhaseBefore) {
  complete_phase(0);
  engine.mbarrier_blocked(warp(1), kSync, kAllLanes, kObject);
  EXPECT_EQ(unforced(), std::vector{RuleId::kD3});
}

TEST_F(Conditions, ACopyThatLandsInALaterPhaseMayLandInItsOwn) {
  const AsyncAccess to{Space::kShared, Kind::kWrite, kCta, {}, 4, Scope::kGpu};
  const AsyncId copy = engine.bulk_load(warp(0), kWrite, LaneId{0}, kObject, {&to, 1});
  complete_phase(0);
  wait(0);
  engine.bulk_complete(copy);
  EXPECT_EQ(unforced(), std::vector{RuleId::kD2});
}

TEST_F(Conditions, ARaceBehindAReadThatRacedMayHangOnItsValue) {
  write(0, 0);
  read(1, 0);
  write(2, 1024);
  read(3, 1024, kSecond);  // two others
  write(1, 2048, kSecond);
  read(2, 2048, kSecond);  // the reader goes on
  const auto& races = engine.finish().races;
  ASSERT_EQ(races.size(), 3u);
  EXPECT_FALSE(races[0].first.after_race);
  EXPECT_FALSE(races[1].first.after_race);
  EXPECT_TRUE(races[2].first.after_race);
}

TEST_F(Conditions, WhatFollowsTheWriterOfARaceDoesNotHangOnIt) {
  write(0, 0);
  read(1, 0);
  write(0, 1024, kSecond);
  read(2, 1024, kSecond);
  EXPECT_FALSE(engine.finish().races[1].first.after_race);
}

TEST_F(Conditions, TheStateOfAnObjectIsSettledForWhoKnowsAllItsUses) {
  const auto unknown = [&](Engine::Asks asks = Engine::Asks::state) {
    return engine.unsettled(warp(1), kSync, 1, {kObject.offset, 8}, asks);
  };
  EXPECT_TRUE(unknown().empty());
  engine.mbarrier_arrive(warp(0), kSecond, 1, kObject, Strength::kRelease, Scope::kCta);
  ASSERT_EQ(unknown().size(), 1u);
  EXPECT_EQ(unknown()[0].first.op, kSecond);
  EXPECT_TRUE(unknown(Engine::Asks::life).empty());
  sync({0, 1});
  EXPECT_TRUE(unknown().empty());
}

TEST_F(Conditions, TheStateOfANamedBarrierIsSettledForWhoKnowsAllArrivals) {
  EXPECT_TRUE(engine.unsettled(warp(1), kSync, kAllLanes, kMeet).empty());
  engine.barrier_arrive(warp(0), kSecond, kAhead, BarrierKind::kArrive, kAllLanes);
  EXPECT_EQ(engine.unsettled(warp(1), kSync, kAllLanes, kAhead).size(), 1u);
  sync({0, 1});
  EXPECT_TRUE(engine.unsettled(warp(1), kSync, kAllLanes, kAhead).empty());
}

TEST_F(Conditions, AStoreOverAnObjectIsAnErrorWhateverTheOrderOnlyBehindTheInit) {
  write(1, kObject.offset);
  engine.mbarrier_init(warp(2), kSync, 1, {kCta, 6144});
  engine.write_contiguous(warp(3), kSecond, 1, Space::kShared, 6144, 4);
  const auto& errors = engine.finish().errors;
  ASSERT_EQ(errors.size(), 2u);
  EXPECT_TRUE(errors[0].in_all_schedules);
  EXPECT_FALSE(errors[1].in_all_schedules);
}

}  // namespace
}  // namespace lw::order
