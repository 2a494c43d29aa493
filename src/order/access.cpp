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

template <Space kSpace, bool kWrites>
LW_ALWAYS_INLINE void touch_fast(const Doing& doing, Block& block, const Cells& cells) {
  if (kWrites) return write_fast<kSpace>(doing, block, cells);
  read_fast<kSpace>(doing, block, cells);
}

// The lanes from the one whose bytes begin at `from`, which may lie before lane 0's.
LaneMask window(LaneMask lanes, uint64_t base, uint64_t from, int shift) {
  const int64_t first = static_cast<int64_t>(from - base) >> shift;
  if (first <= -kWarpSize || first >= kWarpSize) return 0;
  return first >= 0 ? lanes >> first : lanes << -first;
}

// Lanes of less than a cell: through the fine blocks.
template <bool kWrites>
void narrow(const Doing& doing, Region& region, uint64_t base, uint64_t begin, uint64_t end,
            int shift) {
  for (uint64_t at = begin & ~uint64_t{31}; at < end; at += 32) {
    const LaneMask lanes = window(doing.lanes, base, at, shift);
    const Cells cells{at, kFine, spread(lanes, shift)};
    if (cells.mask == 0) continue;
    Block& fine = doing.core.shadow.fine(*region.at(at), static_cast<int>(at >> 5 & 3));
    touch_fast<Space::kGlobal, kWrites>(doing, fine, cells);
  }
}

template <Space kSpace, bool kWrites>
void contiguous(Core& core, Warp& warp, OpId op, LaneMask lanes, uint64_t base, uint32_t bytes) {
  if (lanes == 0) return;
  warp.touch(lanes);
  const int shift = __builtin_ctz(bytes);
  Deed deed{op, kWrites ? Kind::kWrite : Kind::kRead};
  const Doing doing = doing_of(core, warp, deed, affine_shape(base, shift), kSpace, lanes);
  const uint64_t begin = base + (static_cast<uint64_t>(__builtin_ctz(lanes)) << shift);
  const uint64_t end = base + (static_cast<uint64_t>(32 - __builtin_clz(lanes)) << shift);
  Region& region = core.region(warp, kSpace, begin);
  LW_CHECK(region.holds(begin) && region.holds(end - 1), begin, end, op.value);
  if (shift < kCoarse) return narrow<kWrites>(doing, region, base, begin, end, shift);
  constexpr uint64_t kBlockBytes = 1u << kBlockShift;
  for (uint64_t at = begin & ~(kBlockBytes - 1); at < end; at += kBlockBytes) {
    const Cells cells{at, kCoarse, spread(window(lanes, base, at, shift), shift - kCoarse)};
    if (cells.mask != 0) touch_fast<kSpace, kWrites>(doing, *region.at(at), cells);
  }
}

Deed deed_of(const Access& access) {
  Deed deed{access.op, access.kind};
  deed.strong = access.kind == Kind::kAtomic || access.strength != Strength::kWeak;
  deed.scope = access.scope;
  deed.element_bytes = access.element_bytes;
  return deed;
}

EachShape each_of(const Access& access) {
  EachShape each;
  each.lanes = access.lanes;
  each.bytes = access.bytes;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (access.lanes >> lane & 1) each.address[lane] = access.at.of(lane, access.bytes);
  }
  return each;
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
  Region& region = core_->region(warp, space, address);
  LW_CHECK(region.holds(address) && region.holds(address + bytes - 1), address, op.value);
  if (bytes < 4) return touch_range(doing, region, {address, bytes}, false);
  const uint64_t at = address >> kBlockShift << kBlockShift;
  const int cells = static_cast<int>(bytes >> kCoarse);
  const CellMask mask = ((1u << cells) - 1) << ((address - at) >> kCoarse);
  read_fast<Space::kGlobal>(doing, *region.at(at), {at, kCoarse, mask});
}

void Engine::access(Warp& warp, const Access& access) {
  core_->collect_if_due();
  if (access.lanes == 0) return;
  const bool writes = access.kind != Kind::kRead;
  if (access.kind != Kind::kAtomic && access.strength == Strength::kWeak &&
      access.at.shape == Addresses::Shape::kContiguous) {
    return writes ? write_contiguous(warp, access.op, access.lanes, access.space, access.at.base,
                                     access.bytes)
                  : read_contiguous(warp, access.op, access.lanes, access.space, access.at.base,
                                    access.bytes);
  }
  warp.touch(access.lanes);
  const EachShape each = each_of(access);
  const Deed deed = deed_of(access);
  if (deed.strong) check_strong(*core_, warp, access);
  Doing doing = doing_of(*core_, warp, deed, core_->shape_of(each), access.space, access.lanes);
  touch_each(doing, core_->region(warp, access.space, each.address[__builtin_ctz(each.lanes)]),
             each, writes);
}

void Engine::matrix_rows(Warp& warp, OpId op, LaneMask lanes, LaneMask row_lanes,
                         const uint32_t* rows, uint32_t row_bytes, Kind kind) {
  core_->collect_if_due();
  warp.touch(lanes);
  EachShape each;
  each.lanes = row_lanes;
  each.bytes = row_bytes;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (row_lanes >> lane & 1) each.address[lane] = rows[lane];
  }
  const bool writes = kind != Kind::kRead;
  Deed deed{op, kind, Agent::kMatrixRows};
  const Shape shape =
      writes ? core_->each_shape(each) : core_->uniform_shape(lanes, ShapeKind::kAnyLane);
  Doing doing = doing_of(*core_, warp, deed, shape, Space::kShared, row_lanes);
  if (!writes) doing.rows = &each;
  touch_each(doing, warp.cta->shared, each, writes);
}

}  // namespace lw::order
