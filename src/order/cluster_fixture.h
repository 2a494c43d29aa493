#pragma once
// Two CTAs of a cluster, told to the engine by hand.

#include <gtest/gtest.h>

#include "order/engine.h"

namespace lw::order {

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
  // A thread of the peer touches the memory and signals, the owner waits and touches it too.
  void hand_over(Kind by_peer, Scope given, Scope taken, Kind by_owner) {
    init();
    touch(kPeer, by_peer);
    engine.warp_sync(warp(kPeer), kArrive, kAllLanes);
    signal(given);
    wait(taken);
    touch(kOwner, by_owner);
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

}  // namespace lw::order
