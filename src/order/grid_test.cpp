// Programmatic launches: one small program per rule of chapter 13.

#include <gtest/gtest.h>

#include "order/engine.h"

namespace lw::order {
namespace {

constexpr OpId kLoad{3}, kSync{7}, kWrite{11}, kBulk{12};

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
