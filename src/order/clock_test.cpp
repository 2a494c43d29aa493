#include "order/clock.h"

#include <gtest/gtest.h>

namespace lw::order {
namespace {

ClockRef clock_of(std::initializer_list<std::pair<Component, uint32_t>> counts) {
  ClockBuilder builder{ClockRef{}};
  for (const auto& [component, count] : counts) builder.raise(component, count);
  return builder.finish();
}

LaneCounts lanes_with(uint32_t all, int lane, uint32_t count) {
  LaneCounts counts;
  counts.fill(all);
  counts[lane] = count;
  return counts;
}

TEST(Clock, KnowsNothingByDefault) {
  const ClockRef clock = clock_of({{3, 7}});
  EXPECT_EQ(clock->all_lanes(2), 0u);
  EXPECT_EQ(clock->all_lanes(100), 0u);
  EXPECT_EQ(clock->lanes_at_least(3, 7), kAllLanes);
  EXPECT_EQ(clock->lanes_at_least(3, 8), 0u);
}

TEST(Clock, JoinIsTheMaximum) {
  const ClockRef joined = join(clock_of({{0, 5}, {1, 2}}), clock_of({{1, 9}, {4, 1}}));
  EXPECT_EQ(joined->all_lanes(0), 5u);
  EXPECT_EQ(joined->all_lanes(1), 9u);
  EXPECT_EQ(joined->all_lanes(4), 1u);
}

TEST(Clock, JoinKeepsTheClockThatCoversTheOther) {
  const ClockRef small = clock_of({{0, 1}});
  const ClockRef big = clock_of({{0, 2}, {1, 1}});
  EXPECT_TRUE(join(small, big) == big);
  EXPECT_TRUE(join(big, small) == big);
  EXPECT_TRUE(join(big, ClockRef{}) == big);
}

TEST(Clock, RaisingByNothingKeepsTheBase) {
  const ClockRef base = clock_of({{2, 8}});
  ClockBuilder builder(base);
  builder.raise(2, 8);
  builder.raise(2, 3);
  EXPECT_TRUE(builder.finish() == base);
}

TEST(Clock, LanesThatDifferAreAnException) {
  ClockBuilder builder(clock_of({{1, 4}}));
  builder.raise_lanes(1, lanes_with(0, 5, 9));
  const ClockRef clock = builder.finish();
  EXPECT_EQ(clock->all_lanes(1), 4u);
  EXPECT_EQ(clock->lanes_at_least(1, 9), 1u << 5);
  EXPECT_EQ(clock->lanes_at_least(1, 4), kAllLanes);
  ASSERT_EQ(clock->ragged().size(), 1u);
}

TEST(Clock, LanesThatBecomeEqualAreNoException) {
  ClockBuilder builder(ClockRef{});
  builder.raise_lanes(1, lanes_with(3, 5, 9));
  builder.raise(1, 9);
  const ClockRef clock = builder.finish();
  EXPECT_TRUE(clock->ragged().empty());
  EXPECT_EQ(clock->all_lanes(1), 9u);
}

TEST(Clock, JoinOfExceptionsIsTheMaximumOfEachLane) {
  ClockBuilder a(ClockRef{});
  a.raise_lanes(0, lanes_with(2, 1, 8));
  ClockBuilder b(ClockRef{});
  b.raise_lanes(0, lanes_with(5, 1, 6));
  const ClockRef joined = join(a.finish(), b.finish());
  EXPECT_EQ(joined->lane(0, 1), 8u);
  EXPECT_EQ(joined->lane(0, 0), 5u);
  EXPECT_EQ(joined->all_lanes(0), 5u);
}

TEST(Clock, AnotherCtaIsKeptBesideTheCounts) {
  ClockBuilder builder(clock_of({{0, 1}}));
  builder.join_from(7, clock_of({{0, 30}}), 3);
  const ClockRef clock = builder.finish();
  EXPECT_EQ(clock->all_lanes(0), 1u);
  ASSERT_NE(clock->foreign(7), nullptr);
  EXPECT_EQ(clock->foreign(7)->all_lanes(0), 30u);
  EXPECT_EQ(clock->foreign(8), nullptr);
}

TEST(Clock, WhatAnotherCtaKnowsOfUsComesHome) {
  ClockBuilder theirs(clock_of({{0, 30}}));
  theirs.join_from(3, clock_of({{2, 4}}), 7);
  ClockBuilder ours(ClockRef{});
  ours.join_from(7, theirs.finish(), 3);
  const ClockRef clock = ours.finish();
  EXPECT_EQ(clock->all_lanes(2), 4u);
  EXPECT_EQ(clock->foreign(7)->all_lanes(0), 30u);
}

}  // namespace
}  // namespace lw::order
