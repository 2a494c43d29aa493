#pragma once
// Small programs on tensor memory for tests, told to the engine by hand.

#include <gtest/gtest.h>

#include "order/engine.h"

namespace lw::order {

inline constexpr CtaId kCta{0};
inline constexpr Mbarrier kObject{kCta, 4096};
inline constexpr OpId kAlloc{1}, kFree{2}, kLoad{3}, kStore{4}, kMma{5}, kCopy{6}, kSync{7},
    kInit{8}, kCommit{9}, kShift{10}, kWrite{11}, kBulk{12};
inline constexpr LaneId kElected{0};
inline constexpr uint32_t kWord = 512;  // where alloc writes the address

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

}  // namespace lw::order
