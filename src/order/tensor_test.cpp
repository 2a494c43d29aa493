// One small program per rule of 12.1, and what follows what by itself.

#include "order/tensor_program.h"

namespace lw::order {
namespace {

// Allocation (12.1).

TEST_F(TensorProgram, AUserOfColumnsNeedsAnEdgeFromAlloc) {
  engine.tensor_alloc(warp(0), kAlloc, kAllLanes, 32, 64, kWord);
  store(1);
  expect_race(RuleId::kT5_2);
}

TEST_F(TensorProgram, TheAllocatingWarpNeedsNone) {
  engine.tensor_alloc(warp(0), kAlloc, kAllLanes, 32, 64, kWord);
  store(0);
  wait_stores(0);
  free(0);
  expect_clean();
}

TEST_F(TensorProgram, OneLaneOfTheWarpMayTellOfTheAlloc) {
  engine.mbarrier_init(warp(0), kInit, 1, kObject);
  sync({0, 1});
  engine.tensor_alloc(warp(0), kAlloc, kAllLanes, 32, 64, kWord);
  engine.mbarrier_arrive(warp(0), kSync, 1, kObject, Strength::kRelease, Scope::kCta);
  engine.mbarrier_complete(kObject);
  wait(1);
  store(1);
  expect_clean();
}

TEST_F(TensorProgram, TheAddressIsReadBehindABarrier) {
  engine.tensor_alloc(warp(0), kAlloc, kAllLanes, 32, 64, kWord);
  engine.read_uniform(warp(0), kLoad, kAllLanes, Space::kShared, kWord, 4);
  sync({0, 1});
  engine.read_uniform(warp(1), kLoad, kAllLanes, Space::kShared, kWord, 4);
  expect_clean();
}

TEST_F(TensorProgram, WithoutABarrierTheAddressRaces) {
  engine.tensor_alloc(warp(0), kAlloc, kAllLanes, 32, 64, kWord);
  engine.read_uniform(warp(1), kLoad, kAllLanes, Space::kShared, kWord, 4);
  expect_race(RuleId::kT5_2);
}

// Shipped compilers lay the word where a copy goes next.
struct WordUnderACopy : TensorProgram {
  void copy_over_it(uint16_t index) {
    const Range range{kWord, 16};
    const AsyncAccess target{Space::kShared, Kind::kWrite, kCta, {&range, 1}};
    engine.bulk_load(warp(index), kBulk, kElected, kObject, {&target, 1});
  }
};

TEST_F(WordUnderACopy, BehindABarrierTheFenceIsAskedForByTheStrict) {
  set_up();
  copy_over_it(1);
  EXPECT_TRUE(races().empty());
  EXPECT_EQ(engine.facts().practice, std::set<RuleId>{RuleId::kPX2});
}

TEST_F(WordUnderACopy, InItsWarpTheFenceIsNeeded) {
  engine.mbarrier_init(warp(0), kInit, 1, kObject);
  engine.tensor_alloc(warp(0), kAlloc, kAllLanes, 32, 64, kWord);
  copy_over_it(0);
  expect_race(RuleId::kPX2);
}

// The founding bug: warp 0 frees after its own loads, and nothing says that the others' are over.
TEST_F(TensorProgram, DeallocRacesWithLoadsOfOtherWarps) {
  set_up();
  mma(4);
  complete_commit(4);
  for (uint16_t w = 0; w < 4; ++w) {
    wait(w);
    load(w);
    wait_loads(w);
  }
  free(0);
  expect_race(RuleId::kT5_3);
  EXPECT_EQ(races()[0].first.earlier.op, kLoad);
  EXPECT_EQ(races()[0].first.later.op, kFree);
  EXPECT_EQ(races()[0].earlier_warps, (std::set<uint32_t>{1, 2, 3}));
  EXPECT_EQ(races()[0].bytes.count(), 3u * 32 * 8 * 4);
}

// Loads that race with the dealloc bring the mma that they follow: one edge is missing, not two.
TEST_F(TensorProgram, AnMmaThatLoadsFollowIsImplied) {
  set_up();
  mma(4, 32, 0);
  complete_commit(4);
  for (uint16_t w = 1; w < 4; ++w) {
    wait(w);
    load(w, 32, 16);
  }
  free(4);
  wait(0);
  load(0, 32, 16);  // the last quarter, too late
  // The loads before the dealloc, the mma, and the load behind it.
  ASSERT_EQ(races().size(), 3u);
  for (const RaceGroup& group : races())
    EXPECT_EQ(group.first.implied, group.first.earlier.op == kMma) << group.first.earlier.op.value;
}

TEST_F(TensorProgram, AnMmaThatNoLoadFollowsIsNotImplied) {
  set_up();
  mma(4);
  complete_commit(4);
  for (uint16_t w = 1; w < 4; ++w) {
    wait(w);
    load(w);
  }
  arrive(1);
  mma(4);
  free(0);
  ASSERT_FALSE(races().empty());
  for (const RaceGroup& group : races()) EXPECT_FALSE(group.first.implied);
}

// The load may follow its own warp's store unended: wait::ld does not wait for that.
TEST_F(TensorProgram, AStoreIsNotImpliedByItsOwnWarpsLoad) {
  set_up();
  store(1);
  load(1);
  free(0);
  ASSERT_EQ(races().size(), 2u);
  for (const RaceGroup& group : races()) EXPECT_FALSE(group.first.implied);
}

TEST_F(TensorProgram, ABarrierAfterTheirWaitsOrdersTheDealloc) {
  set_up();
  mma(4);
  complete_commit(4);
  for (uint16_t w = 0; w < 4; ++w) {
    wait(w);
    load(w);
    wait_loads(w);
  }
  sync({0, 1, 2, 3});
  free(0);
  expect_clean();
}

TEST_F(TensorProgram, ABarrierBeforeTheWaitDoesNot) {
  set_up();
  store(0);
  store(1);
  wait_stores(0);
  wait_stores(1);
  load(1);
  sync({0, 1});
  wait_loads(1);
  free(0);
  expect_race(RuleId::kT5_3);
}

TEST_F(TensorProgram, ALoadThatComesAfterTheFreeRacesToo) {
  set_up();
  store(1);
  wait_stores(1);
  sync({0, 1});
  free(0);
  load(1);
  expect_race(RuleId::kT5_3);
  EXPECT_EQ(races()[0].first.earlier.op, kFree);
}

TEST_F(TensorProgram, ALoadOrderedAfterTheFreeIsAnError) {
  set_up();
  free(0);
  sync({0, 1});
  load(1);
  EXPECT_TRUE(races().empty());
  ASSERT_EQ(engine.facts().errors.size(), 1u);
  EXPECT_EQ(engine.facts().errors[0].rule, RuleId::kT5_25);
}

TEST_F(TensorProgram, ColumnsThatTheCtaNeverHadAreAnError) {
  set_up();
  load(1, 128);
  ASSERT_EQ(engine.finish().errors.size(), 1u);
  EXPECT_EQ(engine.facts().errors[0].rule, RuleId::kT5_25);
}

TEST_F(TensorProgram, AForeignOwnerDoesNotAnswerForTheLast) {
  set_up();
  store(0);
  wait_stores(0);
  free(0);
  engine.begin_grid(GridId{1}, {});
  engine.begin_cta(CtaId{1}, GridId{1}, 32, 1024, 3);
  Warp& other = engine.warp(CtaId{1}, WarpId{0});
  engine.tensor_alloc(other, kAlloc, kAllLanes, 32, 64, kWord);
  const TensorBox box = TensorBox::full(32, 64);
  engine.tensor_store(other, kStore, kAllLanes, {&box, 1});
  engine.tensor_wait_stores(other, kAllLanes);
  engine.tensor_free(other, kFree, kAllLanes, 32, 64);
  expect_clean();
  // A late load of the first owner meets its own dealloc, not the other's stores.
  load(1);
  expect_race(RuleId::kT5_3);
  EXPECT_EQ(races()[0].first.earlier.cta, kCta);
}

TEST_F(TensorProgram, CellsOfAnotherSmAreOthers) {
  set_up();
  store(0);
  engine.begin_grid(GridId{1}, {});
  engine.begin_cta(CtaId{1}, GridId{1}, 32, 1024, 4);
  engine.tensor_alloc(engine.warp(CtaId{1}, WarpId{0}), kAlloc, kAllLanes, 32, 64, kWord);
  wait_stores(0);
  free(0);
  expect_clean();
}

TEST_F(TensorProgram, CellsWithoutAStoreAreUnwritten) {
  set_up();
  store(1, 32, 4);
  wait_stores(1);
  load(1, 32, 8);
  ASSERT_EQ(engine.finish().unwritten.size(), 1u);
  EXPECT_EQ(engine.facts().unwritten[0].count, 4u * 32 * 4);
  EXPECT_EQ(TensorCell::at(engine.facts().unwritten[0].address).column, 36u);
  EXPECT_EQ(TensorCell::at(engine.facts().unwritten[0].address).lane, 32u);
}

// Pairs (12.2).

TEST_F(TensorProgram, LoadsAndStoresOfOneWarpFollowEachOther) {
  set_up();
  store(1);
  store(1);
  load(1);
  store(1);
  expect_clean();
}

TEST_F(TensorProgram, TwoMmasOnOneAccumulatorAreAPair) {
  set_up();
  mma(4, 32, 7);
  mma(4, 32, 7);
  expect_clean();
}

TEST_F(TensorProgram, OfAnotherShapeTheyAreNot) {
  set_up();
  mma(4, 32, 7);
  mma(4, 32, 8);
  expect_race(RuleId::kT5_10);
}

TEST_F(TensorProgram, ACopyFeedsAnMmaAndAnMmaReleasesItsOperand) {
  set_up();
  copy(4, 40);
  mma_of(4, 40);
  copy(4, 40);
  work(4, kShift, TensorWork::Kind::kShift, 48);
  mma_of(4, 48);
  expect_clean();
}

TEST_F(TensorProgram, TwoCopiesAreNoPair) {
  set_up();
  copy(4, 40);
  copy(4, 40);
  expect_race(RuleId::kT5_10);
}

TEST_F(TensorProgram, AResultIsNoOperandBeforeItsCommit) {
  set_up();
  mma(4, 32);
  mma_of(4, 40);
  expect_race(RuleId::kT5_10);
}

TEST_F(TensorProgram, AStoreIsNoOperandBeforeItsWait) {
  set_up();
  store(1, 40);
  mma_of(1, 40);
  expect_race(RuleId::kT5_10);
}

TEST_F(TensorProgram, AfterItsWaitItIs) {
  set_up();
  store(1, 40);
  wait_stores(1);
  mma_of(1, 40);
  expect_clean();
}

TEST_F(TensorProgram, TwoThreadsOfAWarpNeedFencesForAPair) {
  set_up();
  copy(4, 40, LaneId{0});
  engine.warp_sync(warp(4), kSync, kAllLanes);
  mma_of(4, 40, LaneId{1});
  expect_race(RuleId::kT5_10);
}

TEST_F(TensorProgram, WithFencesTwoThreadsOfAWarpHaveIt) {
  set_up();
  copy(4, 40, LaneId{0});
  before(4);
  engine.warp_sync(warp(4), kSync, kAllLanes);
  after(4);
  mma_of(4, 40, LaneId{1});
  expect_clean();
}

TEST_F(StrictTensorProgram, AcrossWarpsThePairIsStrict) {
  set_up();
  copy(3, 40);
  before(3);
  sync({3, 4});
  after(4);
  mma_of(4, 40);
  expect_race(RuleId::kT5_23, Tier::kStrict);
}

TEST_F(TensorProgram, AcrossWarpsWithoutFencesItIsARace) {
  set_up();
  copy(3, 40);
  sync({3, 4});
  mma_of(4, 40);
  expect_race(RuleId::kT5_14);
}

TEST_F(TensorProgram, ManyReadsOfOneOperandStayFewReaders) {
  set_up();
  copy(4, 40);
  const uint64_t before_reads = engine.memory_bytes();
  for (int i = 0; i < 4096; ++i) mma_of(4, 40);
  EXPECT_LT(engine.memory_bytes(), before_reads + (1u << 20));
  expect_clean();
}

}  // namespace
}  // namespace lw::order
