// One small program per rule of chapters 12 and 13, told to the engine by hand.

#include <gtest/gtest.h>

#include "order/engine.h"

namespace lw::order {
namespace {

constexpr CtaId kCta{0};
constexpr Mbarrier kObject{kCta, 4096};
constexpr OpId kAlloc{1}, kFree{2}, kLoad{3}, kStore{4}, kMma{5}, kCopy{6}, kSync{7}, kInit{8},
    kCommit{9}, kShift{10}, kWrite{11}, kBulk{12};
constexpr LaneId kElected{0};
constexpr uint32_t kWord = 512;  // where alloc writes the address

class TensorProgram : public ::testing::Test {
 protected:
  explicit TensorProgram(Options options = {}) : engine(std::move(options), nullptr) {
    engine.declare_buffer(0x1000, 4096);
    engine.begin_grid(GridId{0}, {});
    engine.begin_cta(kCta, GridId{0}, 160, 8192, 3);
  }
  Warp& warp(uint16_t index) { return engine.warp(kCta, WarpId{index}); }
  void sync(std::initializer_list<uint16_t> warps) {
    for (uint16_t index : warps)
      engine.barrier_arrive(warp(index), kSync, BarrierId{1}, BarrierKind::kSync, kAllLanes);
    engine.barrier_complete(kCta, BarrierId{1});
  }
  // Warp 0 has 64 columns from column 32 on, an object is ready, and everybody knows.
  void set_up() {
    engine.tensor_alloc(warp(0), kAlloc, kAllLanes, 32, 64, kWord);
    engine.mbarrier_init(warp(0), kInit, 1, kObject);
    sync({0, 1, 2, 3, 4});
  }
  void free(uint16_t index) { engine.tensor_free(warp(index), kFree, kAllLanes, 32, 64); }
  // A warp of the first four, in its own quarter.
  void load(uint16_t index, uint32_t column = 32, uint32_t columns = 8) {
    const TensorBox box = TensorBox::quarter(index, column, columns);
    engine.tensor_load(warp(index), kLoad, kAllLanes, {&box, 1});
  }
  void store(uint16_t index, uint32_t column = 32, uint32_t columns = 8) {
    const TensorBox box = TensorBox::quarter(index, column, columns);
    engine.tensor_store(warp(index), kStore, kAllLanes, {&box, 1});
  }
  void wait_loads(uint16_t index) { engine.tensor_wait_loads(warp(index), kAllLanes); }
  void wait_stores(uint16_t index) { engine.tensor_wait_stores(warp(index), kAllLanes); }
  void issue(uint16_t index, OpId op, TensorWork::Kind kind, std::span<const TensorAccess> cells,
             LaneId lane = kElected, uint32_t accumulator = 0) {
    TensorWork work;
    work.kind = kind;
    work.accumulator = accumulator;
    work.cells = cells;
    engine.tensor_issue(warp(index), op, lane, work);
  }
  void mma(uint16_t index, uint32_t column = 32, uint32_t accumulator = 0, LaneId lane = kElected) {
    const TensorBox result = TensorBox::full(column, 16);
    const TensorAccess cells{Kind::kWrite, false, {&result, 1}};
    issue(index, kMma, TensorWork::Kind::kMma, {&cells, 1}, lane, accumulator);
  }
  // D at 64, and A from tensor memory.
  void mma_of(uint16_t index, uint32_t operand, LaneId lane = kElected) {
    const TensorBox boxes[] = {TensorBox::full(operand, 8), TensorBox::full(64, 16)};
    const TensorAccess cells[] = {{Kind::kRead, false, {&boxes[0], 1}},
                                  {Kind::kWrite, false, {&boxes[1], 1}}};
    issue(index, kMma, TensorWork::Kind::kMma, cells, lane);
  }
  void work(uint16_t index, OpId op, TensorWork::Kind kind, uint32_t column,
            LaneId lane = kElected) {
    const TensorBox box = TensorBox::full(column, 8);
    const TensorAccess cells{Kind::kWrite, kind == TensorWork::Kind::kShift, {&box, 1}};
    issue(index, op, kind, {&cells, 1}, lane);
  }
  void copy(uint16_t index, uint32_t column, LaneId lane = kElected) {
    work(index, kCopy, TensorWork::Kind::kCopy, column, lane);
  }
  void mma_reading_shared(uint16_t index, uint64_t base) {
    const Range range{base, 256};
    const AsyncAccess shared{Space::kShared, Kind::kRead, kCta, {&range, 1}};
    const TensorBox result = TensorBox::full(32, 16);
    const TensorAccess cells{Kind::kWrite, false, {&result, 1}};
    TensorWork work;
    work.cells = {&cells, 1};
    work.shared = {&shared, 1};
    engine.tensor_issue(warp(index), kMma, kElected, work);
  }
  void complete_commit(uint16_t index, LaneId lane = kElected) {
    engine.async_arrive(engine.tensor_commit(warp(index), kCommit, lane, kObject));
    engine.mbarrier_complete(kObject);
  }
  void wait(uint16_t index, Strength strength = Strength::kAcquire) {
    engine.mbarrier_wait(warp(index), kSync, kAllLanes, kObject, strength, Scope::kCta);
  }
  void arrive(uint16_t index, Strength strength = Strength::kRelease) {
    engine.mbarrier_arrive(warp(index), kSync, kAllLanes, kObject, strength, Scope::kCta);
    engine.mbarrier_complete(kObject);
  }
  void before(uint16_t index) { engine.tensor_fence_before(warp(index), kAllLanes); }
  void after(uint16_t index) { engine.tensor_fence_after(warp(index), kAllLanes); }

  const std::vector<RaceGroup>& races() { return engine.finish().races; }
  void expect_clean() {
    for (const RaceGroup& group : races()) {
      ADD_FAILURE() << diagnose::rule(group.first.rule).id << " op " << group.first.earlier.op.value
                    << " then " << group.first.later.op.value;
    }
    EXPECT_TRUE(engine.facts().errors.empty());
    EXPECT_TRUE(engine.facts().practice.empty());
  }
  void expect_race(RuleId rule, Tier tier = Tier::kRace) {
    ASSERT_EQ(races().size(), 1u);
    EXPECT_EQ(diagnose::rule(races()[0].first.rule).id, diagnose::rule(rule).id);
    EXPECT_EQ(races()[0].first.tier, tier);
  }

  Engine engine;
};

class StrictTensorProgram : public TensorProgram {
 protected:
  StrictTensorProgram() : TensorProgram(strict()) {}
  static Options strict() {
    Options options;
    options.strict = true;
    return options;
  }
};

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
  EXPECT_EQ(races()[0].bytes, 3u * 32 * 8 * 4);
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

// What is not modelled says so (T5-26).

TEST_F(TensorProgram, PairsOfCtasAreNotModelled) {
  set_up();
  TensorWork work;
  work.pair = true;
  engine.tensor_issue(warp(4), kMma, kElected, work);
  ASSERT_EQ(engine.finish().not_modelled.size(), 1u);
  EXPECT_EQ(engine.facts().not_modelled[0].rule, RuleId::kT5_26);
}

TEST_F(TensorProgram, ACommitToAnotherCtaIsNotModelled) {
  set_up();
  engine.begin_cta(CtaId{1}, GridId{0}, 32, 1024, 4);
  engine.async_arrive(engine.tensor_commit(warp(4), kCommit, kElected, Mbarrier{CtaId{1}, 0}));
  ASSERT_EQ(engine.finish().not_modelled.size(), 1u);
}

TEST_F(TensorProgram, ManyReadsOfOneOperandStayFewReaders) {
  set_up();
  copy(4, 40);
  const uint64_t before_reads = engine.memory_bytes();
  for (int i = 0; i < 4096; ++i) mma_of(4, 40);
  EXPECT_LT(engine.memory_bytes(), before_reads + (1u << 20));
  expect_clean();
}

// Programmatic launches (chapter 13): grid 1 starts before grid 0 has ended.
class DependentProgram : public ::testing::Test {
 protected:
  static constexpr CtaId kFirst{0}, kSecond{1}, kThird{2};

  DependentProgram() : engine({}, nullptr) {
    engine.declare_buffer(0x1000, 4096);
    engine.begin_grid(GridId{0}, {});
    engine.begin_cta(kFirst, GridId{0}, 64, 1024);
    const GridId first[] = {GridId{0}};
    engine.begin_grid(GridId{1}, {}, first);
    engine.begin_cta(kSecond, GridId{1}, 64, 1024);
  }
  Warp& warp(CtaId cta, uint16_t index) { return engine.warp(cta, WarpId{index}); }
  void write() {
    engine.write_contiguous(warp(kFirst, 0), kWrite, kAllLanes, Space::kGlobal, 0x1000, 4);
  }
  void read(CtaId cta, uint16_t index = 0) {
    engine.read_contiguous(warp(cta, index), kLoad, kAllLanes, Space::kGlobal, 0x1000, 4);
  }
  void grid_wait(CtaId cta) { engine.grid_wait(warp(cta, 0), kSync, kAllLanes); }
  void third_grid() {
    const GridId second[] = {GridId{1}};
    engine.begin_grid(GridId{2}, second);
    engine.begin_cta(kThird, GridId{2}, 64, 1024);
  }
  void expect_race(RuleId rule) {
    ASSERT_EQ(engine.finish().races.size(), 1u);
    EXPECT_EQ(diagnose::rule(engine.facts().races[0].first.rule).id, diagnose::rule(rule).id);
  }

  Engine engine;
};

TEST_F(DependentProgram, WithoutAWaitTheDependentRaces) {
  write();
  read(kSecond);
  expect_race(RuleId::kG4);
}

TEST_F(DependentProgram, AfterTheWaitItIsOrdered) {
  write();
  grid_wait(kSecond);
  read(kSecond);
  EXPECT_TRUE(engine.finish().races.empty());
}

TEST_F(DependentProgram, AnotherWarpNeedsAnEdgeFromTheWaiter) {
  write();
  grid_wait(kSecond);
  read(kSecond, 1);
  expect_race(RuleId::kG4);
}

TEST_F(DependentProgram, ABarrierIsOne) {
  write();
  grid_wait(kSecond);
  for (uint16_t w : {0, 1})
    engine.barrier_arrive(warp(kSecond, w), kSync, BarrierId{0}, BarrierKind::kSync, kAllLanes);
  engine.barrier_complete(kSecond, BarrierId{0});
  read(kSecond, 1);
  EXPECT_TRUE(engine.finish().races.empty());
}

TEST_F(DependentProgram, AnAsynchronousReaderNeedsNoProxyFence) {
  write();
  grid_wait(kSecond);
  const Range range{0x1000, 128};
  const AsyncAccess source{Space::kGlobal, Kind::kRead, kSecond, {&range, 1}};
  engine.bulk_store(warp(kSecond, 0), kBulk, LaneId{0}, {&source, 1});
  EXPECT_TRUE(engine.finish().races.empty());
}

TEST_F(DependentProgram, AThirdGridIsBehindTheFirstIfTheSecondWaited) {
  write();
  grid_wait(kSecond);
  third_grid();
  read(kThird);
  EXPECT_TRUE(engine.finish().races.empty());
}

TEST_F(DependentProgram, AThirdGridIsNotIfNobodyWaited) {
  write();
  third_grid();
  read(kThird);
  expect_race(RuleId::kG8);
}

TEST_F(DependentProgram, TheKnowledgeTravelsToAnotherCta) {
  write();
  engine.begin_cta(kThird, GridId{1}, 64, 1024);
  grid_wait(kSecond);
  Access flag;
  flag.op = kSync;
  flag.lanes = 1;
  flag.space = Space::kGlobal;
  flag.kind = Kind::kWrite;
  flag.strength = Strength::kRelease;
  flag.at = Addresses::uniform(0x1800);
  engine.access(warp(kSecond, 0), flag);
  flag.kind = Kind::kRead;
  flag.strength = Strength::kAcquire;
  flag.lanes = kAllLanes;
  engine.access(warp(kThird, 0), flag);
  read(kThird);
  EXPECT_TRUE(engine.finish().races.empty());
}

}  // namespace
}  // namespace lw::order
