#include "order/lanes.h"

#include <bit>

#include "order/shadow.h"

namespace lw::order::LW_SIMD_NAMESPACE {
namespace {

// Lanes that are off have no part in it.
bool some_ascend(const EachShape& each) {
  uint64_t last = 0;
  for (LaneMask rest = each.lanes; rest != 0; rest &= rest - 1) {
    const uint64_t block = each.address[std::countr_zero(rest)] >> kBlockShift;
    if (block < last) return false;
    last = block;
  }
  return true;
}

bool all_ascend(const EachShape& each) {
  uint64_t descends = 0;
  for (int lane = 1; lane < kWarpSize; ++lane) {
    descends |= each.address[lane] >> kBlockShift < each.address[lane - 1] >> kBlockShift;
  }
  return descends == 0;
}

void find_whole_row(const EachShape& each, Scan& scan) {
  const int shift = std::countr_zero(each.bytes);
  uint64_t low = each.address[0];
  for (uint64_t address : each.address) low = address < low ? address : low;
  uint64_t far = 0;
  uint32_t taken = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t index = (each.address[lane] - low) >> shift;
    far |= index;
    taken |= 1u << (index & 31);
    scan.place[lane] = static_cast<uint8_t>(each.address[lane] >> shift & 31);
  }
  scan.whole = far < kWarpSize && taken == ~0u;
  scan.low = low;
}

}  // namespace

Scan scan(const EachShape& each) {
  Scan result;
  uint64_t bits = 0;
  for (uint64_t address : each.address) bits |= address;
  result.aligned = (bits & (each.bytes - 1)) == 0;
  const bool all = each.lanes == kAllLanes;
  result.ascends = all ? all_ascend(each) : some_ascend(each);
  if (all && result.aligned) find_whole_row(each, result);
  return result;
}

}  // namespace lw::order::LW_SIMD_NAMESPACE
