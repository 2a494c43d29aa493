// One small program per rule on what ends tensor work: waits, commits, fences.

#include "order/tensor_program.h"

namespace lw::order {
namespace {

// wait (T5-11 to T5-13).

TEST_F(TensorProgram, AnMmaOverwritesWhatIsStillLoaded) {
  set_up();
  mma(4);
  complete_commit(4);
  wait(1);
  load(1);
  arrive(1);
  wait(4);
  mma(4);
  expect_race(RuleId::kT5_12);
}

TEST_F(TensorProgram, WaitAndArriveReleaseTheColumns) {
  set_up();
  mma(4);
  complete_commit(4);
  wait(1);
  load(1);
  wait_loads(1);
  arrive(1);
  wait(4);
  mma(4);
  expect_clean();
}

TEST_F(TensorProgram, OneKindOfWaitIsNotTheOther) {
  set_up();
  store(1);
  wait_loads(1);
  arrive(1);
  wait(4);
  mma(4);
  expect_race(RuleId::kT5_11);
}

TEST_F(TensorProgram, OneLaneMayReleaseForTheWarpAfterItsWait) {
  set_up();
  store(1);
  wait_stores(1);
  engine.mbarrier_arrive(warp(1), kSync, 1, kObject, Strength::kRelease, Scope::kCta);
  engine.mbarrier_complete(kObject);
  wait(4);
  mma(4);
  expect_clean();
}

// commit (T5-14, T5-15, T5-17).

TEST_F(TensorProgram, ACommitBringsTheResult) {
  set_up();
  mma(4);
  complete_commit(4);
  wait(1);
  load(1);
  expect_clean();
}

TEST_F(TensorProgram, WithoutTheWaitOnItThereIsNone) {
  set_up();
  mma(4);
  complete_commit(4);
  sync({1, 4});
  load(1);
  expect_race(RuleId::kT5_15);
}

TEST_F(TensorProgram, ACommitOfAnotherThreadTracksNothing) {
  set_up();
  mma(4, 32, 0, LaneId{1});
  complete_commit(4, LaneId{0});
  wait(1);
  load(1);
  expect_race(RuleId::kT5_14);
}

TEST_F(TensorProgram, ACommitTracksNoLoads) {
  set_up();
  store(3);
  complete_commit(3);
  wait(4);
  mma(4);
  expect_race(RuleId::kT5_11);
}

TEST_F(TensorProgram, WorkAfterTheCommitIsNotInIt) {
  set_up();
  mma(4, 32);
  const AsyncId arrival = engine.tensor_commit(warp(4), kCommit, kElected, kObject);
  mma(4, 32);
  engine.async_arrive(arrival);
  engine.mbarrier_complete(kObject);
  wait(1);
  load(1);
  expect_race(RuleId::kT5_14);
}

TEST_F(TensorProgram, AStageIsFreeWhenTheCommitIsKnown) {
  set_up();
  mma_reading_shared(4, 0);
  complete_commit(4);
  wait(1);
  engine.write_contiguous(warp(1), kWrite, kAllLanes, Space::kShared, 0, 4);
  expect_clean();
}

TEST_F(TensorProgram, AStageIsNotFreeAfterTheIssue) {
  set_up();
  mma_reading_shared(4, 0);
  sync({1, 4});
  engine.write_contiguous(warp(1), kWrite, kAllLanes, Space::kShared, 0, 4);
  expect_race(RuleId::kT5_17);
}

TEST_F(TensorProgram, SharedOperandsNeedAProxyFence) {
  set_up();
  engine.write_contiguous(warp(1), kWrite, kAllLanes, Space::kShared, 0, 4);
  sync({1, 4});
  mma_reading_shared(4, 0);
  expect_race(RuleId::kPX1);
}

TEST_F(TensorProgram, WithOneTheyAreOrdered) {
  set_up();
  engine.write_contiguous(warp(1), kWrite, kAllLanes, Space::kShared, 0, 4);
  engine.fence_proxy_async(warp(1), kAllLanes, FenceSpaces::kShared);
  sync({1, 4});
  mma_reading_shared(4, 0);
  expect_clean();
}

TEST_F(TensorProgram, ALoadedStageIsAnOperandAfterItsPhase) {
  set_up();
  const Range range{0, 256};
  const AsyncAccess target{Space::kShared, Kind::kWrite, kCta, {&range, 1}};
  const AsyncId bulk = engine.bulk_load(warp(4), kBulk, kElected, kObject, {&target, 1});
  engine.bulk_complete(bulk);
  engine.mbarrier_complete(kObject);
  wait(4);
  mma_reading_shared(4, 0);
  expect_clean();
}

// The commit tells of the product alone. Who overwrites what that has read is behind the copy that
// brought it; who reads it must know of the copy.
struct ReplacedStage : TensorProgram {
  void bring(uint16_t index) {
    const AsyncAccess target{Space::kShared, Kind::kWrite, kCta, {&stage, 1}};
    bulk = engine.bulk_load(warp(index), kBulk, kElected, filled, {&target, 1});
  }
  void multiply_once() {
    engine.mbarrier_init(warp(0), kInit, 1, filled);
    set_up();
    bring(3);
    engine.bulk_complete(bulk);
    engine.mbarrier_complete(filled);
    engine.mbarrier_wait(warp(4), kSync, kAllLanes, filled, Strength::kAcquire, Scope::kCta);
    mma_reading_shared(4, 0);
  }
  Range stage{0, 256};
  Mbarrier filled{kCta, 4104};
  AsyncId bulk;
};

TEST_F(ReplacedStage, BehindTheCommitTheNextCopyIsBehindTheLast) {
  multiply_once();
  complete_commit(4);
  wait(3);
  bring(3);
  expect_clean();
}

TEST_F(ReplacedStage, BeforeTheCommitItIsNot) {
  multiply_once();
  engine.async_arrive(engine.tensor_commit(warp(4), kCommit, kElected, kObject));
  bring(3);
  ASSERT_EQ(races().size(), 2u);  // behind the copy and behind the product
}

TEST_F(ReplacedStage, WhatWasNotReadIsNotCovered) {
  stage.bytes = 512;
  multiply_once();
  complete_commit(4);
  wait(3);
  bring(3);
  expect_race(RuleId::kTM12);
  EXPECT_EQ(races()[0].bytes.count(), 256u);
}

TEST_F(ReplacedStage, TheCommitLetsNobodyReadTheCopy) {
  multiply_once();
  complete_commit(4);
  wait(3);
  engine.read_contiguous(warp(3), kLoad, kAllLanes, Space::kShared, 0, 4);
  expect_race(RuleId::kTM3);
}

// Fences (T5-18 to T5-22).

TEST_F(TensorProgram, ARelaxedWaitNeedsTheFenceAfterIt) {
  set_up();
  mma(4);
  complete_commit(4);
  wait(1, Strength::kRelaxed);
  load(1);
  expect_race(RuleId::kT5_19);
}

TEST_F(TensorProgram, WithTheFenceARelaxedWaitIsEnough) {
  set_up();
  mma(4);
  complete_commit(4);
  wait(1, Strength::kRelaxed);
  after(1);
  load(1);
  expect_clean();
}

TEST_F(StrictTensorProgram, ForSharedMemoryThatFenceIsNot) {
  set_up();
  mma_reading_shared(4, 0);
  complete_commit(4);
  wait(1, Strength::kRelaxed);
  after(1);
  engine.write_contiguous(warp(1), kWrite, kAllLanes, Space::kShared, 0, 4);
  expect_race(RuleId::kT5_17, Tier::kStrict);
}

TEST_F(TensorProgram, ARelaxedArrivalCarriesNothing) {
  set_up();
  store(1);
  wait_stores(1);
  arrive(1, Strength::kRelaxed);
  wait(4, Strength::kRelaxed);
  after(4);
  mma(4);
  expect_race(RuleId::kMB8);
}

TEST_F(TensorProgram, BehindTheFenceItCarriesWhatHasEnded) {
  set_up();
  store(1);
  wait_stores(1);
  before(1);
  arrive(1, Strength::kRelaxed);
  wait(4, Strength::kRelaxed);
  after(4);
  mma(4);
  expect_clean();
}

TEST_F(TensorProgram, AFenceEndsNothing) {
  set_up();
  mma(4);
  complete_commit(4);
  wait(1);
  load(1);
  before(1);
  sync({1, 4});
  after(4);
  mma(4);
  expect_race(RuleId::kT5_12);
}

TEST_F(TensorProgram, ARelaxedFlagCarriesItToo) {
  set_up();
  store(1);
  wait_stores(1);
  before(1);
  Access flag;
  flag.op = kSync;
  flag.lanes = 1;
  flag.kind = Kind::kWrite;
  flag.strength = Strength::kRelaxed;
  flag.scope = Scope::kCta;
  flag.at = Addresses::uniform(1024);
  engine.access(warp(1), flag);
  flag.kind = Kind::kRead;
  flag.lanes = kAllLanes;
  engine.access(warp(4), flag);
  after(4);
  mma(4);
  expect_clean();
}

TEST_F(StrictTensorProgram, ADeallocAfterARelaxedHandOverIsStrict) {
  set_up();
  store(1);
  wait_stores(1);
  arrive(1, Strength::kRelaxed);
  wait(0, Strength::kRelaxed);
  free(0);
  expect_race(RuleId::kT5_3, Tier::kStrict);
}

}  // namespace
}  // namespace lw::order
