#include "machine/mbarrier.h"

#include <gtest/gtest.h>

namespace lw::machine {
namespace {

TEST(MbarrierTest, PhaseCompletesWithTheLastArrival) {
  Mbarrier object(2);
  EXPECT_FALSE(object.arrive({}).completed);
  EXPECT_EQ(object.pending(), 1u);
  EXPECT_TRUE(object.arrive({}).completed);
  EXPECT_EQ(object.phase(), 1);
  EXPECT_EQ(object.pending(), 2u);
}

TEST(MbarrierTest, FreshObjectPassesParityOne) {
  Mbarrier object(1);
  EXPECT_TRUE(object.passes_parity(1));
  EXPECT_FALSE(object.passes_parity(0));
  EXPECT_EQ(object.last_complete(), Mbarrier::kBeforeFirst);
  object.arrive({});
  EXPECT_TRUE(object.passes_parity(0));
  EXPECT_FALSE(object.passes_parity(1));
}

TEST(MbarrierTest, BytesHoldThePhase) {
  Mbarrier object(1);
  EXPECT_FALSE(object.arrive_expect(256, {}).completed);
  EXPECT_EQ(object.tx(), 256);
  EXPECT_FALSE(object.complete(128).completed);
  EXPECT_TRUE(object.complete(128).completed);
  EXPECT_EQ(object.phase(), 1);
}

TEST(MbarrierTest, BytesMayComeBeforeTheyAreExpected) {
  Mbarrier object(1);
  EXPECT_FALSE(object.complete(64).completed);
  EXPECT_EQ(object.tx(), -64);
  EXPECT_TRUE(object.arrive_expect(64, {}).completed);
}

TEST(MbarrierTest, DropLowersTheNextPhase) {
  Mbarrier object(3);
  object.arrive({.drop = true});
  object.arrive({.count = 2});
  EXPECT_EQ(object.phase(), 1);
  EXPECT_EQ(object.pending(), 2u);
}

TEST(MbarrierTest, StateNamesPhaseAndPendingBeforeTheArrival) {
  Mbarrier object(3);
  const uint64_t state = object.state();
  object.arrive({.count = 1, .no_complete = true});
  EXPECT_EQ(Mbarrier::pending_of(state), 3u);
  EXPECT_FALSE(object.passes_state(state));
  object.arrive({.count = 2});
  EXPECT_EQ(object.check_state(state), MbarrierFault::none);
  EXPECT_TRUE(object.passes_state(state));
  object.arrive({.count = 3});
  EXPECT_EQ(object.check_state(state), MbarrierFault::phase_not_waitable);
}

TEST(MbarrierTest, PendingCanBeRaisedInThePhase) {
  Mbarrier object(1);
  EXPECT_EQ(object.add_pending(), MbarrierFault::none);
  EXPECT_FALSE(object.arrive({}).completed);
  EXPECT_TRUE(object.arrive({}).completed);
  EXPECT_EQ(object.pending(), 1u);
}

TEST(MbarrierTest, RefusesWhatTheManualLeavesUndefined) {
  EXPECT_EQ(Mbarrier::check_count(0), MbarrierFault::count_range);
  EXPECT_EQ(Mbarrier::check_count(1u << 20), MbarrierFault::count_range);
  EXPECT_EQ(Mbarrier::check_count((1u << 20) - 1), MbarrierFault::none);
  Mbarrier object(2);
  EXPECT_EQ(object.arrive({.count = 3}).fault, MbarrierFault::too_many_arrivals);
  EXPECT_EQ(object.arrive({.count = 2, .no_complete = true}).fault, MbarrierFault::completes_phase);
  EXPECT_EQ(object.arrive({.count = 2, .drop = true}).fault, MbarrierFault::drops_to_zero);
  EXPECT_EQ(object.expect(1 << 20).fault, MbarrierFault::tx_range);
  EXPECT_EQ(object.complete(1 << 20).fault, MbarrierFault::tx_range);
  EXPECT_EQ(object.pending(), 2u);
  EXPECT_EQ(object.tx(), 0);
}

TEST(MbarrierTest, NoCompleteIsFineWhileBytesAreOutstanding) {
  Mbarrier object(1);
  object.expect(16);
  EXPECT_EQ(object.arrive({.count = 1, .no_complete = true}).fault, MbarrierFault::none);
  EXPECT_TRUE(object.complete(16).completed);
}

TEST(MbarrierTableTest, FindsObjectsAndOverlaps) {
  MbarrierTable table;
  EXPECT_EQ(table.overlapping(0, 1024), nullptr);
  table.add(64, 1, base::OpId(7));
  table.add(16, 2, base::OpId(8));
  ASSERT_NE(table.find(64), nullptr);
  EXPECT_EQ(table.find(64)->initialised_by, base::OpId(7));
  EXPECT_EQ(table.find(24), nullptr);
  EXPECT_EQ(table.overlapping(0, 16), nullptr);
  EXPECT_EQ(table.overlapping(24, 40), nullptr);
  ASSERT_NE(table.overlapping(23, 1), nullptr);
  EXPECT_EQ(table.overlapping(23, 1)->offset, 16u);
  EXPECT_EQ(table.overlapping(60, 8)->offset, 64u);
  table.remove(16);
  EXPECT_EQ(table.overlapping(16, 8), nullptr);
  EXPECT_NE(table.overlapping(64, 4), nullptr);
}

}  // namespace
}  // namespace lw::machine
