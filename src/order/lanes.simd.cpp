#include "order/lanes.h"

#include <bit>

#include "order/shadow.h"

namespace lw::order::LW_SIMD_NAMESPACE {
namespace {

bool has_stride(const EachShape& each, uint64_t base, uint64_t stride) {
  uint64_t wrong = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t active = 0 - static_cast<uint64_t>(each.lanes >> lane & 1);
    wrong |= (each.address[lane] ^ (base + static_cast<uint64_t>(lane) * stride)) & active;
  }
  return wrong == 0;
}

Row row_of(const EachShape& each) {
  const int first = std::countr_zero(each.lanes);
  const LaneMask rest = each.lanes & (each.lanes - 1);
  if (rest == 0) return {each.address[first], 0, true};
  const int second = std::countr_zero(rest);
  const auto lanes_between = static_cast<uint64_t>(second - first);
  uint64_t stride = each.address[second] - each.address[first];
  if (lanes_between != 1) stride /= lanes_between;
  const uint64_t base = each.address[first] - static_cast<uint64_t>(first) * stride;
  return {base, stride, has_stride(each, base, stride)};
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

bool is_displaced(const EachShape& each, const EachShape& pattern, uint64_t start) {
  if (each.lanes != pattern.lanes || each.bytes != pattern.bytes) return false;
  uint64_t wrong = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t active = 0 - static_cast<uint64_t>(each.lanes >> lane & 1);
    wrong |= (each.address[lane] ^ (pattern.address[lane] + start)) & active;
  }
  return wrong == 0;
}

Scan scan(const EachShape& each) {
  Scan result;
  uint64_t bits = 0;
  for (uint64_t address : each.address) bits |= address;
  result.aligned = (bits & (each.bytes - 1)) == 0;
  result.row = row_of(each);
  if (each.lanes == kAllLanes && result.aligned) find_whole_row(each, result);
  return result;
}

void find_covers(const EachShape& each, Covers& covers) {
  const CellMask run = each.bytes >= 128 ? kAllCells : (1u << (each.bytes >> kCoarse)) - 1;
  alignas(64) std::array<CellMask, kWarpSize> cells;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    cells[lane] = run << (each.address[lane] >> kCoarse & 31);
  }
  covers.count = 0;
  for (LaneMask rest = each.lanes; rest != 0;) {
    const uint64_t block = each.address[std::countr_zero(rest)] >> kBlockShift;
    LaneMask here = 0;
    for (int lane = 0; lane < kWarpSize; ++lane) {
      here |= each.address[lane] >> kBlockShift == block ? 1u << lane : 0u;
    }
    here &= rest;
    rest &= ~here;
    Cover& cover = covers.cover[static_cast<size_t>(covers.count++)];
    cover = {block << kBlockShift, 0, true};
    for (; here != 0; here &= here - 1) {
      const CellMask lane = cells[std::countr_zero(here)];
      cover.injective &= (cover.cells & lane) == 0;
      cover.cells |= lane;
    }
  }
}

}  // namespace lw::order::LW_SIMD_NAMESPACE
