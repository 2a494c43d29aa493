// Bulk copies: completion, proxy fences, groups, told to the engine by hand.

#include "order/program_fixture.h"

namespace lw::order {
namespace {

class Bulk : public Program {
 protected:
  void SetUp() override {
    engine.mbarrier_init(warp(0), kSync, 1, kObject);
    sync({0, 1});
  }
  AsyncId load(LaneId lane = LaneId{0}) {
    const Range to{0, 128};
    const AsyncAccess side{Space::kShared, Kind::kWrite, kCta, {&to, 1}, 4, Scope::kGpu};
    return engine.bulk_load(warp(0), kWrite, lane, kObject, {&side, 1});
  }
  void store() {
    const Range from{0, 128};
    const Range to{0x1000, 128};
    const AsyncAccess sides[] = {{Space::kShared, Kind::kRead, kCta, {&from, 1}, 4, Scope::kGpu},
                                 {Space::kGlobal, Kind::kWrite, kCta, {&to, 1}, 4, Scope::kGpu}};
    engine.bulk_store(warp(0), kRead, LaneId{0}, sides);
  }
  void finish(AsyncId copy) {
    engine.mbarrier_arrive(warp(0), kSync, 1, kObject, Strength::kRelease, Scope::kCta);
    engine.bulk_complete(copy);
    engine.mbarrier_complete(kObject);
  }
  void wait(uint16_t index) {
    engine.mbarrier_wait(warp(index), kSync, kAllLanes, kObject, Strength::kAcquire, Scope::kCta);
  }
};

TEST_F(Bulk, AWaitOrdersTheCopyWithNoFence) {
  finish(load());
  wait(1);
  read(1, 0);
  EXPECT_TRUE(races().empty());
}

TEST_F(Bulk, WithoutAWaitTheReadRaces) {
  finish(load());
  read(1, 0);
  expect_race(RuleId::kTM3);
}

TEST_F(Bulk, AStoreOfGenericDataNeedsAProxyFence) {
  write(0, 0);
  engine.warp_sync(warp(0), kSync, kAllLanes);
  store();
  expect_race(RuleId::kPX1);
}

TEST_F(Bulk, AFenceOfTheIssuerAfterTheBarrierIsEnough) {
  write(1, 0);
  sync({0, 1});
  engine.fence_proxy_async(warp(0), 1, FenceSpaces::kShared);
  store();
  EXPECT_TRUE(races().empty());
}

TEST_F(Bulk, AnElectedFenceBeforeTheBarrierIsNot) {
  write(1, 0);
  engine.fence_proxy_async(warp(0), 1, FenceSpaces::kShared);
  sync({0, 1});
  store();
  expect_race(RuleId::kPX1);
}

TEST_F(Bulk, ASourceIsFreeOnceItsReadsAreDone) {
  store();
  engine.bulk_commit(warp(0), 1);
  engine.bulk_wait(warp(0), 1, 0, true);
  sync({0, 1});
  write(1, 0);
  EXPECT_TRUE(races().empty());
}

TEST_F(Bulk, AndNotBefore) {
  store();
  engine.bulk_commit(warp(0), 1);
  sync({0, 1});
  write(1, 0);
  expect_race(RuleId::kTM10);
}

// Slot reuse: read by warp 1 behind a barrier, then a copy over it with no proxy fence (PX-3).
TEST_F(Bulk, AReadBehindABarrierNeedsNoFenceByDefault) {
  finish(load());
  wait(1);
  read(1, 0);
  sync({0, 1});
  finish(load());
  EXPECT_TRUE(races().empty());
  EXPECT_EQ(engine.finish().practice, std::set{RuleId::kPX3});
}

TEST_F(Bulk, AReadOfTheIssuingWarpDoes) {
  finish(load());
  wait(0);
  read(0, 0);
  engine.warp_sync(warp(0), kSync, kAllLanes);
  load();
  expect_race(RuleId::kPX3);
}

}  // namespace
}  // namespace lw::order
