#include "machine/semantics/warp_matrix/wmma_fragment.h"

#include <algorithm>

namespace lw::machine {

using arith::Place;
using ptx::Mod;

std::optional<WmmaTiling> wmma_tiling(const program::Decoder& decoder) {
  constexpr std::pair<Mod, WmmaTiling> kTilings[] = {
      {Mod::m16n16k16, {{16, 8, 16}, 2, false, false, 16, 16, 16}},
      {Mod::m32n8k16, {{16, 8, 16}, 2, true, false, 32, 8, 16}},
      {Mod::m8n32k16, {{16, 8, 16}, 2, true, true, 8, 32, 16}},
      {Mod::m16n16k8, {{16, 8, 8}, 2, false, false, 16, 16, 8}},
      {Mod::m8n8k4, {{8, 8, 4}, 1, false, false, 8, 8, 4}},
      {Mod::m8n8k32, {{8, 8, 32}, 1, false, false, 8, 8, 32}},
      {Mod::m8n8k128, {{8, 8, 128}, 1, false, false, 8, 8, 128}}};
  for (const auto& [mod, tiling] : kTilings)
    if (decoder.has(mod)) return tiling;
  return std::nullopt;
}

WmmaFragment::WmmaFragment(const WmmaTiling& tiling, WmmaMatrix matrix, int element_bits)
    : tiling_(tiling), role_(matrix), bits_(element_bits) {
  if (tiling.transposed && matrix != WmmaMatrix::c)
    role_ = matrix == WmmaMatrix::a ? WmmaMatrix::b : WmmaMatrix::a;
  const bool has_all =
      role_ == WmmaMatrix::c || role_ == (tiling.over_rows ? WmmaMatrix::a : WmmaMatrix::b);
  tiles_ = has_all ? tiling.tiles : 1;
  const auto [m, n, k] = tiling.tile;
  const int elements = role_ == WmmaMatrix::a ? m * k : role_ == WmmaMatrix::b ? n * k : m * n;
  in_tile_ = elements / (base::kWarpSize * per_register());
  rows_ = matrix == WmmaMatrix::b ? tiling.depth : tiling.rows;
  columns_ = matrix == WmmaMatrix::a ? tiling.depth : tiling.columns;
}

Place WmmaFragment::place_in_tile(int lane, int r, int i) const {
  if (role_ == WmmaMatrix::a) return arith::place_in_a(tiling_.tile.m, per_register(), lane, r, i);
  if (role_ == WmmaMatrix::b) return arith::place_in_b(per_register(), lane, r, i);
  return arith::place_in_c(per_register(), lane, r, i);
}

Place WmmaFragment::place(int lane, int r, int i) const {
  Place place = place_in_tile(lane, r % in_tile_, i);
  const int tile = r / in_tile_ % tiles_;
  if (tiling_.over_rows)
    place.row += tile * tiling_.tile.m;
  else
    place.column += tile * tiling_.tile.n;
  if (tiling_.transposed) std::swap(place.row, place.column);
  return place;
}

}  // namespace lw::machine
