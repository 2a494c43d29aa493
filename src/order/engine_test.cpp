// One small program per rule, told to the engine by hand. The fuzzer in tests/reference_order
// covers the combinations; these say what is meant.

#include "order/program_fixture.h"

namespace lw::order {
namespace {

TEST_F(Program, ABarrierOrdersAWriteBeforeARead) {
  write(0, 0);
  sync({0, 1});
  read(1, 0);
  EXPECT_TRUE(races().empty());
}

TEST_F(Program, WithoutItTheyRace) {
  write(0, 0);
  read(1, 0);
  expect_race(RuleId::kB1);
  EXPECT_EQ(races()[0].bytes.count(), 128u);
  EXPECT_EQ(races()[0].first.earlier.op, kWrite);
  EXPECT_EQ(races()[0].first.later.warp, WarpId{1});
}

TEST_F(Program, AReadBeforeTheBarrierIsOrderedBeforeALaterWrite) {
  write(0, 0);
  sync({0, 1});
  read(1, 0);
  sync({0, 1});
  write(0, 0);
  EXPECT_TRUE(races().empty());
}

TEST_F(Program, AReadAfterTheBarrierIsNot) {
  write(0, 0);
  sync({0, 1});
  read(1, 0);
  write(0, 0);
  expect_race(RuleId::kB1);
}

TEST_F(Program, AnArriverLearnsNothing) {
  write(1, 0);
  arrive(0, BarrierKind::kArrive);
  arrive(1);
  engine.barrier_complete(kCta, BarrierId{1});
  read(0, 0);
  expect_race(RuleId::kB1);
}

TEST_F(Program, LanesOfOneWarpNeedASync) {
  write(0, 0);
  read(0, 4);
  expect_race(RuleId::kW1);
}

TEST_F(Program, WarpSyncOrdersThem) {
  write(0, 0);
  engine.warp_sync(warp(0), kSync, kAllLanes);
  read(0, 4, kAllLanes >> 1);
  EXPECT_TRUE(races().empty());
}

TEST_F(Program, ACollectiveDoesNot) {
  write(0, 0);
  engine.warp_meet(warp(0), kAllLanes);
  read(0, 4, kAllLanes >> 1);
  expect_race(RuleId::kW2);
}

TEST_F(Program, OwnBytesNeedNothing) {
  write(0, 0);
  read(0, 0);
  write(0, 0);
  EXPECT_TRUE(races().empty());
}

TEST_F(Program, ReadsOfBytesNobodyWroteAreCounted) {
  write(0, 0, 0xffff);
  read(0, 0);
  const Facts& facts = engine.finish();
  ASSERT_EQ(facts.unwritten.size(), 1u);
  EXPECT_EQ(facts.unwritten[0].count, 64u);
  EXPECT_EQ(facts.unwritten[0].address, 64u);
}

TEST_F(Program, AnElectedArrivalDoesNotReleaseTheOtherLanes) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  sync({0, 1});
  read(0, 0);
  engine.mbarrier_arrive(warp(0), kSync, 1, kObject, Strength::kRelease, Scope::kCta);
  engine.mbarrier_complete(kObject);
  engine.mbarrier_wait(warp(1), kSync, kAllLanes, kObject, Strength::kAcquire, Scope::kCta);
  write(1, 0);
  expect_race(RuleId::kB1);
  EXPECT_EQ(races()[0].bytes.count(), 124u);
}

TEST_F(Program, AMatrixReadIsReceivedByTheWholeWarp) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  sync({0, 1});
  uint32_t rows[kWarpSize] = {};
  for (uint32_t lane = 0; lane < 8; ++lane) rows[lane] = lane * 16;
  engine.matrix_rows(warp(0), kRead, kAllLanes, 0xff, rows, 16, Kind::kRead);
  engine.mbarrier_arrive(warp(0), kSync, 1u << 20, kObject, Strength::kRelease, Scope::kCta);
  engine.mbarrier_complete(kObject);
  engine.mbarrier_wait(warp(1), kSync, kAllLanes, kObject, Strength::kAcquire, Scope::kCta);
  write(1, 0);
  EXPECT_TRUE(races().empty());
}

TEST_F(Program, ARelaxedWaitOrdersNoMemory) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  sync({0, 1});
  write(0, 0);
  engine.mbarrier_arrive(warp(0), kSync, kAllLanes, kObject, Strength::kRelease, Scope::kCta);
  engine.mbarrier_complete(kObject);
  engine.mbarrier_wait(warp(1), kSync, kAllLanes, kObject, Strength::kRelaxed, Scope::kCta);
  read(1, 0);
  expect_race(RuleId::kMB11);
}

TEST_F(Program, AnObjectIsUsedAfterItsInitIsKnown) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  engine.mbarrier_arrive(warp(1), kSync, 1, kObject, Strength::kRelease, Scope::kCta);
  expect_race(RuleId::kMB1);
}

TEST_F(Program, AnOrdinaryAccessToALiveObjectIsAnError) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  sync({0, 1});
  write(1, kObject.offset);
  ASSERT_EQ(engine.finish().errors.size(), 1u);
  EXPECT_EQ(engine.finish().errors[0].rule, RuleId::kMB33);
}

TEST_F(Program, AnArrivalThatMayComeEarlyIsNotForced) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  sync({0, 1});
  for (uint16_t index : {0, 1}) {
    engine.mbarrier_arrive(warp(index), kSync, 1, kObject, Strength::kRelease, Scope::kCta);
    engine.mbarrier_complete(kObject);
  }
  ASSERT_EQ(engine.finish().unforced.size(), 1u);
  EXPECT_EQ(engine.finish().unforced[0].rule, RuleId::kD2);
}

// Lane 0 has waited; what it knows goes on through meetings of a few lanes, the second of which has
// none that did anything itself.
class MeetingInTurn : public Program {
 protected:
  size_t unforced(bool first_meeting_is_a_sync) {
    engine.mbarrier_init(warp(1), kSync, 1, kObject);
    engine.mbarrier_arrive(warp(1), kSync, kAllLanes, kObject, Strength::kRelease, Scope::kCta);
    engine.mbarrier_complete(kObject);
    engine.mbarrier_wait(warp(0), kSync, 1, kObject, Strength::kAcquire, Scope::kCta);
    if (first_meeting_is_a_sync) {
      engine.warp_sync(warp(0), kSync, 0b11);
    } else {
      engine.warp_meet(warp(0), 0b11);
    }
    engine.warp_meet(warp(0), 0b110);
    engine.mbarrier_arrive(warp(0), kSync, last, kObject, Strength::kRelease, Scope::kCta);
    return engine.finish().unforced.size();
  }
  LaneMask last = 0b100;
};

TEST_F(MeetingInTurn, PassesControlOn) { EXPECT_EQ(unforced(false), 0u); }

TEST_F(MeetingInTurn, PassesOnWhatASyncGave) { EXPECT_EQ(unforced(true), 0u); }

TEST_F(MeetingInTurn, TellsNobodyElse) {
  last = 0b1000;
  EXPECT_EQ(unforced(false), 1u);
}

TEST_F(Program, AWaiterThatNobodyWaitsForMayBeLapped) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  sync({0, 1});
  engine.mbarrier_wait(warp(1), kSync, kAllLanes, kObject, Strength::kAcquire, Scope::kCta);
  engine.mbarrier_arrive(warp(0), kSync, 1, kObject, Strength::kRelease, Scope::kCta);
  engine.mbarrier_complete(kObject);
  ASSERT_EQ(engine.finish().unforced.size(), 1u);
  EXPECT_EQ(engine.finish().unforced[0].rule, RuleId::kD3);
}

TEST_F(Program, ABarrierRunTwiceByOneOfTwoIsNotForced) {
  for (int generation = 0; generation < 2; ++generation) {
    arrive(0, BarrierKind::kArrive);
    arrive(1);
    engine.barrier_complete(kCta, BarrierId{1});
  }
  ASSERT_EQ(engine.finish().unforced.size(), 1u);
  EXPECT_EQ(engine.finish().unforced[0].rule, RuleId::kD4);
}

TEST_F(Program, ACopyIsUnorderedUntilItsLaneWaits) {
  engine.cp_async(warp(0), kWrite, kAllLanes, Addresses::contiguous(0), 16,
                  Addresses::contiguous(0x1000), 16);
  engine.cp_async_commit(warp(0), kAllLanes);
  read(0, 0, 1);
  expect_race(RuleId::kCA2);
}

TEST_F(Program, AGroupThatWasWaitedForIsDone) {
  engine.cp_async(warp(0), kWrite, kAllLanes, Addresses::contiguous(0), 4,
                  Addresses::contiguous(0x1000), 4);
  engine.cp_async_commit(warp(0), kAllLanes);
  engine.cp_async_commit(warp(0), kAllLanes);
  engine.cp_async_wait(warp(0), kAllLanes, 1);
  read(0, 0);
  sync({0, 1});
  read(1, 0);
  EXPECT_TRUE(races().empty());
}

TEST_F(Program, AnArrivalAfterTheEndOfItsObjectMakesNoNewOne) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  const AsyncId arrival = engine.cp_async_arrive(warp(0), kSync, 1, kObject);
  engine.mbarrier_inval(warp(0), kSync, 1, kObject);
  engine.async_arrive(arrival);
  engine.mbarrier_expect(warp(0), kSync, 1, kObject);
  ASSERT_EQ(engine.finish().errors.size(), 1u);
  EXPECT_EQ(engine.finish().errors[0].rule, RuleId::kE1);
}

// A wait is a use of the object that the end of its life must follow, also inside one warp.
TEST_F(Program, AMeetingOfSomeLanesSaysNothingOfTheWaitsOfOthers) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  engine.warp_sync(warp(0), kSync, kAllLanes);
  engine.mbarrier_wait(warp(0), kSync, kAllLanes, kObject, Strength::kAcquire, Scope::kCta);
  engine.warp_sync(warp(0), kSync, 0xffff);
  engine.mbarrier_inval(warp(0), kSync, 1, kObject);
  expect_race(RuleId::kMB4);
}

TEST_F(Program, AMeetingOfAllWaitersLetsOneEndTheObject) {
  engine.mbarrier_init(warp(0), kSync, 1, kObject);
  engine.warp_sync(warp(0), kSync, kAllLanes);
  engine.mbarrier_wait(warp(0), kSync, kAllLanes, kObject, Strength::kAcquire, Scope::kCta);
  engine.warp_sync(warp(0), kSync, kAllLanes);
  engine.mbarrier_inval(warp(0), kSync, 1, kObject);
  EXPECT_TRUE(races().empty());
}

class Watched : public Program {
 protected:
  Watched() : Program(watching()) {}
  static Options watching() {
    Options options;
    options.watches.push_back({Space::kShared, kCta, 0, 128});
    return options;
  }
};

TEST_F(Watched, TheStoryNamesTheBarrierThatBothFollow) {
  write(0, 0);
  sync({0, 1});
  read(1, 0);
  engine.barrier_arrive(warp(1), kSync, BarrierId{2}, BarrierKind::kArrive, kAllLanes);
  write(0, 0);
  const Facts& facts = engine.finish();
  ASSERT_EQ(facts.stories.size(), 1u);
  const Story& story = facts.stories[0];
  EXPECT_EQ(story.common.kind, Common::Kind::kNamedBarrier);
  EXPECT_EQ(story.common.object, 1u);
  EXPECT_EQ(story.common.generation, 1u);
  ASSERT_EQ(story.released.size(), 1u);
  EXPECT_EQ(story.released[0].object, 2u);
  EXPECT_TRUE(story.acquired.empty());
}

TEST(Grids, AnEarlierGridIsOverUnlessItRunsBeside) {
  for (const bool ordered : {true, false}) {
    Engine engine({});
    engine.declare_buffer(0x1000, 4096);
    const GridId before[] = {GridId{0}};
    engine.begin_grid(GridId{0}, {});
    engine.begin_cta(kCta, GridId{0}, 32, 0);
    engine.write_contiguous(engine.warp(kCta, WarpId{0}), kWrite, kAllLanes, Space::kGlobal, 0x1000,
                            4);
    engine.end_cta(kCta);
    engine.begin_grid(GridId{1}, std::span(before, ordered ? 1 : 0));
    engine.begin_cta(CtaId{1}, GridId{1}, 32, 0);
    engine.read_contiguous(engine.warp(CtaId{1}, WarpId{0}), kRead, kAllLanes, Space::kGlobal,
                           0x1000, 4);
    EXPECT_EQ(engine.finish().races.empty(), ordered);
  }
}

}  // namespace
}  // namespace lw::order
