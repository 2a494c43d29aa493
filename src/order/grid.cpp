// Grids, CTAs and buffers: the life of what has clocks (rule book 13, G-6 to G-8, G-12).
//
// A grid that is complete before another starts is ordered before it with all its proxies; that is
// kept as a set per grid, never as clocks.

#include <algorithm>

#include "base/check.h"
#include "order/core.h"

namespace lw::order {

bool Core::grid_is_over(const Cta& cta, uint32_t earlier_cta) const {
  const std::vector<bool>& over = grids[cta.grid].over;
  const uint32_t grid = grid_of_cta[earlier_cta];
  return grid < over.size() && over[grid];
}

void Engine::declare_buffer(uint64_t base, uint64_t bytes, bool written) {
  LW_CHECK(bytes > 0, base);
  auto& buffers = core_->buffers;
  const auto at =
      std::lower_bound(buffers.begin(), buffers.end(), base,
                       [](const Region& one, uint64_t want) { return one.base() < want; });
  buffers.insert(at, Region(base, bytes, written ? kInitial : kUnwritten));
  core_->last_buffer = buffers.size();
}

void Engine::begin_grid(GridId grid, std::span<const GridId> after) {
  auto& grids = core_->grids;
  if (grids.size() <= grid.value) grids.resize(grid.value + 1);
  Core::Grid& now = grids[grid.value];
  now.over.assign(grids.size(), false);
  for (GridId earlier : after) {
    now.over[earlier.value] = true;
    const std::vector<bool>& before = grids[earlier.value].over;
    for (size_t i = 0; i < before.size(); ++i) {
      if (before[i]) now.over[i] = true;
    }
  }
  uint32_t cta = 0;
  const auto& grid_of_cta = core_->grid_of_cta;
  while (cta < grid_of_cta.size() && now.over[grid_of_cta[cta]]) ++cta;
  now.ordered_below = cta + 1;
}

void Engine::end_grid(GridId grid) { LW_CHECK(grid.value < core_->grids.size(), grid.value); }

void Engine::begin_cta(CtaId id, GridId grid, uint32_t threads, uint32_t shared_bytes) {
  auto& ctas = core_->ctas;
  if (ctas.size() <= id.value) {
    ctas.resize(id.value + 1);
    core_->grid_of_cta.resize(id.value + 1, grid.value);
  }
  core_->grid_of_cta[id.value] = grid.value;
  auto cta = std::make_unique<Cta>();
  cta->id = id.value;
  cta->grid = grid.value;
  cta->ordered_below = core_->grids[grid.value].ordered_below;
  cta->shared = Region(0, std::max(shared_bytes, 1u), kUnwritten);
  cta->shared.make_all_ready();
  const uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
  LW_CHECK(warps >= 1 && warps <= kWarpSize && id.value < 1u << 26, threads, id.value);
  cta->components = warps;
  for (uint32_t w = 0; w < warps; ++w) {
    auto warp = std::make_unique<Warp>();
    warp->cta = cta.get();
    warp->index = static_cast<uint16_t>(w);
    warp->bit = 1u << w;
    warp->key = static_cast<uint64_t>(id.value + 1) << kKeyCtaShift | static_cast<uint64_t>(w)
                                                                          << 32;
    const uint32_t lanes = std::min<uint32_t>(kWarpSize, threads - w * kWarpSize);
    warp->exists = warp->live = lanes == kWarpSize ? kAllLanes : (1u << lanes) - 1;
    warp->groups.emplace_back();
    warp->groups.front().lanes = warp->live;
    cta->warps.push_back(std::move(warp));
  }
  ctas[id.value] = std::move(cta);
}

void Engine::end_cta(CtaId id) {
  Cta& cta = *core_->ctas[id.value];
  cta.shared.each_touched([&](Block& block) {
    if (block.detail != 0) core_->shadow.release(block);
  });
  std::erase_if(core_->pending, [&](const auto& one) { return one.second.signal.cta == id; });
  core_->ctas[id.value] = nullptr;
}

Warp& Engine::warp(CtaId cta, WarpId warp) { return core_->warp_of(cta.value, warp.value); }

void Engine::exit_lanes(Warp& warp, LaneMask lanes) { warp.exit(lanes); }

}  // namespace lw::order
