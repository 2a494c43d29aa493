#include "order/pattern.h"

namespace lw::order {
namespace {

constexpr uint64_t kBlockBytes = uint64_t{1} << kBlockShift;
// Lanes may lie below the first one: distances are not negative all the same.
constexpr uint64_t kBelow = uint64_t{1} << 30;

uint64_t distance_of(const EachShape& each, int lane, uint64_t start) {
  return each.lanes >> lane & 1 ? each.address[lane] - start : 0;
}

size_t slot_of(const EachShape& each, uint64_t start) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15u;
  uint64_t hash = each.lanes * kOdd + each.bytes;
  for (int lane : {0, 1, 2, 4, 8, 16, 31}) {
    hash += distance_of(each, lane, start) * (kOdd + 2 * static_cast<uint64_t>(lane));
  }
  return (hash ^ hash >> 32) * kOdd >> 56;
}

}  // namespace

Scan Pattern::scan() const {
  Scan here = found;
  here.row.base += start;
  here.low += start;
  if (!here.whole) return here;
  const auto before = static_cast<uint8_t>(start >> __builtin_ctz(distance.bytes) & 31);
  for (uint8_t& place : here.place) place = (place + before) & 31;
  return here;
}

Pattern& Patterns::of(const EachShape& each) {
  if (slots_.empty()) slots_.resize(kSlots);
  const uint64_t start = (each.address[__builtin_ctz(each.lanes)] & ~(kBlockBytes - 1)) - kBelow;
  Pattern& pattern = slots_[slot_of(each, start) % kSlots];
  pattern.start = start;
  if (is_displaced(each, pattern.distance, start)) return pattern;
  pattern.distance = each;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    pattern.distance.address[lane] = distance_of(each, lane, start);
  }
  pattern.found = order::scan(pattern.distance);
  pattern.covers.count = 0;
  return pattern;
}

}  // namespace lw::order
