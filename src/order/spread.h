#pragma once
// From lanes to the cells that they cover: each lane of a window becomes `cells` neighbouring bits.

#include <array>
#include <cstdint>

#include "order/shadow.h"

namespace lw::order {

template <int kCells>
constexpr uint32_t spread_slowly(uint32_t lanes) {
  uint32_t cells = 0;
  for (int lane = 0; lane < kCellsPerBlock / kCells; ++lane) {
    const uint32_t group = kCells == 32 ? ~0u : (1u << kCells) - 1;
    if (lanes >> lane & 1) cells |= group << (lane * kCells);
  }
  return cells;
}

template <int kCells, int kLanes>
constexpr auto spread_table() {
  std::array<uint32_t, 1 << kLanes> table{};
  for (uint32_t lanes = 0; lanes < table.size(); ++lanes)
    table[lanes] = spread_slowly<kCells>(lanes);
  return table;
}

inline constexpr auto kSpread2 = spread_table<2, 8>();
inline constexpr auto kSpread4 = spread_table<4, 8>();
inline constexpr auto kSpread8 = spread_table<8, 4>();

// `lanes`: the lanes from the block's first one on; `log_cells`: log2 of the cells per lane (0..3).
inline CellMask spread(LaneMask lanes, int log_cells) {
  switch (log_cells) {
    case 0:
      return lanes;
    case 1:
      return kSpread2[lanes & 0xff] | kSpread2[lanes >> 8 & 0xff] << 16;
    case 2:
      return kSpread4[lanes & 0xff];
    default:
      return kSpread8[lanes & 0xf];
  }
}

}  // namespace lw::order
