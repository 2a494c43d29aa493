// Lanes in a row, the fast paths of the engine: a warp instruction whose lanes go to neighbouring
// places. When all lanes are on and begin with a block, it is whole blocks and one comparison each.

#include "base/check.h"
#include "order/core.h"
#include "order/ladder.h"
#include "order/recall.h"
#include "order/shape.h"
#include "order/spread.h"

namespace lw::order {
namespace {

// The general path of one block for lanes in a row.
template <bool kWrites>
[[gnu::noinline]] void touch_slowly(Core& core, Warp& warp, ObjectId id, uint32_t code, Space space,
                                    LaneMask lanes, Block& block, Cells cells) {
  Doing doing{core, warp};
  doing.id = id;
  doing.key = warp.key | code;
  doing.space = space;
  doing.lanes = lanes;
  doing.serial = core.findings.facts().accesses;
  kWrites ? write_block(doing, block, cells) : read_block(doing, block, cells);
}

// Lanes in a row, at `base` + lane << shift.
struct RowAccess {
  Core& core;
  Warp& warp;
  OpId op;
  ObjectId id;
  uint32_t code;
  LaneMask lanes;
  uint64_t base;
  int shift;
};

template <Space kSpace, bool kWrites>
LW_ALWAYS_INLINE void touch_row(const RowAccess& row, Block& block, uint64_t at, int cell_shift,
                                CellMask cells) {
  const Who who = who_is(row.warp, row.id, row.code, true);
  const auto slow = [&] {
    touch_slowly<kWrites>(row.core, row.warp, row.id, row.code, kSpace, row.lanes, block,
                          {at, cell_shift, cells});
  };
  if (kWrites) {
    write_fast<kSpace>(row.core.objects, who, block, cells, slow);
  } else {
    read_fast<kSpace>(row.core.objects, who, block, cells, slow);
  }
}

// The lanes from the one whose bytes begin at `from`, which may lie before lane 0's.
LaneMask window(LaneMask lanes, uint64_t base, uint64_t from, int shift) {
  const int64_t first = static_cast<int64_t>(from - base) >> shift;
  if (first <= -kWarpSize || first >= kWarpSize) return 0;
  return first >= 0 ? lanes >> first : lanes << -first;
}

// Lanes of less than a cell: through the fine blocks.
template <Space kSpace, bool kWrites>
void narrow(const RowAccess& row, Region& region, uint64_t begin, uint64_t end) {
  for (uint64_t at = begin & ~uint64_t{31}; at < end; at += 32) {
    const CellMask cells = spread(window(row.lanes, row.base, at, row.shift), row.shift);
    if (cells == 0) continue;
    Block& fine = row.core.shadow.fine(*region.at(at), static_cast<int>(at >> 5 & 3));
    touch_row<kSpace, kWrites>(row, fine, at, kFine, cells);
  }
}

[[gnu::noinline]] ObjectId new_row_object(Core& core, Warp& warp, OpId op, Kind kind, uint64_t base,
                                          int shift) {
  core.collect_if_due();
  return core.object(warp, {op, kind}, affine_shape(base, shift));
}

[[gnu::noinline]] void log_row(RowAccess row, Space space) {
  Doing doing{row.core, row.warp};
  doing.id = row.id;
  doing.space = space;
  row.core.story->access(doing,
                         each_of(Addresses::contiguous(row.base), row.lanes, 1u << row.shift));
}

[[gnu::noinline, gnu::cold]] void outside(uint64_t begin, uint64_t end, OpId op) {
  LW_CHECK(false && "an access lies in declared memory", begin, end, op.value);
}

// The object of a row; from the warp's cache as a rule.
template <bool kWrites>
LW_ALWAYS_INLINE ObjectId row_object(Core& core, Warp& warp, OpId op, uint32_t code, uint64_t base,
                                     int shift) {
  const Kind kind = kWrites ? Kind::kWrite : Kind::kRead;
  const ObjectId id = core.cached_object(warp, core.owner(op, kind, Agent::kLanes, false), code);
  if (id != 0) [[likely]]
    return id;
  return new_row_object(core, warp, op, kind, base, shift);
}

template <Space kSpace>
LW_ALWAYS_INLINE Region& region_of(Core& core, Warp& warp, uint64_t address) {
  if (kSpace == Space::kShared) return warp.cta->shared;
  return core.buffer(address);
}

// Keeps the step that the engine has just taken on a block.
template <Space kSpace, bool kWrites, int kShift>
void remember(Core& core, Warp& warp, ObjectId id, uint64_t base, const Block& found,
              const Block& left) {
  if (!core.recalls()) return;
  if constexpr (kWrites) {
    warp.recall.writes[row_slot<kShift>(base)] = {warp.count, id, 0, 0};
  } else {
    const uint64_t key = warp.key | affine_code(base, kShift);
    const Recall::Step step = read_step<kSpace>(warp, key, found, left);
    Recall::Reads& steps = warp.recall.reads[row_slot<kShift>(base)];
    if (step.count != 0) steps = {step, steps.last};
  }
}

// Every lane is on and the row begins with a block: whole blocks.
template <Space kSpace, bool kWrites, int kShift>
[[gnu::noinline]] void whole_slowly(Core& core, Warp& warp, OpId op, Block* block, uint64_t base) {
  constexpr uint64_t kBlocks = (32u << kShift) >> kBlockShift;
  const uint32_t code = affine_code(base, kShift);
  const ObjectId id = row_object<kWrites>(core, warp, op, code, base, kShift);
  const RowAccess row{core, warp, op, id, code, kAllLanes, base, kShift};
  if (core.story) log_row(row, kSpace);
  const Block found = *block;
  for (uint64_t i = 0; i < kBlocks; ++i) {
    touch_row<kSpace, kWrites>(row, block[i], base + (i << kBlockShift), kCoarse, kAllCells);
  }
  remember<kSpace, kWrites, kShift>(core, warp, id, base, found, *block);
}

// Kept apart from its callers, so that the path through it saves no registers.
template <Space kSpace, bool kWrites, int kShift>
[[gnu::noinline]] void whole(Core& core, Warp& warp, OpId op, uint64_t base) {
  constexpr uint64_t kBlocks = (32u << kShift) >> kBlockShift;
  Block* block = region_of<kSpace>(core, warp, base).row(base, kBlocks);
  if (block == nullptr) [[unlikely]]
    return outside(base, base + (32u << kShift), op);
  const uint64_t key = warp.key | affine_code(base, kShift);
  const auto ordered = [&](ObjectId id) __attribute__((always_inline)) {
    return is_known_ordered<kSpace>(warp, key, id) || learns_ordered(core.objects, warp, id);
  };
  const bool done = kWrites ? recall_write<kShift>(warp, block, base, ordered)
                            : recall_read<kShift>(warp, block, base, ordered);
  if (!done) whole_slowly<kSpace, kWrites, kShift>(core, warp, op, block, base);
}

// The cells of the block at `at` that lie in [begin, end).
CellMask cells_between(uint64_t at, uint64_t begin, uint64_t end) {
  CellMask cells = kAllCells;
  if (begin > at) cells <<= (begin - at) >> kCoarse;
  const uint64_t block_end = at + (1u << kBlockShift);
  if (end < block_end) cells &= kAllCells >> ((block_end - end) >> kCoarse);
  return cells;
}

// Any lanes, any place.
template <Space kSpace, bool kWrites>
[[gnu::noinline]] void some_lanes(Core& core, Warp& warp, OpId op, LaneMask lanes, uint64_t base,
                                  uint32_t bytes) {
  constexpr uint64_t kBlockBytes = 1u << kBlockShift;
  const int shift = __builtin_ctz(bytes);
  const uint32_t code = affine_code(base, shift);
  const ObjectId id = row_object<kWrites>(core, warp, op, code, base, shift);
  const RowAccess row{core, warp, op, id, code, lanes, base, shift};
  if (core.story) [[unlikely]]
    log_row(row, kSpace);
  const uint64_t begin = base + (static_cast<uint64_t>(__builtin_ctz(lanes)) << shift);
  const uint64_t end = base + (static_cast<uint64_t>(32 - __builtin_clz(lanes)) << shift);
  Region& region = region_of<kSpace>(core, warp, begin);
  if (!region.holds(begin) || !region.holds(end - 1)) [[unlikely]]
    outside(begin, end, op);
  if (shift < kCoarse) [[unlikely]]
    return narrow<kSpace, kWrites>(row, region, begin, end);
  for (uint64_t at = begin & ~(kBlockBytes - 1); at < end; at += kBlockBytes) {
    const CellMask cells = lanes == kAllLanes
                               ? cells_between(at, begin, end)
                               : spread(window(lanes, base, at, shift), shift - kCoarse);
    if (cells != 0) touch_row<kSpace, kWrites>(row, *region.at(at), at, kCoarse, cells);
  }
}

template <Space kSpace, bool kWrites>
LW_ALWAYS_INLINE void contiguous(Core& core, Warp& warp, OpId op, LaneMask lanes, uint64_t base,
                                 uint32_t bytes) {
  if (lanes == 0) return;
  warp.touch(lanes);
  ++core.findings.facts().accesses;
  if (lanes == kAllLanes && base % (1u << kBlockShift) == 0) {
    if (bytes == 4) return whole<kSpace, kWrites, 2>(core, warp, op, base);
    if (bytes == 16) return whole<kSpace, kWrites, 4>(core, warp, op, base);
    if (bytes == 8) return whole<kSpace, kWrites, 3>(core, warp, op, base);
  }
  some_lanes<kSpace, kWrites>(core, warp, op, lanes, base, bytes);
}

}  // namespace

void Engine::read_contiguous(Warp& warp, OpId op, LaneMask lanes, Space space, uint64_t base,
                             uint32_t bytes) {
  if (space == Space::kShared) {
    contiguous<Space::kShared, false>(*core_, warp, op, lanes, base, bytes);
  } else {
    contiguous<Space::kGlobal, false>(*core_, warp, op, lanes, base, bytes);
  }
}

void Engine::write_contiguous(Warp& warp, OpId op, LaneMask lanes, Space space, uint64_t base,
                              uint32_t bytes) {
  if (space == Space::kShared) {
    contiguous<Space::kShared, true>(*core_, warp, op, lanes, base, bytes);
  } else {
    contiguous<Space::kGlobal, true>(*core_, warp, op, lanes, base, bytes);
  }
}

}  // namespace lw::order
