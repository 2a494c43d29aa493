#include "machine/open_cta.h"

#include <algorithm>
#include <cstring>

#include "machine/machine.h"
#include "machine/special_registers.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

void fill(const Warp& warp, const program::ConstantSlot& constant) {
  std::byte* at = warp.registers + constant.slot.offset;
  uint64_t value = constant.value;
  if (constant.is_shared_address) value += warp.shared_base - program::kSharedBase;
  if (constant.bytes == 8) {
    std::fill_n(reinterpret_cast<uint64_t*>(at), base::kWarpSize, value);
  } else {
    uint32_t count = constant.bytes == 4 ? base::kWarpSize : 1;
    std::fill_n(reinterpret_cast<uint32_t*>(at), count, static_cast<uint32_t>(value));
  }
}

void fill(const Warp& warp, const program::SpecialSlot& special) {
  std::byte* at = warp.registers + special.slot.offset;
  const LaneValues values = read_special(warp, special.special);
  if (special.bytes == 1) {
    *reinterpret_cast<uint32_t*>(at) = values[0] != 0 ? base::kAllLanes : 0;
  } else if (special.bytes == 8) {
    std::ranges::copy(values, reinterpret_cast<uint64_t*>(at));
  } else {
    for (uint32_t lane = 0; lane < values.size(); ++lane)
      reinterpret_cast<uint32_t*>(at)[lane] = static_cast<uint32_t>(values[lane]);
  }
}

Dim3 position_of(uint32_t index, Dim3 grid) {
  return {index % grid.x, index / grid.x % grid.y, index / grid.x / grid.y};
}

uint32_t rank_in_cluster(Dim3 position, Dim3 cluster) {
  return position.x % cluster.x +
         cluster.x * (position.y % cluster.y + cluster.y * (position.z % cluster.z));
}

LaneMask lanes_of_warp(uint64_t threads, uint32_t warp) {
  uint64_t left = threads - uint64_t{warp} * base::kWarpSize;
  return left >= base::kWarpSize ? base::kAllLanes : (1u << left) - 1;
}

void open_warp(CtaHolder& holder, uint32_t index) {
  Cta& cta = holder.cta;
  const program::Program& program = *cta.program;
  Warp& warp = cta.warps[index];
  warp.id = base::WarpId(static_cast<uint16_t>(index));
  warp.cta = &cta;
  warp.machine = cta.machine;
  warp.memory = &cta.machine->memory();
  warp.program = &program;
  warp.registers = holder.registers.data() + size_t{index} * program.register_bytes;
  warp.shared = cta.shared.data();
  warp.shared_bytes = static_cast<uint32_t>(cta.shared.size());
  warp.shared_base = cta.shared_base();
  warp.local_bytes = program.local_bytes;
  warp.local = holder.local.data() + size_t{index} * base::kWarpSize * program.local_bytes;
  warp.live = lanes_of_warp(cta.launch->request.block.count(), index);
  warp.order = cta.machine->order();
  if (warp.order) warp.order_warp = &warp.order->warp(cta.id, warp.id);
  warp.awaited = warp.live;
  warp.parked.push_back({warp.live, program.ops.data(), {}});
  cta.live_lanes.push_back(warp.live);
  std::byte* first = holder.registers.data();
  if (index == 0) {
    std::memset(first, 0, program.register_bytes);
    for (const program::ConstantSlot& constant : program.constants) fill(warp, constant);
  } else {
    std::memcpy(warp.registers, first, program.register_bytes);
  }
  for (const program::SpecialSlot& special : program.specials) fill(warp, special);
}

}  // namespace

std::unique_ptr<CtaHolder> open_cta(Machine& machine, Launch& launch, uint32_t index, uint32_t sm,
                                    uint8_t poison, BlockPool& pool) {
  const program::Program& program = *launch.program;
  size_t warps = launch.warps_per_cta;
  size_t threads = warps * base::kWarpSize;
  auto holder = std::make_unique<CtaHolder>(pool.take(warps * program.register_bytes),
                                            pool.take(launch.shared_bytes),
                                            pool.take(threads * program.local_bytes));
  Cta& cta = holder->cta;
  cta.machine = &machine;
  cta.launch = &launch;
  cta.program = &program;
  cta.id = base::CtaId(launch.first_cta + index);
  cta.index_in_grid = index;
  cta.position = position_of(index, launch.request.grid);
  cta.sm = sm;
  cta.cluster_rank = rank_in_cluster(cta.position, launch.request.cluster);
  cta.shared = holder->shared;
  std::ranges::fill(cta.shared, std::byte{poison});
  std::ranges::fill(holder->local, std::byte{poison});
  cta.warps.resize(warps);
  cta.warps_left = static_cast<uint32_t>(warps);
  for (uint32_t i = 0; i < warps; ++i) {
    open_warp(*holder, i);
    cta.set_ready(cta.warps[i].id);
  }
  return holder;
}

void close_cta(std::unique_ptr<CtaHolder> holder, BlockPool& pool) {
  pool.give_back(holder->registers);
  pool.give_back(holder->shared);
  pool.give_back(holder->local);
}

}  // namespace lw::machine
