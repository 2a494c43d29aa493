// Pairs of CTAs that multiply together (rule book 12): one small program per rule.

#include "order/cluster_fixture.h"

namespace lw::order {
namespace {

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
