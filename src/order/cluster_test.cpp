// Clusters: one small program per rule of chapter 5, and of what goes from CTA to CTA.

#include <gtest/gtest.h>

#include "order/engine.h"

namespace lw::order {
namespace {

constexpr OpId kWrite{1}, kRead{2}, kArrive{3}, kWait{4}, kInit{5}, kCopy{6}, kExit{7}, kAlloc{8},
    kMma{9}, kCommit{10}, kLoad{11}, kFree{12};
constexpr CtaId kOwner{0}, kPeer{1};
constexpr LaneId kElected{0};
constexpr LaneMask kOne = 1;
constexpr Mbarrier kObject{kOwner, 4096};
constexpr uint32_t kColumn = 32, kColumns = 32;

// Two CTAs of two warps.
class ClusterProgram : public ::testing::Test {
 protected:
  explicit ClusterProgram(bool strict = false) : engine(options_of(strict), nullptr) {
    engine.declare_buffer(0x1000, 4096);
    engine.begin_grid(GridId{0}, {});
    for (CtaId cta : {kOwner, kPeer}) engine.begin_cta(cta, GridId{0}, 64, 8192, cta.value);
    const CtaId both[] = {kOwner, kPeer};
    engine.begin_cluster(both);
  }
  static Options options_of(bool strict) {
    Options options;
    options.strict = strict;
    return options;
  }
  Warp& warp(CtaId cta, uint16_t index = 0) { return engine.warp(cta, WarpId{index}); }

  // The owner's shared memory at 0, by its own warp or by a warp of the peer.
  void touch(CtaId by, Kind kind, uint16_t index = 0) {
    Access access;
    access.op = kind == Kind::kRead ? kRead : kWrite;
    access.kind = kind;
    access.at = Addresses::contiguous(0);
    access.cta = kOwner;
    engine.access(warp(by, index), access);
  }
  void arrive_all(Strength strength = Strength::kRelease) {
    for (CtaId cta : {kOwner, kPeer})
      for (uint16_t index : {0, 1})
        engine.cluster_arrive(warp(cta, index), kArrive, kAllLanes, strength);
    engine.cluster_complete(kOwner);
  }
  void wait_all() {
    for (CtaId cta : {kOwner, kPeer})
      for (uint16_t index : {0, 1}) engine.cluster_wait(warp(cta, index), kWait, kAllLanes);
  }
  void sync(Strength strength = Strength::kRelease) {
    arrive_all(strength);
    wait_all();
  }
  // An object of one arrival, known to all.
  void init() {
    engine.mbarrier_init(warp(kOwner), kInit, kOne, kObject);
    sync();
  }
  void signal(Scope scope, Strength strength = Strength::kRelease) {
    engine.mbarrier_arrive(warp(kPeer), kArrive, kOne, kObject, strength, scope);
    engine.mbarrier_complete(kObject);
  }
  void wait(Scope scope, Strength strength = Strength::kAcquire) {
    engine.mbarrier_wait(warp(kOwner), kWait, kAllLanes, kObject, strength, scope);
  }
  void end(CtaId cta) {
    for (uint16_t index : {0, 1}) engine.exit_lanes(warp(cta, index), kExit, kAllLanes);
    engine.end_cta(cta);
  }
  const std::vector<RaceGroup>& races() { return engine.finish().races; }
  void expect(RuleId rule, Tier tier = Tier::kRace) {
    ASSERT_EQ(races().size(), 1u);
    EXPECT_EQ(diagnose::rule(races()[0].first.rule).id, diagnose::rule(rule).id);
    EXPECT_EQ(races()[0].first.tier, tier);
  }
  void expect_clean() {
    EXPECT_TRUE(races().empty());
    EXPECT_TRUE(engine.facts().errors.empty());
    EXPECT_TRUE(engine.facts().unforced.empty());
  }

  Engine engine;
};
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
  init();
  touch(kPeer, Kind::kWrite);
  engine.warp_sync(warp(kPeer), kArrive, kAllLanes);
  signal(Scope::kCluster);
  wait(Scope::kCluster);
  touch(kOwner, Kind::kRead);
  expect_clean();
}

TEST_F(ClusterProgram, ASignalGivenAtTheScopeOfACtaDoesNot) {
  init();
  touch(kPeer, Kind::kWrite);
  engine.warp_sync(warp(kPeer), kArrive, kAllLanes);
  signal(Scope::kCta);
  wait(Scope::kCluster);
  touch(kOwner, Kind::kRead);
  expect(RuleId::kK11);
}

TEST_F(ClusterProgram, NorDoesOneTakenAtTheScopeOfACta) {
  init();
  touch(kPeer, Kind::kWrite);
  engine.warp_sync(warp(kPeer), kArrive, kAllLanes);
  signal(Scope::kCluster);
  wait(Scope::kCta);
  touch(kOwner, Kind::kRead);
  expect(RuleId::kK11);
}

TEST_F(ClusterProgram, ASlotIsReleasedInPractice) {
  init();
  touch(kPeer, Kind::kRead);
  engine.warp_sync(warp(kPeer), kArrive, kAllLanes);
  signal(Scope::kCta);
  wait(Scope::kCta);
  touch(kOwner, Kind::kWrite);
  EXPECT_TRUE(races().empty());
  EXPECT_TRUE(engine.facts().practice.contains(RuleId::kK12));
}

TEST_F(StrictClusterProgram, ASlotIsNotReleasedByTheText) {
  init();
  touch(kPeer, Kind::kRead);
  engine.warp_sync(warp(kPeer), kArrive, kAllLanes);
  signal(Scope::kCta);
  wait(Scope::kCta);
  touch(kOwner, Kind::kWrite);
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

// Pairs (rule book 12).

class PairProgram : public ClusterProgram {
 protected:
  void set_up() {
    for (CtaId cta : {kOwner, kPeer})
      engine.tensor_alloc(warp(cta), kAlloc, kAllLanes, kColumn, kColumns, 0);
    engine.mbarrier_init(warp(kOwner), kInit, kOne, kObject);
    engine.mbarrier_init(warp(kPeer), kInit, kOne, {kPeer, kObject.offset});
    sync();
  }
  void mma() {
    const TensorBox d = TensorBox::full(kColumn, 1);
    const Range operand{1024, 128};
    const TensorAccess cells[] = {{Kind::kWrite, true, {&d, 1}, kOwner},
                                  {Kind::kWrite, true, {&d, 1}, kPeer}};
    const AsyncAccess shared[] = {
        {Space::kShared, Kind::kRead, kOwner, {&operand, 1}, 4, Scope::kGpu},
        {Space::kShared, Kind::kRead, kPeer, {&operand, 1}, 4, Scope::kGpu}};
    TensorWork work;
    work.pair = true;
    work.cells = cells;
    work.shared = shared;
    engine.tensor_issue(warp(kOwner, 1), kMma, kElected, work);
  }
  void commit(CtaId to) {
    const Mbarrier object{to, kObject.offset};
    engine.async_arrive(engine.tensor_commit(warp(kOwner, 1), kCommit, kElected, object));
    engine.mbarrier_complete(object);
  }
  void wait_for_commit(CtaId cta) {
    engine.mbarrier_wait(warp(cta), kWait, kAllLanes, {cta, kObject.offset}, Strength::kAcquire,
                         Scope::kCta);
  }
  void load(CtaId cta) {
    const TensorBox box = TensorBox::quarter(0, kColumn, 1);
    engine.tensor_load(warp(cta), kLoad, kAllLanes, {&box, 1});
    engine.tensor_wait_loads(warp(cta), kAllLanes);
  }
  void overwrite(CtaId cta) {
    engine.write_contiguous(warp(cta), kWrite, kAllLanes, Space::kShared, 1024, 4);
  }
};

TEST_F(PairProgram, ACommitToBothTellsBoth) {
  set_up();
  mma();
  for (CtaId cta : {kOwner, kPeer}) commit(cta);
  for (CtaId cta : {kOwner, kPeer}) {
    wait_for_commit(cta);
    load(cta);
    overwrite(cta);
  }
  expect_clean();
}

TEST_F(PairProgram, ACommitToOneTellsTheOtherNothing) {
  set_up();
  mma();
  commit(kOwner);
  load(kPeer);
  expect(RuleId::kT5_26);
}

TEST_F(PairProgram, AnOperandOfThePeerIsStillBeingRead) {
  set_up();
  mma();
  commit(kOwner);
  overwrite(kPeer);
  expect(RuleId::kT5_17);
}

TEST_F(PairProgram, APeersLoadThatIsNotKnownToTheIssuer) {
  set_up();
  load(kPeer);
  mma();
  expect(RuleId::kT5_26);
}

TEST_F(PairProgram, APeersLoadToldAtTheScopeOfACta) {
  set_up();
  load(kPeer);
  signal(Scope::kCta);
  engine.mbarrier_wait(warp(kOwner, 1), kWait, kAllLanes, kObject, Strength::kAcquire, Scope::kCta);
  mma();
  EXPECT_TRUE(races().empty());
  EXPECT_TRUE(engine.facts().practice.contains(RuleId::kT5_27));
}

TEST_F(PairProgram, AFenceTakesWhatARelaxedWaitBringsOfThePeer) {
  set_up();
  load(kPeer);
  signal(Scope::kCluster);
  engine.mbarrier_wait(warp(kOwner, 1), kWait, kAllLanes, kObject, Strength::kRelaxed,
                       Scope::kCluster);
  engine.tensor_fence_after(warp(kOwner, 1), kAllLanes);
  mma();
  expect_clean();
}

TEST_F(PairProgram, WithoutTheFenceARelaxedWaitIsNotEnough) {
  set_up();
  load(kPeer);
  signal(Scope::kCluster);
  engine.mbarrier_wait(warp(kOwner, 1), kWait, kAllLanes, kObject, Strength::kRelaxed,
                       Scope::kCluster);
  mma();
  expect(RuleId::kT5_19);
}

TEST_F(PairProgram, ProductsOfAPairFollowEachOtherInBothCtas) {
  set_up();
  mma();
  mma();
  expect_clean();
}

TEST_F(PairProgram, APeerFreesUnderTheProduct) {
  set_up();
  mma();
  engine.tensor_free(warp(kPeer), kFree, kAllLanes, kColumn, kColumns);
  expect(RuleId::kT5_3);
}

}  // namespace
}  // namespace lw::order
