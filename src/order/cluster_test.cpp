// Clusters: one small program per rule of chapter 5, and of what goes from CTA to CTA.

#include "order/cluster_fixture.h"

namespace lw::order {
namespace {

class StrictClusterProgram : public ClusterProgram {
 protected:
  StrictClusterProgram() : ClusterProgram(true) {}
};

TEST_F(ClusterProgram, TheBarrierOrdersWhatCameBeforeItEverywhere) {
  touch(kOwner, Kind::kWrite);
  sync();
  touch(kPeer, Kind::kRead);
  sync();
  touch(kOwner, Kind::kWrite);
  expect_clean();
}

TEST_F(ClusterProgram, WithoutTheBarrierAPeerReadsTooEarly) {
  sync();
  touch(kOwner, Kind::kWrite);
  touch(kPeer, Kind::kRead);
  expect(RuleId::kK1);
  EXPECT_EQ(races()[0].first.owner, kOwner);
  EXPECT_EQ(races()[0].first.later.cta, kPeer);
}

TEST_F(ClusterProgram, AWriteByAPeerMeetsTheOwner) {
  sync();
  touch(kPeer, Kind::kWrite);
  touch(kOwner, Kind::kRead);
  expect(RuleId::kK1);
}

TEST_F(ClusterProgram, NothingIsOrderedBetweenArriveAndWait) {
  touch(kOwner, Kind::kWrite);
  sync();
  arrive_all();
  touch(kOwner, Kind::kWrite);
  wait_all();
  touch(kPeer, Kind::kRead);
  expect(RuleId::kK1);
}

TEST_F(ClusterProgram, ARelaxedArrivalOrdersNoMemory) {
  touch(kOwner, Kind::kWrite);
  sync(Strength::kRelaxed);
  touch(kPeer, Kind::kRead);
  expect(RuleId::kK3);
}

TEST_F(ClusterProgram, AFenceBeforeARelaxedArrivalReleases) {
  touch(kOwner, Kind::kWrite);
  engine.fence(warp(kOwner), kArrive, kAllLanes, FenceKind::kAcqRel, Scope::kCluster);
  sync(Strength::kRelaxed);
  touch(kPeer, Kind::kRead);
  expect_clean();
}

TEST_F(ClusterProgram, AFenceOfTheCtaIsTooNarrow) {
  touch(kOwner, Kind::kWrite);
  engine.fence(warp(kOwner), kArrive, kAllLanes, FenceKind::kAcqRel, Scope::kCta);
  sync(Strength::kRelaxed);
  touch(kPeer, Kind::kRead);
  expect(RuleId::kK11);
}

TEST_F(ClusterProgram, APeerMustHaveStarted) {
  touch(kPeer, Kind::kWrite);
  ASSERT_EQ(engine.finish().errors.size(), 1u);
  EXPECT_EQ(engine.facts().errors[0].rule, RuleId::kK7);
}

TEST_F(ClusterProgram, ASignalAtTheScopeOfTheClusterOrders) {
  hand_over(Kind::kWrite, Scope::kCluster, Scope::kCluster, Kind::kRead);
  expect_clean();
}

TEST_F(ClusterProgram, ASignalGivenAtTheScopeOfACtaDoesNot) {
  hand_over(Kind::kWrite, Scope::kCta, Scope::kCluster, Kind::kRead);
  expect(RuleId::kK11);
}

TEST_F(ClusterProgram, NorDoesOneTakenAtTheScopeOfACta) {
  hand_over(Kind::kWrite, Scope::kCluster, Scope::kCta, Kind::kRead);
  expect(RuleId::kK11);
}

TEST_F(ClusterProgram, ASlotIsReleasedInPractice) {
  hand_over(Kind::kRead, Scope::kCta, Scope::kCta, Kind::kWrite);
  EXPECT_TRUE(races().empty());
  EXPECT_TRUE(engine.facts().practice.contains(RuleId::kK12));
}

TEST_F(StrictClusterProgram, ASlotIsNotReleasedByTheText) {
  hand_over(Kind::kRead, Scope::kCta, Scope::kCta, Kind::kWrite);
  expect(RuleId::kK12, Tier::kStrict);
}

TEST_F(ClusterProgram, ARelaxedBarrierPublishesFencedInitsOnly) {
  engine.mbarrier_init(warp(kOwner), kInit, kOne, kObject);
  engine.fence_mbarrier_init(warp(kOwner), kOne);
  sync(Strength::kRelaxed);
  signal(Scope::kCluster);
  expect_clean();
}

TEST_F(ClusterProgram, AFenceOfAnotherThreadPublishesNoInit) {
  engine.mbarrier_init(warp(kOwner), kInit, kOne, kObject);
  engine.fence_mbarrier_init(warp(kOwner), 2);
  sync(Strength::kRelaxed);
  signal(Scope::kCluster);
  expect(RuleId::kMB3);
}

// Copies to another CTA, signalled there (TM-6) or here (TM-7).

class CopyProgram : public ClusterProgram {
 protected:
  AsyncId copy(CtaId to, CtaId by = kPeer) {
    const Range from{0x1000, 128}, there{0, 128};
    const AsyncAccess accesses[] = {
        {Space::kGlobal, Kind::kRead, {}, {&from, 1}, 4, Scope::kGpu},
        {Space::kShared, Kind::kWrite, to, {&there, 1}, 4, Scope::kGpu}};
    return engine.bulk_load(warp(by), kCopy, kElected, kObject, accesses);
  }
  void complete(AsyncId copy) {
    engine.mbarrier_arrive(warp(kOwner), kArrive, kOne, kObject, Strength::kRelease, Scope::kCta);
    engine.bulk_complete(copy);
    engine.mbarrier_complete(kObject);
  }
};

TEST_F(CopyProgram, WhoWaitsWhereItLandsKnowsIt) {
  init();
  complete(copy(kOwner));
  wait(Scope::kCta);
  touch(kOwner, Kind::kRead);
  expect_clean();
}

TEST_F(CopyProgram, WhoDoesNotWaitDoesNot) {
  init();
  complete(copy(kOwner));
  touch(kOwner, Kind::kRead);
  expect(RuleId::kTM3);
}

TEST_F(CopyProgram, TheObjectMayBeInTheOtherCtaOfAPair) {
  init();
  complete(copy(kPeer));
  wait(Scope::kCta);
  Access access;
  access.op = kRead;
  access.at = Addresses::contiguous(0);
  access.cta = kPeer;
  engine.access(warp(kOwner), access);
  expect_clean();
}

TEST_F(CopyProgram, ItsSlotMustBeFreeInThatCta) {
  init();
  touch(kOwner, Kind::kRead, 1);
  copy(kOwner);
  expect(RuleId::kK1);
}

// The end of a CTA (K-8).

TEST_F(ClusterProgram, ACtaEndsAfterWhatItsPeersDidThere) {
  sync();
  touch(kPeer, Kind::kRead);
  sync();
  end(kOwner);
  expect_clean();
}

TEST_F(ClusterProgram, ACtaEndsUnderItsPeersRead) {
  sync();
  touch(kPeer, Kind::kRead);
  end(kOwner);
  expect(RuleId::kK8);
  EXPECT_EQ(races()[0].first.later.agent, Agent::kExit);
}

TEST_F(ClusterProgram, ARelaxedBarrierBeforeTheEndIsPractice) {
  sync();
  touch(kPeer, Kind::kRead);
  sync(Strength::kRelaxed);
  end(kOwner);
  EXPECT_TRUE(races().empty());
  EXPECT_TRUE(engine.facts().practice.contains(RuleId::kK8));
}

TEST_F(ClusterProgram, ACtaEndsBeforeAnArrivalIsKnown) {
  init();
  signal(Scope::kCluster);
  end(kOwner);
  expect(RuleId::kK8);
}

TEST_F(ClusterProgram, WhoWaitsForTheArrivalMayEnd) {
  init();
  signal(Scope::kCta);
  wait(Scope::kCta);
  end(kOwner);
  expect_clean();
}

TEST_F(CopyProgram, ACtaEndsBeforeItKnowsOfACopy) {
  init();
  complete(copy(kOwner));
  end(kOwner);
  // The bytes, and the object that they are counted at.
  ASSERT_EQ(races().size(), 1u);
  EXPECT_EQ(races()[0].first.rule, RuleId::kK8);
}

// Words at the scope of the cluster (M-12).

class FlagProgram : public ClusterProgram {
 protected:
  void flag(CtaId by, Kind kind, Strength strength, Scope scope) {
    Access access;
    access.op = kind == Kind::kRead ? kWait : kArrive;
    access.lanes = kOne;
    access.kind = kind;
    access.strength = strength;
    access.scope = scope;
    access.cta = kOwner;
    access.at = Addresses::uniform(4096);
    engine.access(warp(by), access);
  }
  void pass(Scope released, Scope acquired) {
    sync();
    touch(kPeer, Kind::kWrite);
    engine.warp_sync(warp(kPeer), kArrive, kAllLanes);
    flag(kPeer, Kind::kWrite, Strength::kRelease, released);
    flag(kOwner, Kind::kRead, Strength::kAcquire, acquired);
    engine.warp_sync(warp(kOwner), kArrive, kAllLanes);
    touch(kOwner, Kind::kRead);
  }
};

TEST_F(FlagProgram, AFlagOfTheClusterOrdersItsCtas) {
  pass(Scope::kCluster, Scope::kGpu);
  EXPECT_TRUE(races().empty());
}

TEST_F(FlagProgram, AFlagOfOneCtaDoesNot) {
  pass(Scope::kCta, Scope::kCluster);
  // The flag itself, and the data behind it.
  ASSERT_EQ(races().size(), 2u);
  EXPECT_EQ(races()[1].first.rule, RuleId::kK11);
}

}  // namespace
}  // namespace lw::order
