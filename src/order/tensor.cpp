// Accesses to tensor memory: alloc, dealloc, ld, st, and the operands of mma, cp and shift
// (PTX ISA 9.7.16.7 to .10). What ends them is in tensor_sync.cpp.

#include "order/tensor.h"

#include <algorithm>

#include "base/check.h"
#include "order/async_access.h"
#include "order/cluster.h"

namespace lw::order {
namespace {

constexpr uint32_t kColumnBytes = TensorCell::kLanes * TensorCell::kBytes;

Region& cells_of(Core& core, uint32_t sm) {
  constexpr uint64_t kBytes = uint64_t{kColumnBytes} * TensorCell::kColumns;
  return core.tensor_cells.try_emplace(sm, 0, kBytes, kInitial).first->second;
}

Range columns_of(uint32_t column, uint32_t columns) {
  return {TensorCell{0, column}.address(), uint64_t{columns} * kColumnBytes};
}

// The pieces of a box, each contiguous; all of it is one if no lane is left out.
template <class Visit>
void each_range(const TensorBox& box, Visit visit) {
  const bool full = std::ranges::all_of(box.lanes, [](LaneMask one) { return one == kAllLanes; });
  if (full) return visit(columns_of(box.column, box.columns));
  for (uint32_t column = box.column; column < box.column + box.columns; ++column) {
    for (uint32_t quarter = 0; quarter < 4; ++quarter) {
      for (uint64_t rest = box.lanes[quarter]; rest != 0;) {
        const auto first = static_cast<uint32_t>(__builtin_ctzll(rest));
        const auto count = static_cast<uint32_t>(__builtin_ctzll(~(rest >> first)));
        visit(
            Range{TensorCell{32 * quarter + first, column}.address(), count * TensorCell::kBytes});
        rest &= ~(((uint64_t{1} << count) - 1) << first);
      }
    }
  }
}

template <class Visit>
void each_block(const Range& range, Visit visit) {
  constexpr uint64_t kStep = 1u << kBlockShift;
  const uint64_t end = range.base + range.bytes;
  for (uint64_t at = range.base & ~(kStep - 1); at < end; at += kStep) {
    CellMask cells = kAllCells;
    if (at < range.base) cells &= kAllCells << ((range.base - at) >> kCoarse);
    if (end < at + kStep) cells &= kAllCells >> ((at + kStep - end) >> kCoarse);
    visit(Cells{at, kCoarse, cells});
  }
}

// Reads of cells that nobody has written since their alloc (E-20).
void report_unwritten(const Doing& doing, Region& region, const Range& range) {
  Core& core = doing.core;
  const auto fresh = [&](ObjectId id) { return core.objects[id].agent == Agent::kTensorAlloc; };
  each_block(range, [&](const Cells& cells) {
    const Block& block = *region.at(cells.base);
    if (block.write >= kFirstObject && !fresh(block.write)) return;
    std::vector<Touch>& writers = core.writers;
    core.shadow.writers(block, cells.mask, writers);
    for (const Touch& touch : writers) {
      if (touch.id < kFirstObject || touch.cells == 0 || !fresh(touch.id)) continue;
      const auto bytes = static_cast<uint64_t>(__builtin_popcount(touch.cells)) << kCoarse;
      core.findings.unwritten({party_of(core.objects[doing.id], doing.lanes), Space::kTensor,
                               cells.address(__builtin_ctz(touch.cells)), bytes});
    }
  });
}

void report_foreign(const Doing& doing, uint32_t column) {
  doing.core.findings.error({RuleId::kT5_25, party_of(doing.core.objects[doing.id], doing.lanes),
                             Space::kTensor, TensorCell{0, column}.address(), 0});
}

// A load that races with the dealloc, and the writes that it follows.
void bring_writers(const Doing& doing, const Object& free, Region& region, const Cells& raced) {
  Core& core = doing.core;
  std::vector<Touch>& writers = core.writers;
  core.shadow.writers(*region.at(raced.base), raced.mask, writers);
  for (const Touch& touch : writers) {
    if (touch.id < kFirstObject) continue;
    const Object& write = core.objects[touch.id];
    if (write.cluster != free.cluster || !brings_writer(core.objects[doing.id], write)) continue;
    if (!is_settled(doing, touch.id)) continue;
    for (uint64_t rest = touch.cells & raced.mask; rest != 0;) {
      const int first = __builtin_ctzll(rest);
      const int end = first + __builtin_ctzll(~(rest >> first));
      core.findings.brought(write.op, free.op, CtaId{free.cta}, raced.address(first),
                            raced.address(end));
      rest &= ~uint64_t{0} << end;
    }
  }
}

// The columns were the CTA's own and have been freed; whoever has them now is left alone.
void touch_freed(const Doing& doing, Region& region, ObjectId freed, const TensorBox& box) {
  if (is_settled(doing, freed)) return report_foreign(doing, box.column);
  each_range(box, [&](const Range& range) {
    each_block(range, [&](const Cells& cells) {
      const CellMask raced = check_pair(doing, freed, cells);
      if (raced == 0) return;
      bring_writers(doing, doing.core.objects[freed], region, {cells.base, cells.shift, raced});
    });
  });
}

// The newest allocation of the CTA with this column.
const TensorAllocation* allocation_at(const Cta& cta, uint32_t column) {
  for (auto at = cta.tensor.rbegin(); at != cta.tensor.rend(); ++at) {
    if (column - at->column < at->columns) return &*at;
  }
  return nullptr;
}

void tell_story(const Doing& doing, std::span<const TensorBox> boxes) {
  if (!doing.core.story) return;
  std::vector<Range> ranges;
  for (const TensorBox& box : boxes) {
    each_range(box, [&](const Range& range) { ranges.push_back(range); });
  }
  doing.core.story->access(doing, ranges, CtaId{doing.place().id});
}

// Goes over the boxes, allocation by allocation.
void touch_boxes(const Doing& doing, std::span<const TensorBox> boxes, bool reads, bool writes) {
  tell_story(doing, boxes);
  Region& region = cells_of(doing.core, doing.place().sm);
  for (TensorBox left : boxes) {
    const uint32_t end = left.column + left.columns;
    LW_CHECK(end <= TensorCell::kColumns, left.column, left.columns);
    while (left.column < end) {
      const TensorAllocation* home = allocation_at(doing.place(), left.column);
      if (home == nullptr) return report_foreign(doing, left.column);
      left.columns = std::min(end, home->column + home->columns) - left.column;
      if (home->freed != 0) {
        touch_freed(doing, region, home->freed, left);
      } else {
        each_range(left, [&](const Range& range) {
          if (reads) report_unwritten(doing, region, range);
          touch_range(doing, region, range, writes);
        });
      }
      left.column += left.columns;
    }
  }
}

Doing doing_of(Core& core, Warp& warp, ObjectId id, LaneMask lanes, Cta* peer = nullptr) {
  Doing doing{core, warp};
  doing.peer = peer;
  doing.id = id;
  doing.key = async_doing_key(warp);
  doing.alone = true;
  doing.space = Space::kTensor;
  doing.lanes = lanes;
  doing.serial = ++core.findings.facts().accesses;
  return doing;
}

Shape agent_shape(LaneMask lanes, uint32_t accumulator = 0) {
  Shape shape;
  shape.kind = ShapeKind::kAgent;
  shape.lanes = lanes;
  shape.base = accumulator;
  return shape;
}

// alloc and dealloc: one deed of the warp, known to whoever knows one of its lanes.
Doing whole_warp(Core& core, Warp& warp, const Deed& deed, LaneMask lanes) {
  warp.touch(lanes);
  const Shape shape = core.uniform_shape(lanes, ShapeKind::kAnyLane);
  Doing doing = doing_of(core, warp, core.object(warp, deed, shape), lanes);
  doing.key = warp.key | shape.code;
  doing.injective = false;
  doing.any_lane = true;
  doing.alone = false;
  return doing;
}

Agent agent_of(const TensorWork& work, const TensorAccess& access) {
  switch (work.kind) {
    case TensorWork::Kind::kMma:
      return access.kind == Kind::kRead ? Agent::kMmaOperand : Agent::kMmaResult;
    case TensorWork::Kind::kCopy:
      return Agent::kTensorCopy;
    case TensorWork::Kind::kCopy4x256b:
      return Agent::kTensorCopy4x256b;
    case TensorWork::Kind::kShift:
      return Agent::kTensorShift;
  }
  return Agent::kTensorShift;
}

}  // namespace

WarpTensor& tensor_of(Warp& warp) {
  if (!warp.tensor) {
    Cta& cta = *warp.cta;
    warp.tensor = std::make_unique<WarpTensor>();
    warp.tensor->first = cta.components;
    cta.components += kTensorParts;
    cta.tensor_parts.push_back(warp.tensor->first);
  }
  return *warp.tensor;
}

void Engine::tensor_alloc(Warp& warp, OpId op, LaneMask lanes, uint32_t column, uint32_t columns,
                          uint32_t word) {
  core_->collect_if_due();
  LW_CHECK(column + columns <= TensorCell::kColumns, column, columns);
  warp_meet(warp, lanes);
  Doing doing = whole_warp(*core_, warp, {op, Kind::kWrite, Agent::kTensorAlloc}, lanes);
  Region& region = cells_of(*core_, warp.cta->sm);
  each_block(columns_of(column, columns), [&](const Cells& cells) {
    Block& block = *region.at(cells.base);
    if (block.detail != 0) core_->shadow.release(block);
    block = {doing.id, 0, 0, 0};
  });
  warp.cta->tensor.push_back({column, columns, 0});
  doing.space = Space::kShared;
  const Range address{word, TensorCell::kBytes};
  if (core_->story) core_->story->access(doing, {&address, 1}, CtaId{warp.cta->id});
  touch_range(doing, warp.cta->shared, address, true);
}

void Engine::tensor_free(Warp& warp, OpId op, LaneMask lanes, uint32_t column, uint32_t columns) {
  core_->collect_if_due();
  warp_meet(warp, lanes);
  const Doing doing = whole_warp(*core_, warp, {op, Kind::kWrite, Agent::kTensorFree}, lanes);
  auto& all = warp.cta->tensor;
  const auto at = std::ranges::find_if(all, [&](const TensorAllocation& one) {
    return one.column == column && one.columns == columns && one.freed == 0;
  });
  if (at == all.end()) return report_foreign(doing, column);
  const TensorBox box = TensorBox::full(column, columns);
  touch_boxes(doing, {&box, 1}, false, true);
  at->freed = doing.id;
}

void Engine::tensor_load(Warp& warp, OpId op, LaneMask lanes, std::span<const TensorBox> boxes) {
  core_->collect_if_due();
  warp_meet(warp, lanes);
  WarpTensor& tensor = tensor_of(warp);
  tensor.loads_open = true;
  const ObjectId id =
      core_->async_object(warp, {op, Kind::kRead, Agent::kTensorLoad}, agent_shape(lanes),
                          tensor.part(TensorPart::kLoads), tensor.loads);
  touch_boxes(doing_of(*core_, warp, id, lanes), boxes, true, false);
}

void Engine::tensor_store(Warp& warp, OpId op, LaneMask lanes, std::span<const TensorBox> boxes) {
  core_->collect_if_due();
  warp_meet(warp, lanes);
  WarpTensor& tensor = tensor_of(warp);
  tensor.stores_open = true;
  const ObjectId id =
      core_->async_object(warp, {op, Kind::kWrite, Agent::kTensorStore}, agent_shape(lanes),
                          tensor.part(TensorPart::kStores), tensor.stores);
  touch_boxes(doing_of(*core_, warp, id, lanes), boxes, false, true);
}

void Engine::tensor_issue(Warp& warp, OpId op, LaneId lane, const TensorWork& work) {
  core_->collect_if_due();
  WarpTensor& tensor = tensor_of(warp);
  tensor.issued[lane.value] = tensor.work;
  for (const AsyncAccess& access : work.shared) {
    const Deed deed{op, access.kind, Agent::kTensorShared};
    touch_ranges(*core_, warp, deed, lane, access, tensor.part(TensorPart::kShared), tensor.work);
  }
  for (const TensorAccess& access : work.cells) {
    const Deed deed{op, access.kind, agent_of(work, access)};
    const ObjectId id =
        core_->async_object(warp, deed, agent_shape(1u << lane.value, work.accumulator),
                            tensor.part(TensorPart::kCells), tensor.work);
    const bool writes = access.kind != Kind::kRead;
    Cta* const peer = core_->peer_of(warp, access.cta);
    LW_CHECK(peer == nullptr || work.pair, op.value);
    if (peer != nullptr) check_started(*core_, warp, op, 1u << lane.value, *peer, 0);
    touch_boxes(doing_of(*core_, warp, id, 1u << lane.value, peer), access.boxes,
                !writes || access.reads_too, writes);
  }
}

}  // namespace lw::order
