#pragma once
// A small program told to the engine by hand, for tests: one CTA of four warps, 8 KiB of shared
// memory and a buffer.

#include <gtest/gtest.h>

#include "order/engine.h"

namespace lw::order {

inline constexpr CtaId kCta{0};
inline constexpr OpId kWrite{1};
inline constexpr OpId kRead{2};
inline constexpr OpId kSync{3};
inline constexpr Mbarrier kObject{kCta, 4096};

class Program : public ::testing::Test {
 protected:
  explicit Program(Options options = {}) : engine(std::move(options), nullptr) {
    engine.declare_buffer(0x1000, 4096);
    engine.begin_grid(GridId{0}, {});
    engine.begin_cta(kCta, GridId{0}, 128, 8192);
  }
  Warp& warp(uint16_t index) { return engine.warp(kCta, WarpId{index}); }
  void write(uint16_t index, uint64_t base, LaneMask lanes = kAllLanes) {
    engine.write_contiguous(warp(index), kWrite, lanes, Space::kShared, base, 4);
  }
  void read(uint16_t index, uint64_t base, LaneMask lanes = kAllLanes) {
    engine.read_contiguous(warp(index), kRead, lanes, Space::kShared, base, 4);
  }
  void arrive(uint16_t index, BarrierKind kind = BarrierKind::kSync) {
    engine.barrier_arrive(warp(index), kSync, BarrierId{1}, kind, kAllLanes);
  }
  void sync(std::initializer_list<uint16_t> warps) {
    for (uint16_t index : warps) arrive(index);
    engine.barrier_complete(kCta, BarrierId{1});
  }
  const std::vector<RaceGroup>& races() { return engine.finish().races; }
  void expect_race(RuleId rule) {
    ASSERT_EQ(races().size(), 1u);
    EXPECT_EQ(diagnose::rule(races()[0].first.rule).id, diagnose::rule(rule).id);
    EXPECT_EQ(races()[0].first.tier, Tier::kRace);
  }

  Engine engine;
};

}  // namespace lw::order
