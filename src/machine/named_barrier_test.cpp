#include "machine/named_barrier.h"

#include <gtest/gtest.h>

namespace lw::machine {
namespace {

using base::kAllLanes;
using base::LaneMask;
using base::WarpId;

BarrierArrival at(uint16_t warp, BarrierUse use, std::optional<uint32_t> threads = {},
                  LaneMask lanes = kAllLanes, LaneMask predicate = 0) {
  return {WarpId(warp), lanes, use, threads, predicate, base::OpId(warp + 100u), {}};
}

class NamedBarrierTest : public testing::Test {
 protected:
  BarrierFault arrive(const BarrierArrival& arrival) { return barrier.arrive(arrival, live); }
  bool complete() const { return barrier.is_complete(live); }

  NamedBarrier barrier;
  std::vector<LaneMask> live = std::vector<LaneMask>(4, kAllLanes);
};

TEST_F(NamedBarrierTest, CompletesWhenAllWarpsOfTheCtaHaveArrived) {
  for (uint16_t warp = 0; warp < 4; ++warp) {
    EXPECT_FALSE(complete());
    EXPECT_EQ(arrive(at(warp, BarrierUse::sync)), BarrierFault::none);
  }
  ASSERT_TRUE(complete());
  BarrierGeneration done = barrier.finish();
  EXPECT_EQ(done.number, 0u);
  EXPECT_EQ(done.participants.size(), 4u);
  EXPECT_EQ(done.threads_taking_part, 128u);
  EXPECT_FALSE(barrier.is_live());
  EXPECT_EQ(barrier.generation(), 1u);
}

TEST_F(NamedBarrierTest, ArriveCountsAndDoesNotWait) {
  EXPECT_EQ(arrive(at(0, BarrierUse::arrive, 64)), BarrierFault::none);
  EXPECT_EQ(arrive(at(3, BarrierUse::sync, 64)), BarrierFault::none);
  ASSERT_TRUE(complete());
  BarrierGeneration done = barrier.finish();
  EXPECT_EQ(done.participants[0].arrived, kAllLanes);
  EXPECT_EQ(done.participants[0].waiting, 0u);
  EXPECT_EQ(done.participants[1].waiting, kAllLanes);
}

TEST_F(NamedBarrierTest, AWarpCountsOnceAllItsLanesAreThere) {
  EXPECT_EQ(arrive(at(0, BarrierUse::sync, 32, 0x0000ffff)), BarrierFault::none);
  EXPECT_FALSE(complete());
  EXPECT_FALSE(barrier.has_whole_warp(WarpId(0), live));
  EXPECT_EQ(arrive(at(0, BarrierUse::arrive, 32, 0xffff0000)), BarrierFault::none);
  EXPECT_TRUE(complete());
}

TEST_F(NamedBarrierTest, LanesThatExitDropOut) {
  EXPECT_EQ(arrive(at(0, BarrierUse::sync, {}, 1)), BarrierFault::none);
  EXPECT_EQ(arrive(at(1, BarrierUse::sync)), BarrierFault::none);
  live[0] = 1;
  EXPECT_FALSE(complete());
  live[2] = live[3] = 0;
  EXPECT_TRUE(complete());
}

TEST_F(NamedBarrierTest, AWarpThatArrivedAndExitedStillCounts) {
  EXPECT_EQ(arrive(at(0, BarrierUse::arrive, 128)), BarrierFault::none);
  live[0] = 0;
  EXPECT_EQ(arrive(at(1, BarrierUse::sync)), BarrierFault::none);
  EXPECT_EQ(arrive(at(2, BarrierUse::sync)), BarrierFault::none);
  EXPECT_FALSE(complete());
  EXPECT_EQ(arrive(at(3, BarrierUse::sync)), BarrierFault::none);
  EXPECT_TRUE(complete());
}

TEST_F(NamedBarrierTest, AnExitedWarpIsNotReplacedWhenACountIsGiven) {
  EXPECT_EQ(arrive(at(0, BarrierUse::sync, 128)), BarrierFault::none);
  EXPECT_EQ(arrive(at(1, BarrierUse::sync, 128)), BarrierFault::none);
  live[2] = live[3] = 0;
  EXPECT_FALSE(complete());
  EXPECT_TRUE(barrier.missing(live).empty());
  EXPECT_EQ(barrier.warps_needed(live), 4u);
}

TEST_F(NamedBarrierTest, TellsWhoIsMissing) {
  EXPECT_EQ(arrive(at(1, BarrierUse::sync)), BarrierFault::none);
  EXPECT_EQ(arrive(at(2, BarrierUse::sync, {}, 1)), BarrierFault::none);
  EXPECT_EQ(barrier.missing(live), (std::vector{WarpId(0), WarpId(2), WarpId(3)}));
}

TEST_F(NamedBarrierTest, ReductionCountsPredicates) {
  live.resize(2);
  EXPECT_EQ(arrive(at(0, BarrierUse::reduce, {}, kAllLanes, 0xff)), BarrierFault::none);
  EXPECT_EQ(arrive(at(1, BarrierUse::reduce, {}, kAllLanes, 1)), BarrierFault::none);
  ASSERT_TRUE(complete());
  BarrierGeneration done = barrier.finish();
  EXPECT_EQ(done.threads_true, 9u);
  EXPECT_EQ(done.threads_taking_part, 64u);
  EXPECT_EQ(arrive(at(0, BarrierUse::reduce)), BarrierFault::none);
  EXPECT_EQ(arrive(at(1, BarrierUse::reduce)), BarrierFault::none);
  EXPECT_EQ(barrier.finish().threads_true, 0u);
}

TEST_F(NamedBarrierTest, RefusesWrongCounts) {
  EXPECT_EQ(arrive(at(0, BarrierUse::arrive, 0)), BarrierFault::count_zero);
  EXPECT_EQ(arrive(at(0, BarrierUse::sync, 33)), BarrierFault::count_not_in_warps);
  EXPECT_EQ(arrive(at(0, BarrierUse::sync, 160)), BarrierFault::count_above_cta);
  EXPECT_FALSE(barrier.is_live());
  EXPECT_EQ(arrive(at(0, BarrierUse::sync, 64)), BarrierFault::none);
  EXPECT_EQ(arrive(at(1, BarrierUse::sync, 96)), BarrierFault::count_differs);
  EXPECT_EQ(arrive(at(1, BarrierUse::sync)), BarrierFault::count_differs);
  EXPECT_EQ(arrive(at(1, BarrierUse::sync, 64)), BarrierFault::none);
}

TEST_F(NamedBarrierTest, RefusesASecondArrivalOfALane) {
  EXPECT_EQ(arrive(at(0, BarrierUse::arrive, 64)), BarrierFault::none);
  EXPECT_EQ(arrive(at(0, BarrierUse::arrive, 64)), BarrierFault::too_many_arrivals);
}

TEST_F(NamedBarrierTest, RefusesMoreWarpsThanTheCount) {
  EXPECT_EQ(arrive(at(0, BarrierUse::sync, 64, 1)), BarrierFault::none);
  EXPECT_EQ(arrive(at(1, BarrierUse::sync, 64)), BarrierFault::none);
  EXPECT_EQ(arrive(at(2, BarrierUse::sync, 64)), BarrierFault::too_many_arrivals);
}

TEST_F(NamedBarrierTest, RefusesReductionBesideOthers) {
  EXPECT_EQ(arrive(at(0, BarrierUse::arrive, 64)), BarrierFault::none);
  EXPECT_EQ(arrive(at(1, BarrierUse::reduce, 64)), BarrierFault::reduction_mixed);
  EXPECT_EQ(arrive(at(1, BarrierUse::sync, 64)), BarrierFault::none);
  barrier.finish();
  EXPECT_EQ(arrive(at(1, BarrierUse::reduce, 64)), BarrierFault::none);
  EXPECT_EQ(arrive(at(0, BarrierUse::sync, 64)), BarrierFault::reduction_mixed);
}

}  // namespace
}  // namespace lw::machine
