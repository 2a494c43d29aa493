// Tensor memory and dependent grids of the fuzzer's machine.

#include <algorithm>

#include "world.h"

namespace lw::reference_order {
namespace {

TensorBox shifted(TensorBox box, uint32_t slot) {
  box.column += slot * World::kSlotColumns;
  return box;
}

TensorWork::Kind kind_of(Agent agent) {
  if (agent == Agent::kTensorCopy) return TensorWork::Kind::kCopy;
  if (agent == Agent::kTensorCopy4x256b) return TensorWork::Kind::kCopy4x256b;
  return agent == Agent::kTensorShift ? TensorWork::Kind::kShift : TensorWork::Kind::kMma;
}

bool by_warp(Agent agent) { return agent == Agent::kTensorLoad || agent == Agent::kTensorStore; }

}  // namespace

std::optional<uint32_t> World::free_slot() const {
  for (uint32_t slot = 0; slot < kSlots; ++slot) {
    const auto has = [&](const FuzzColumns& one) { return one.slot == slot && !one.freed; };
    if (std::ranges::none_of(columns_, has)) return slot;
  }
  return std::nullopt;
}

std::vector<Touched> World::cells(const TensorBox& box, uint32_t slot, const Record& record) const {
  std::vector<Touched> result;
  const uint32_t first = slot * kSlotColumns + box.column;
  for (uint32_t column = first; column < first + box.columns; ++column) {
    for (uint32_t lane = 0; lane < TensorCell::kLanes; ++lane) {
      if ((box.lanes[lane / 32] >> lane % 32 & 1) == 0) continue;
      result.push_back({{false, kTensorOwner, TensorCell{lane, column}.address()}, record});
    }
  }
  return result;
}

// The record of alloc or dealloc: of all its lanes at once.
Record World::whole_warp(uint32_t cta, int index, LaneMask lanes, Agent agent) {
  Record record;
  record.together = lane_list(cta, index, lanes);
  record.lane = record.together.front();
  for (int lane : record.together)
    record.receivers.push_back({lane, reference_.coming_event(lane)});
  record.writes = true;
  record.agent = agent;
  record.instruction = instruction_;
  return record;
}

std::vector<Touched> World::word_of_alloc(uint32_t cta, uint32_t word, const Record& record) const {
  std::vector<Touched> bytes;
  for (uint32_t i = 0; i < TensorCell::kBytes; ++i)
    bytes.push_back({{false, cta, word + i}, record});
  return bytes;
}

DryRun World::try_tensor_alloc(uint32_t cta, int index, LaneMask lanes, uint32_t word) {
  const Record record = whole_warp(cta, index, lanes, Agent::kTensorAlloc);
  return reference_.try_access(word_of_alloc(cta, word, record));
}

void World::tensor_alloc(uint32_t cta, int index, LaneMask lanes, uint32_t slot, uint32_t word) {
  reference_.warp_sync(lane_list(cta, index, lanes), true);
  const Record record = whole_warp(cta, index, lanes, Agent::kTensorAlloc);
  reference_.tensor_alloc(all_cells(slot, record));
  reference_.access(word_of_alloc(cta, word, record));
  for (int lane : record.together) reference_.take_event(lane);
  engine_.tensor_alloc(warp(cta, index), op(), lanes, slot * kSlotColumns, kSlotColumns, word);
  columns_.push_back({cta, slot, false, {}});
}

DryRun World::try_tensor_free(uint32_t cta, int index, LaneMask lanes, size_t allocation) {
  const Record record = whole_warp(cta, index, lanes, Agent::kTensorFree);
  return reference_.try_access(all_cells(columns_[allocation].slot, record));
}

void World::tensor_free(uint32_t cta, int index, LaneMask lanes, size_t allocation) {
  FuzzColumns& columns = columns_[allocation];
  reference_.warp_sync(lane_list(cta, index, lanes), true);
  columns.free = whole_warp(cta, index, lanes, Agent::kTensorFree);
  reference_.access(all_cells(columns.slot, columns.free));
  for (int lane : columns.free.together) reference_.take_event(lane);
  engine_.tensor_free(warp(cta, index), op(), lanes, columns.slot * kSlotColumns, kSlotColumns);
  columns.freed = true;
}

std::vector<Touched> World::tensor_cells(const TensorEvent& what,
                                         const Reference::TensorIds& ids) const {
  const uint32_t slot = columns_[what.allocation].slot;
  Record record;
  record.async = true;
  record.milestone = ids.cells;
  record.fenced = ids.fenced;
  record.instruction = instruction_;
  const std::vector<int> lanes = lane_list(what.cta, what.warp, what.lanes);
  record.lane = lanes.front();
  if (by_warp(what.agent)) record.together = lanes;
  std::vector<Touched> result;
  if (what.has_operand) {
    record.agent = Agent::kMmaOperand;
    record.reads = true;
    result = cells(what.operand, slot, record);
  }
  record.agent = what.agent;
  record.accumulator = what.accumulator;
  record.writes = what.agent != Agent::kTensorLoad;
  record.reads = !record.writes || what.accumulates || what.agent == Agent::kTensorShift;
  const std::vector<Touched> rest = cells(what.box, slot, record);
  result.insert(result.end(), rest.begin(), rest.end());
  return result;
}

DryRun World::try_tensor(const TensorEvent& what) {
  std::vector<Touched> touched = tensor_cells(what, {});
  const int lane = lane_list(what.cta, what.warp, what.lanes).front();
  const auto shared =
      ranged(columns_[what.allocation].cta, lane, false, what.shared, Kind::kRead, 0);
  touched.insert(touched.end(), shared.begin(), shared.end());
  return reference_.try_access(touched);
}

void World::tensor(const TensorEvent& what) {
  const std::vector<int> lanes = lane_list(what.cta, what.warp, what.lanes);
  if (by_warp(what.agent)) reference_.warp_sync(lanes, true);
  const Reference::TensorIds ids{reference_.new_tensor_milestone(), reference_.new_milestone(),
                                 reference_.new_tensor_milestone()};
  const FuzzColumns& columns = columns_[what.allocation];
  reference_.access(
      ranged(columns.cta, lanes.front(), false, what.shared, Kind::kRead, ids.shared));
  if (columns.freed) {
    reference_.freed_access(tensor_cells(what, ids), columns.free);
  } else {
    reference_.access(tensor_cells(what, ids));
  }
  if (by_warp(what.agent)) {
    reference_.tensor_moved(lanes.front(), ids.cells, what.agent == Agent::kTensorStore);
  } else {
    reference_.tensor_issued(lanes.front(), ids);
  }
  tell_engine(what);
}

void World::tell_engine(const TensorEvent& what) {
  const uint32_t slot = columns_[what.allocation].slot;
  const TensorBox box = shifted(what.box, slot);
  Warp& by = warp(what.cta, what.warp);
  if (what.agent == Agent::kTensorLoad) return engine_.tensor_load(by, op(), what.lanes, {&box, 1});
  if (what.agent == Agent::kTensorStore)
    return engine_.tensor_store(by, op(), what.lanes, {&box, 1});
  const TensorBox operand = shifted(what.operand, slot);
  const bool reads_too = what.accumulates || what.agent == Agent::kTensorShift;
  const CtaId owner{columns_[what.allocation].cta};  // of the pair
  const TensorAccess cells[] = {{Kind::kRead, false, {&operand, 1}, owner},
                                {Kind::kWrite, reads_too, {&box, 1}, owner}};
  const AsyncAccess shared{Space::kShared, Kind::kRead, owner, {&what.shared, 1}};
  TensorWork work;
  work.kind = kind_of(what.agent);
  work.pair = owner.value != what.cta;
  work.accumulator = what.accumulator;
  work.cells = std::span(cells).subspan(what.has_operand ? 0 : 1);
  if (what.shared.bytes != 0) work.shared = {&shared, 1};
  const auto lane = static_cast<uint8_t>(__builtin_ctz(what.lanes));
  engine_.tensor_issue(by, op(), LaneId{lane}, work);
}

void World::tensor_wait(uint32_t cta, int index, LaneMask lanes, bool stores) {
  reference_.warp_sync(lane_list(cta, index, lanes), true);
  reference_.tensor_wait(lane_list(cta, index, lanes), stores);
  if (stores) {
    engine_.tensor_wait_stores(warp(cta, index), lanes);
  } else {
    engine_.tensor_wait_loads(warp(cta, index), lanes);
  }
}

void World::tensor_commit(uint32_t cta, int index, int lane, FuzzObject& object) {
  Flight flight = flight_to(object);
  flight.arrival = true;
  flight.reference =
      reference_.tensor_commit(object.cta, object.offset, Reference::lane_index(cta, index, lane));
  flight.engine = engine_.tensor_commit(warp(cta, index), op(), LaneId{static_cast<uint8_t>(lane)},
                                        {CtaId{object.cta}, object.offset});
  flights_.push_back(flight);
}

void World::tensor_fence(uint32_t cta, int index, LaneMask lanes, bool before) {
  if (before) {
    reference_.tensor_fence_before(lane_list(cta, index, lanes));
    engine_.tensor_fence_before(warp(cta, index), lanes);
  } else {
    reference_.tensor_fence_after(lane_list(cta, index, lanes));
    engine_.tensor_fence_after(warp(cta, index), lanes);
  }
}

bool World::may_wait_for_grid(uint32_t cta) const {
  const auto at = early_.find(cta / kCtasPerGrid);
  return at == early_.end() || std::ranges::find(ended_, at->second) != ended_.end();
}

void World::grid_wait(uint32_t cta, int index, LaneMask lanes) {
  const uint32_t grid = cta / kCtasPerGrid;
  engine_.grid_wait(warp(cta, index), op(), lanes);
  const auto at = early_.find(grid);
  if (at == early_.end()) return;
  const auto [waited, is_new] = waited_.try_emplace(grid, waited_[at->second]);
  if (is_new) waited->second.insert(at->second);
  reference_.grid_wait(grid, waited->second, lane_list(cta, index, lanes));
}

}  // namespace lw::reference_order
