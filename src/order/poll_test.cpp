// Flags that are polled (D-6), told by hand: warp 0 writes, warp 1 reads.

#include <gtest/gtest.h>

#include "order/engine.h"

namespace lw::order {
namespace {

constexpr CtaId kCta{0};
constexpr OpId kStore{1};
constexpr OpId kLoad{2};
constexpr OpId kSync{3};
constexpr uint64_t kFlag = 128;

class Polls : public ::testing::Test {
 protected:
  Polls() : engine({}, nullptr) {
    engine.begin_grid(GridId{0}, {});
    engine.begin_cta(kCta, GridId{0}, 96, 1024);
  }
  Warp& warp(uint16_t index) { return engine.warp(kCta, WarpId{index}); }
  void access(uint16_t index, Kind kind, Strength strength, bool poll, LaneMask lanes = 1) {
    Access access;
    access.op = kind == Kind::kRead ? kLoad : kStore;
    access.lanes = lanes;
    access.kind = kind;
    access.strength = strength;
    access.scope = scope;
    access.poll = poll;
    access.result_live = kind == Kind::kRead && index == 1;
    access.at = Addresses::uniform(kFlag);
    engine.access(warp(index), access);
  }
  void set(uint16_t index = 0) { access(index, Kind::kWrite, Strength::kRelease, false); }
  void poll(LaneMask lanes = 1) { access(1, Kind::kRead, Strength::kAcquire, true, lanes); }
  // Acquires whatever was released; that it waited for it is not asked here.
  void take_over(uint16_t index) { access(index, Kind::kRead, Strength::kAcquire, false); }
  void again(LaneMask lanes = 1) { engine.poll_again(warp(1), kLoad, lanes); }
  void sync() {
    for (uint16_t index : {0, 1})
      engine.barrier_arrive(warp(index), kSync, BarrierId{1}, BarrierKind::kSync, kAllLanes);
    engine.barrier_complete(kCta, BarrierId{1});
  }
  const std::vector<Unforced>& unforced() { return engine.finish().unforced; }

  Engine engine;
  Scope scope = Scope::kCta;
};

TEST_F(Polls, AReaderThatWentAroundWaitsForTheWrite) {
  poll();
  again();
  set();
  poll();
  EXPECT_TRUE(unforced().empty());
}

TEST_F(Polls, AReaderThatCameLateMayWaitForNothing) {
  set();
  poll();
  ASSERT_EQ(unforced().size(), 1u);
  EXPECT_EQ(unforced()[0].rule, RuleId::kD6);
  EXPECT_TRUE(unforced()[0].awaited);
  ASSERT_EQ(engine.finish().awaited.size(), 1u);
  EXPECT_EQ(engine.finish().awaited[0].write.op, kStore);
}

TEST_F(Polls, AWriteThatIsKnownIsNotWaitedFor) {
  set();
  sync();
  poll();
  EXPECT_TRUE(unforced().empty());
}

TEST_F(Polls, TwoWritersMayEachBeEnough) {
  poll();
  again();
  set(0);
  set(2);
  poll();
  ASSERT_EQ(unforced().size(), 1u);
  EXPECT_FALSE(unforced()[0].awaited);
}

TEST_F(Polls, AWriterThatWroteTwiceMayHaveBeenSeenAtOnce) {
  poll();
  again();
  set();
  set();
  poll();
  ASSERT_EQ(unforced().size(), 1u);
  EXPECT_FALSE(unforced()[0].awaited);
}

// Warp 2 waits for warp 0, and warp 1 for warp 2.
TEST_F(Polls, TurnsThatWereAllSeenAreForced) {
  scope = Scope::kGpu;
  poll();
  again();
  set(0);
  poll();
  again();
  take_over(2);
  set(2);
  poll();
  EXPECT_TRUE(unforced().empty());
}

TEST_F(Polls, TurnsThatWereNotAllSeenAreAwaited) {
  scope = Scope::kGpu;
  set(0);
  take_over(2);
  set(2);
  poll();
  ASSERT_EQ(unforced().size(), 1u);
  EXPECT_TRUE(unforced()[0].awaited);
  EXPECT_EQ(engine.finish().awaited.size(), 2u);
}

// What the first one had released before would be missed by a reader that comes late.
TEST_F(Polls, TurnsThatAreNotPassedOnByAReleaseAreNoChain) {
  scope = Scope::kGpu;
  poll();
  again();
  set(0);
  poll();
  again();
  take_over(2);
  access(2, Kind::kWrite, Strength::kRelaxed, false);
  poll();
  ASSERT_EQ(unforced().size(), 1u);
  EXPECT_FALSE(unforced()[0].awaited);
}

TEST_F(Polls, AWriteAfterwardsMayMakeTheTestFail) {
  poll();
  again();
  set();
  poll();
  set();
  ASSERT_EQ(unforced().size(), 1u);
  EXPECT_EQ(unforced()[0].first.kind, Kind::kRead);
}

TEST_F(Polls, AWriteBehindTheReaderDoesNot) {
  poll();
  again();
  set();
  poll();
  sync();
  set();
  EXPECT_TRUE(unforced().empty());
}

TEST_F(Polls, WhatAFailedReadTaughtDoesNotCount) {
  poll();
  again();
  set();
  poll();
  again();
  set();
  poll();
  ASSERT_EQ(unforced().size(), 1u);
  EXPECT_FALSE(unforced()[0].awaited);
}

TEST_F(Polls, AReaderThatIsStuckMayHaveMissedWhatItWaitsFor) {
  poll();
  again();
  set();
  set();
  poll();
  again();
  engine.poll_blocked(warp(1), kLoad, 1);
  ASSERT_EQ(unforced().size(), 1u);
  EXPECT_EQ(unforced()[0].rule, RuleId::kD6);
}

TEST_F(Polls, AReaderThatSawAllThatThereWasIsStuckWhateverTheOrder) {
  poll();
  again();
  set();
  poll();
  again();
  poll();
  again();
  engine.poll_blocked(warp(1), kLoad, 1);
  EXPECT_TRUE(unforced().empty());
}

TEST_F(Polls, AWeakStoreBeforeThePollIsTheStart) {
  engine.write_contiguous(warp(1), kSync, 1, Space::kShared, kFlag, 4);
  sync();
  poll();
  again();
  poll();
  again();
  set();
  poll();
  EXPECT_TRUE(unforced().empty());
}

TEST_F(Polls, OnlyTheLanesThatWentAroundWait) {
  poll(3);
  again(1);
  set();
  poll(1);
  ASSERT_EQ(unforced().size(), 1u);  // the other lane had passed before the write
  EXPECT_EQ(unforced()[0].first.lanes, 2u);
}

TEST_F(Polls, APollOfAnEarlierLoopStaysPassed) {
  poll();
  again();
  set();
  poll();
  poll();  // the loop is entered again
  again();
  set();
  poll();
  ASSERT_EQ(unforced().size(), 1u);
  EXPECT_EQ(unforced()[0].first.kind, Kind::kRead);
}

// M-15: warp 1's strong read has seen the flag, and it may go over the word by a plain store.
class Observed : public Polls {
 protected:
  void store(uint16_t index) {
    Access access;
    access.op = kSync;
    access.lanes = 1;
    access.kind = Kind::kWrite;
    access.at = Addresses::uniform(kFlag);
    engine.access(warp(index), access);
  }
  void write(uint16_t index) { access(index, Kind::kWrite, Strength::kRelaxed, false); }
  void see() { access(1, Kind::kRead, Strength::kRelaxed, false); }
  size_t races() { return engine.finish().races.size(); }
};

TEST_F(Observed, APlainStoreComesAfterWhatItsLaneHasSeen) {
  write(0);
  see();
  store(1);
  EXPECT_EQ(races(), 0u);
}

TEST_F(Observed, APlainStoreOfAnotherHasSeenNothing) {
  write(0);
  see();
  store(2);
  EXPECT_EQ(races(), 2u);  // with the write and with the read
}

TEST_F(Observed, AWriteThatWasGoneOverIsNotSeen) {
  write(0);
  write(2);
  see();
  store(1);
  EXPECT_EQ(races(), 1u);
}

TEST_F(Observed, AnEarlierLookIsNotForgotten) {
  write(0);
  see();
  write(2);
  see();
  store(1);
  EXPECT_EQ(races(), 0u);
}

}  // namespace
}  // namespace lw::order
