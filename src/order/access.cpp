// Accesses of common shape, the fast paths of the engine, and the general entry.

#include "base/check.h"
#include "order/core.h"
#include "order/ladder.h"
#include "order/shape.h"
#include "order/spread.h"

namespace lw::order {
namespace {

Doing doing_of(Core& core, Warp& warp, const Deed& deed, const Shape& shape, Space space,
               LaneMask lanes) {
  const ObjectId id = core.object(warp, deed, shape);
  Doing doing{core, warp};
  doing.id = id;
  doing.key = warp.key | shape.code;
  doing.injective = shape.injective;
  doing.any_lane = shape.kind == ShapeKind::kAnyLane;
  doing.strong = deed.strong;
  doing.space = space;
  doing.lanes = lanes;
  doing.serial = ++core.findings.facts().accesses;
  return doing;
}

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
  return core.object(warp, {op, kind}, affine_shape(base, shift));
}

[[gnu::noinline]] void log_row(const RowAccess& row, Space space) {
  Doing doing{row.core, row.warp};
  doing.id = row.id;
  doing.space = space;
  row.core.story->access(doing,
                         each_of(Addresses::contiguous(row.base), row.lanes, 1u << row.shift));
}

template <Space kSpace, bool kWrites>
LW_ALWAYS_INLINE void contiguous(Core& core, Warp& warp, OpId op, LaneMask lanes, uint64_t base,
                                 uint32_t bytes) {
  constexpr uint64_t kBlockBytes = 1u << kBlockShift;
  if (lanes == 0) return;
  warp.touch(lanes);
  ++core.findings.facts().accesses;
  const int shift = __builtin_ctz(bytes);
  const uint32_t code = affine_code(base, shift);
  const Warp::Cached& cached = warp.cached[op.value % Warp::kCached];
  const bool hit = cached.op == op.value && cached.count == warp.count && cached.code == code;
  const Kind kind = kWrites ? Kind::kWrite : Kind::kRead;
  const ObjectId id = hit ? cached.id : new_row_object(core, warp, op, kind, base, shift);
  const RowAccess row{core, warp, op, id, code, lanes, base, shift};
  if (core.story) [[unlikely]]
    log_row(row, kSpace);
  const uint64_t begin = base + (static_cast<uint64_t>(__builtin_ctz(lanes)) << shift);
  const uint64_t end = base + (static_cast<uint64_t>(32 - __builtin_clz(lanes)) << shift);
  Region& region = kSpace == Space::kShared ? warp.cta->shared : core.buffer(begin);
  LW_CHECK(region.holds(begin) && region.holds(end - 1), begin, end, op.value);
  if (shift < kCoarse) [[unlikely]]
    return narrow<kSpace, kWrites>(row, region, begin, end);
  const bool all = lanes == kAllLanes && begin % kBlockBytes == 0;
  for (uint64_t at = begin & ~(kBlockBytes - 1); at < end; at += kBlockBytes) {
    const CellMask cells =
        all ? kAllCells : spread(window(lanes, base, at, shift), shift - kCoarse);
    if (cells != 0) touch_row<kSpace, kWrites>(row, *region.at(at), at, kCoarse, cells);
  }
}

Deed deed_of(const Access& access) {
  Deed deed{access.op, access.kind};
  deed.strong = access.kind == Kind::kAtomic || access.strength != Strength::kWeak;
  deed.scope = access.scope;
  deed.element_bytes = access.element_bytes;
  return deed;
}

}  // namespace

void Engine::read_contiguous(Warp& warp, OpId op, LaneMask lanes, Space space, uint64_t base,
                             uint32_t bytes) {
  core_->collect_if_due();
  if (space == Space::kShared) {
    contiguous<Space::kShared, false>(*core_, warp, op, lanes, base, bytes);
  } else {
    contiguous<Space::kGlobal, false>(*core_, warp, op, lanes, base, bytes);
  }
}

void Engine::write_contiguous(Warp& warp, OpId op, LaneMask lanes, Space space, uint64_t base,
                              uint32_t bytes) {
  core_->collect_if_due();
  if (space == Space::kShared) {
    contiguous<Space::kShared, true>(*core_, warp, op, lanes, base, bytes);
  } else {
    contiguous<Space::kGlobal, true>(*core_, warp, op, lanes, base, bytes);
  }
}

void Engine::read_uniform(Warp& warp, OpId op, LaneMask lanes, Space space, uint64_t address,
                          uint32_t bytes) {
  core_->collect_if_due();
  if (lanes == 0) return;
  warp.touch(lanes);
  const Shape shape = core_->uniform_shape(lanes, ShapeKind::kLanes);
  const Doing doing = doing_of(*core_, warp, {op}, shape, space, lanes);
  if (core_->story) core_->story->access(doing, each_of(Addresses::uniform(address), lanes, bytes));
  Region& region = core_->region(warp, space, address);
  LW_CHECK(region.holds(address) && region.holds(address + bytes - 1), address, op.value);
  if (bytes < 4) return touch_range(doing, region, {address, bytes}, false);
  const uint64_t at = address >> kBlockShift << kBlockShift;
  const int cells = static_cast<int>(bytes >> kCoarse);
  const CellMask mask = ((1u << cells) - 1) << ((address - at) >> kCoarse);
  Block& block = *region.at(at);
  read_fast<Space::kGlobal>(core_->objects, who_is(doing), block, mask, [&] {
    read_block(doing, block, {at, kCoarse, mask});
  });
}

void Engine::access(Warp& warp, const Access& access) {
  if (access.lanes == 0) return;
  const bool writes = access.kind != Kind::kRead;
  const Deed deed = deed_of(access);
  const EachShape each = each_of(access.at, access.lanes, access.bytes);
  const Row row = row_of(each);
  if (!deed.strong && row.regular && row.stride == access.bytes) {
    return writes ? write_contiguous(warp, access.op, access.lanes, access.space, row.base,
                                     access.bytes)
                  : read_contiguous(warp, access.op, access.lanes, access.space, row.base,
                                    access.bytes);
  }
  core_->collect_if_due();
  warp.touch(access.lanes);
  Doing doing =
      doing_of(*core_, warp, deed, core_->shape_of(each, row), access.space, access.lanes);
  if (core_->story) core_->story->access(doing, each);
  if (deed.strong) forget_overwritten(*core_, warp, access, each);
  touch_each(doing, core_->region(warp, access.space, each.address[__builtin_ctz(each.lanes)]),
             each, writes);
  if (deed.strong) synchronise(*core_, warp, access, each);
}

void Engine::matrix_rows(Warp& warp, OpId op, LaneMask lanes, LaneMask row_lanes,
                         const uint32_t* rows, uint32_t row_bytes, Kind kind) {
  core_->collect_if_due();
  warp.touch(lanes);
  const EachShape each = each_of(Addresses::each32(rows), row_lanes, row_bytes);
  const bool writes = kind != Kind::kRead;
  Deed deed{op, kind, Agent::kMatrixRows};
  const Shape shape =
      writes ? core_->each_shape(each) : core_->uniform_shape(lanes, ShapeKind::kAnyLane);
  Doing doing = doing_of(*core_, warp, deed, shape, Space::kShared, row_lanes);
  if (!writes) doing.rows = &each;
  if (core_->story) core_->story->access(doing, each);
  touch_each(doing, warp.cta->shared, each, writes);
}

}  // namespace lw::order
