// Tensor memory and dependent grids in the fuzzer's programs.

#include <fmt/format.h>

#include <algorithm>

#include "generator.h"

namespace lw::reference_order {

// alloc and dealloc, by whole warps.
void Generator::tensor_life() {
  auto& all = world_.allocations();
  size_t own = all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    if (all[i].cta == cta_ && !all[i].freed && (own == all.size() || often(50))) own = i;
  }
  const auto slot = world_.free_slot();
  if (slot && (own == all.size() || often(40))) {
    const auto word = static_cast<uint32_t>(range(false, 16).base);
    if (drops(world_.try_tensor_alloc(cta_, warp_, lanes_, word))) return;
    note("alloc", lanes_, fmt::format("slot {} word {}", *slot, word));
    return world_.tensor_alloc(cta_, warp_, lanes_, *slot, word);
  }
  if (own == all.size() || drops(world_.try_tensor_free(cta_, warp_, lanes_, own))) return;
  note("dealloc", lanes_, fmt::format("slot {}", all[own].slot));
  world_.tensor_free(cta_, warp_, lanes_, own);
}

TensorBox Generator::tensor_box(bool by_warp) {
  TensorBox box;
  box.column = static_cast<uint32_t>(below(World::kUsedColumns));
  box.columns = 1;
  const LaneMask masks[] = {kAllLanes, kAllLanes, 0xffff, 0xffff0000u, 0x00ff0ff0};
  const LaneMask mask = masks[below(5)];
  if (by_warp) {
    box.columns = static_cast<uint32_t>(1 + below(World::kUsedColumns - box.column));
    box.lanes[below(4)] = mask;
  } else {
    box.lanes.fill(mask);
  }
  return box;
}

void Generator::tensor_operation(bool by_warp) {
  auto& all = world_.allocations();
  TensorEvent what;
  what.allocation = all.size();
  for (size_t i = 0; i < all.size(); ++i) {
    // Columns that the CTA has got again are named by the newer allocation.
    const auto again = [&](const FuzzColumns& other) {
      return &other > &all[i] && other.cta == cta_ && other.slot == all[i].slot;
    };
    const bool of_pair = !by_warp && world_.is_clustered(cta_) && !all[i].freed && often(40) &&
                         all[i].cta == World::peer_of(cta_);
    const bool usable = of_pair || (all[i].cta == cta_ && (!all[i].freed || often(5)) &&
                                    std::ranges::none_of(all, again));
    if (usable && (what.allocation == all.size() || often(50))) what.allocation = i;
  }
  if (what.allocation == all.size()) return tensor_life();
  what.cta = cta_;
  what.warp = warp_;
  what.box = tensor_box(by_warp);
  what.lanes = lanes_;
  if (by_warp) {
    what.agent = often(50) ? Agent::kTensorLoad : Agent::kTensorStore;
  } else {
    const Agent kinds[] = {Agent::kMmaResult, Agent::kMmaResult, Agent::kTensorCopy,
                           Agent::kTensorCopy4x256b, Agent::kTensorShift};
    what.agent = kinds[below(5)];
    what.lanes = 1u << (often(70) ? __builtin_ctz(lanes_) : one_lane(lanes_));
  }
  if (what.agent == Agent::kMmaResult) {
    what.accumulator = static_cast<uint32_t>(often(80) ? what.box.column : below(3));
    what.accumulates = often(50);
    what.has_operand = often(60);
    what.operand = tensor_box(false);
    what.operand.column = (what.box.column + 1) % World::kUsedColumns;
  }
  if (!by_warp && what.agent != Agent::kTensorShift && often(50)) what.shared = range(false, 128);
  if (!all[what.allocation].freed && drops(world_.try_tensor(what))) return;
  note("tcgen05", what.lanes,
       fmt::format("agent {} slot {} freed {} column {}+{} lanes {:08x} operand {} shared {}",
                   static_cast<int>(what.agent), all[what.allocation].slot,
                   all[what.allocation].freed, what.box.column, what.box.columns,
                   what.box.lanes[0] | what.box.lanes[1] | what.box.lanes[2] | what.box.lanes[3],
                   what.has_operand ? static_cast<int>(what.operand.column) : -1,
                   what.shared.bytes != 0 ? static_cast<int>(what.shared.base) : -1));
  world_.tensor(what);
}

void Generator::tensor_event() {
  const bool whole = lanes_ == world_.live(cta_, warp_);
  const uint64_t kind = below(20);
  if (kind < 2 && whole) return tensor_life();
  if (kind < 7 && whole) return tensor_operation(true);
  if (kind < 11 && whole) {
    const bool stores = often(50);
    note(stores ? "wait::st" : "wait::ld", lanes_);
    return world_.tensor_wait(cta_, warp_, lanes_, stores);
  }
  if (kind < 15) return tensor_operation(false);
  if (kind < 18) {
    FuzzObject& object = some_object(some_owner());
    if (!object.live || object.pending == 0) return;
    const int lane = often(70) ? __builtin_ctz(lanes_) : one_lane(lanes_);
    note("commit", 1u << lane, fmt::format("object {} of {}", object.offset, object.cta));
    return world_.tensor_commit(cta_, warp_, lane, object);
  }
  const LaneMask lanes = some_lanes(lanes_);
  if (lanes == 0) return;
  const bool before = often(50);
  note(before ? "before_thread_sync" : "after_thread_sync", lanes);
  world_.tensor_fence(cta_, warp_, lanes, before);
}

// The barrier of the cluster, the fence for inits, and what is done to the objects of the peer.
void Generator::cluster_event() {
  if (!world_.is_clustered(cta_)) return;
  const LaneMask waits = world_.may_wait(cta_, warp_);
  if (waits != 0 && often(70)) {
    note("barrier.cluster.wait", waits);
    return world_.cluster_wait(cta_, warp_, waits);
  }
  const LaneMask arrives = world_.may_arrive(cta_, warp_);
  if (arrives != 0 && often(60)) {
    const bool release = often(70);
    note("barrier.cluster.arrive", arrives, fmt::format("release {}", release));
    return world_.cluster_arrive(cta_, warp_, arrives, release);
  }
  const LaneMask lanes = often(60) ? lanes_ : some_lanes(lanes_);
  if (lanes == 0) return;
  note("fence.mbarrier_init", lanes);
  world_.fence_mbarrier_init(cta_, warp_, lanes);
}

void Generator::grid_wait_event() {
  const LaneMask lanes = some_lanes(lanes_);
  if (lanes == 0 || !world_.may_wait_for_grid(cta_)) return;
  note("griddepcontrol.wait", lanes);
  world_.grid_wait(cta_, warp_, lanes);
}

}  // namespace lw::reference_order
