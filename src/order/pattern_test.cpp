#include "order/pattern.h"

#include <gtest/gtest.h>

namespace lw::order {
namespace {

EachShape lanes_at(uint64_t start, LaneMask lanes, uint64_t (*distance)(int lane)) {
  EachShape each;
  each.lanes = lanes;
  each.bytes = 4;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (lanes >> lane & 1) each.address[lane] = start + distance(lane);
  }
  return each;
}

// What a pattern says is what a look at the addresses themselves says.
void expect_same(Pattern& pattern, const EachShape& each) {
  const Scan said = pattern.scan();
  const Scan seen = scan(each);
  EXPECT_EQ(said.row.regular, seen.row.regular);
  EXPECT_EQ(said.row.base, seen.row.base);
  EXPECT_EQ(said.row.stride, seen.row.stride);
  EXPECT_EQ(said.aligned, seen.aligned);
  EXPECT_EQ(said.whole, seen.whole);
  if (seen.whole) {
    EXPECT_EQ(said.low, seen.low);
    EXPECT_EQ(said.place, seen.place);
  }
  Covers covers;
  find_covers(each, covers);
  if (pattern.covers.count == 0) find_covers(pattern.distance, pattern.covers);
  ASSERT_EQ(pattern.covers.count, covers.count);
  for (size_t i = 0; i < static_cast<size_t>(covers.count); ++i) {
    EXPECT_EQ(pattern.start + pattern.covers.cover[i].base, covers.cover[i].base);
    EXPECT_EQ(pattern.covers.cover[i].cells, covers.cover[i].cells);
    EXPECT_EQ(pattern.covers.cover[i].injective, covers.cover[i].injective);
  }
}

uint64_t in_a_row(int lane) { return static_cast<uint64_t>(lane) * 4; }
uint64_t swapped(int lane) { return static_cast<uint64_t>(lane ^ 1) * 4; }
uint64_t spread(int lane) { return static_cast<uint64_t>(lane * 37 % 32) * 132; }
uint64_t downwards(int lane) { return 0 - static_cast<uint64_t>(lane) * 8192; }
uint64_t doubled(int lane) { return static_cast<uint64_t>(lane / 2) * 4; }

TEST(Patterns, SayOfEveryStartWhatALookWouldSay) {
  Patterns patterns;
  for (const auto distance : {in_a_row, swapped, spread, downwards, doubled}) {
    for (LaneMask lanes : {kAllLanes, 0x0ff0ff01u}) {
      for (uint64_t start : {0x40000u, 0x40080u, 0x41000u, 0x40084u, 0x7ffffff0u}) {
        const EachShape each = lanes_at(start, lanes, distance);
        expect_same(patterns.of(each), each);
      }
    }
  }
}

TEST(Patterns, KnowLanesAgainAtAnotherStart) {
  Patterns patterns;
  Pattern& first = patterns.of(lanes_at(0x40000, kAllLanes, spread));
  find_covers(first.distance, first.covers);
  const Pattern& again = patterns.of(lanes_at(0x83000, kAllLanes, spread));
  EXPECT_NE(again.covers.count, 0);
}

TEST(Patterns, OfLanesElsewhereAreMadeAnew) {
  Patterns patterns;
  Pattern& first = patterns.of(lanes_at(0x40000, kAllLanes, spread));
  find_covers(first.distance, first.covers);
  EXPECT_EQ(patterns.of(lanes_at(0x40000, kAllLanes, doubled)).covers.count, 0);
}

}  // namespace
}  // namespace lw::order
