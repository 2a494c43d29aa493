// Grids, CTAs and buffers: the life of what has clocks (rule book 13, G-6 to G-8, G-12).
//
// A grid that is complete before another starts is ordered before it with all its proxies; that is
// kept as a set per grid, never as clocks. A programmatic launch may start before its predecessor's
// end: then only griddepcontrol.wait orders the predecessor's accesses, for the lanes that execute
// it and for those that learn of it (G-4). That is a component of the CTA. What comes after such a
// launch in the stream is behind the predecessor only if somebody waited (G-5).
//
// misses: a release before launch_dependents may order data to the dependents' start (G-9); here it
// orders nothing.

#include <algorithm>

#include "base/check.h"
#include "order/cluster.h"
#include "order/mbarrier.h"

namespace lw::order {

bool Core::grid_is_over(const Cta& cta, uint32_t earlier_cta) const {
  const std::vector<bool>& over = grids[cta.grid].over;
  const uint32_t grid = grid_of_cta[earlier_cta];
  return grid < over.size() && over[grid];
}

bool Core::is_early(uint32_t grid, uint32_t earlier_grid) const {
  return std::ranges::find(grids[grid].early, GridId{earlier_grid}) != grids[grid].early.end();
}

bool Core::knows_grid_end(const Clock* clock, const Cta& cta, uint32_t earlier_cta) const {
  if (grid_wait_of_cta.empty()) return false;
  const uint32_t grid = grid_of_cta[earlier_cta];
  const auto has_waited = [&](uint32_t who, const Clock& known) {
    if (who >= grid_wait_of_cta.size() || grid_wait_of_cta[who] == 0) return false;
    const std::vector<bool>& waited = grids[grid_of_cta[who]].waited;
    return grid < waited.size() && waited[grid] && known.all_lanes(grid_wait_of_cta[who]) != 0;
  };
  return has_waited(cta.id, *clock) ||
         std::ranges::any_of(clock->foreigns(), [&](const Clock::Foreign& other) {
           return has_waited(other.cta, *other.clock.get());
         });
}

namespace {

void add_all(std::vector<bool>& into, const std::vector<bool>& grids) {
  if (into.size() < grids.size()) into.resize(grids.size());
  for (size_t i = 0; i < grids.size(); ++i) {
    if (grids[i]) into[i] = true;
  }
}

}  // namespace

void Engine::declare_buffer(uint64_t base, uint64_t bytes, bool written) {
  LW_CHECK(bytes > 0, base);
  auto& buffers = core_->buffers;
  const auto at =
      std::lower_bound(buffers.begin(), buffers.end(), base,
                       [](const Region& one, uint64_t want) { return one.base() < want; });
  buffers.insert(at, Region(base, bytes, written ? kInitial : kUnwritten));
}

void Engine::begin_grid(GridId grid, std::span<const GridId> after, std::span<const GridId> early) {
  auto& grids = core_->grids;
  if (grids.size() <= grid.value) grids.resize(grid.value + 1);
  Core::Grid& now = grids[grid.value];
  now.over.assign(grids.size(), false);
  now.early.assign(early.begin(), early.end());
  for (GridId earlier : after) {
    now.over[earlier.value] = true;
    add_all(now.over, grids[earlier.value].over);
    add_all(now.over, grids[earlier.value].waited);
  }
  // It starts after they have started.
  for (GridId earlier : early) add_all(now.over, grids[earlier.value].over);
  uint32_t cta = 0;
  const auto& grid_of_cta = core_->grid_of_cta;
  while (cta < grid_of_cta.size() && now.over[grid_of_cta[cta]]) ++cta;
  now.ordered_below = cta + 1;
}

void Engine::end_grid(GridId grid) { LW_CHECK(grid.value < core_->grids.size(), grid.value); }

void Engine::grid_wait(Warp& warp, OpId, LaneMask lanes) {
  Cta& cta = *warp.cta;
  Core::Grid& grid = core_->grids[cta.grid];
  if (grid.early.empty()) return;  // all before it in the stream was over when it started
  if (grid.waited.empty()) {
    grid.waited.assign(core_->grids.size(), false);
    for (GridId earlier : grid.early) {
      grid.waited[earlier.value] = true;
      add_all(grid.waited, core_->grids[earlier.value].waited);
    }
  }
  auto& components = core_->grid_wait_of_cta;
  if (components.size() <= cta.id) components.resize(cta.id + 1, 0);
  if (components[cta.id] == 0) components[cta.id] = cta.components++;
  warp.since_control |= lanes;
  const Reached reached{components[cta.id], 1, kAllViews};
  learn(warp, lanes, join_contributions({}, {&reached, 1}));
}

void Engine::begin_cta(CtaId id, GridId grid, uint32_t threads, uint32_t shared_bytes,
                       uint32_t sm) {
  auto& ctas = core_->ctas;
  if (ctas.size() <= id.value) {
    ctas.resize(id.value + 1);
    core_->grid_of_cta.resize(id.value + 1, grid.value);
  }
  core_->grid_of_cta[id.value] = grid.value;
  auto cta = std::make_unique<Cta>();
  cta->id = id.value;
  cta->grid = grid.value;
  cta->sm = sm;
  cta->cluster = id.value;
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
    warp->recall.shared = cta->shared.at(0);
    warp->recall.objects = &core_->objects;
    warp->recall.accesses = &core_->findings.facts().accesses;
    warp->recall.ordered_below = cta->ordered_below;
    cta->warps.push_back(std::move(warp));
  }
  ctas[id.value] = std::move(cta);
}

void Engine::end_cta(CtaId id) {
  Cta& cta = *core_->ctas[id.value];
  check_end(*core_, cta);
  cta.shared.each_touched([&](Block& block) {
    if (block.detail != 0) core_->shadow.release(block);
  });
  std::erase_if(core_->pending, [&](const auto& one) { return one.second.signal.cta == id; });
  core_->ctas[id.value] = nullptr;
}

Warp& Engine::warp(CtaId cta, WarpId warp) { return core_->warp_of(cta.value, warp.value); }

void Engine::exit_lanes(Warp& warp, OpId op, LaneMask lanes) {
  check_exit(*core_, warp, lanes);
  if (warp.cta->cluster_size > 1) {
    for (const LaneGroup& group : warp.groups)
      if ((group.lanes & lanes) != 0) warp.cta->at_exit = join(warp.cta->at_exit, group.bundle);
    warp.cta->last_exit = event_now(warp, op, lanes);
  }
  warp.exit(lanes);
}

}  // namespace lw::order
