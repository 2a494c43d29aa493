// Accesses of any shape; lanes in a row are in row.cpp.

#include "base/check.h"
#include "order/cluster.h"
#include "order/core.h"
#include "order/ladder.h"
#include "order/recall.h"
#include "order/shape.h"

namespace lw::order {
namespace {

Doing doing_of(Core& core, Warp& warp, const Deed& deed, const Shape& shape, Space space,
               LaneMask lanes, Cta* peer = nullptr) {
  Doing doing{core, warp};
  doing.peer = peer;
  if (peer == nullptr) {
    doing.id = core.object(warp, deed, shape);
    doing.key = warp.key | shape.code;
  } else {
    doing.key = place_key(warp, peer) | core.objects.foreign_code(warp.cta->id, shape.code);
    doing.id = core.peer_object(warp, deed, shape, doing.key);
  }
  doing.injective = shape.injective;
  doing.any_lane = shape.kind == ShapeKind::kAnyLane;
  doing.strong = deed.strong;
  doing.space = space;
  doing.lanes = lanes;
  doing.serial = ++core.findings.facts().accesses;
  return doing;
}

Deed deed_of(const Access& access) {
  Deed deed{access.op, access.kind};
  deed.strong = access.kind == Kind::kAtomic || access.strength != Strength::kWeak;
  deed.scope = access.scope;
  deed.element_bytes = access.element_bytes;
  return deed;
}

}  // namespace

namespace {

// Keeps the step that a read by lanes in an order of their own has just taken on its first block.
void remember(const Doing& doing, const EachShape& each, uint64_t low, const Block& found,
              const Block& left) {
  Recall::Permuted& last = doing.warp.recall.permuted;
  last.step = read_step<Space::kShared>(doing.warp, doing.key, found, left);
  last.key = doing.key;
  last.shift = __builtin_ctz(each.bytes);
  last.row_start = low % (uint64_t{kWarpSize} * each.bytes);
  for (int lane = 0; lane < kWarpSize; ++lane)
    last.offset[lane] = static_cast<uint32_t>(each.address[lane] - low);
}

bool recalls_permuted(Warp& warp, const EachShape& each, uint64_t low) {
  const auto offset = [&](int lane) { return static_cast<uint32_t>(each.address[lane] - low); };
  if (each.bytes == 4) return recall_shared_permuted<2>(warp, low, offset);
  if (each.bytes == 8) return recall_shared_permuted<3>(warp, low, offset);
  return each.bytes == 16 && recall_shared_permuted<4>(warp, low, offset);
}

// All lanes, filling a row in an order of their own.
void permuted(Core& core, Warp& warp, const Access& access, const EachShape& each,
              const Scan& scan) {
  const bool shared_read = access.kind == Kind::kRead && access.space == Space::kShared;
  if (shared_read && recalls_permuted(warp, each, scan.low)) return;
  core.collect_if_due();
  warp.touch(access.lanes);
  const Shape shape = core.permuted_shape(warp, access.op, scan.place, __builtin_ctz(each.bytes));
  const Doing doing =
      doing_of(core, warp, {access.op, access.kind}, shape, access.space, access.lanes);
  if (core.story) core.story->access(doing, each);
  Region& region = core.region(warp, access.space, scan.low);
  const Block found = *region.at(scan.low);
  touch_range(doing, region, {scan.low, kWarpSize * each.bytes}, access.kind != Kind::kRead);
  if (shared_read && core.recalls() && scan.low % (1u << kBlockShift) == 0)
    remember(doing, each, scan.low, found, *region.at(scan.low));
}

[[gnu::noinline]] void read_uniform_slowly(Core& core, Warp& warp, OpId op, LaneMask lanes,
                                           Space space, uint64_t address, uint32_t bytes) {
  core.collect_if_due();
  warp.touch(lanes);
  const Shape shape = core.uniform_shape(lanes, ShapeKind::kLanes);
  const Doing doing = doing_of(core, warp, {op}, shape, space, lanes);
  if (core.recalls() && lanes == kAllLanes) warp.recall.uniform = {warp.count, doing.id, 0, 0};
  if (core.story) core.story->access(doing, each_of(Addresses::uniform(address), lanes, bytes));
  touch_range(doing, core.region(warp, space, address), {address, bytes}, false);
}

// All lanes read one place.
template <Space kSpace>
void read_uniform_in(Core& core, Warp& warp, OpId op, LaneMask lanes, uint64_t address,
                     uint32_t bytes) {
  Block* const block = core.region(warp, kSpace, address).row(address, 1);
  LW_CHECK(block != nullptr, address, op.value);
  if (lanes == kAllLanes && bytes >= 4 && recall_uniform<kSpace>(warp, *block, address, bytes))
    return count_access(warp);
  read_uniform_slowly(core, warp, op, lanes, kSpace, address, bytes);
}

}  // namespace

void Engine::read_uniform(Warp& warp, OpId op, LaneMask lanes, Space space, uint64_t address,
                          uint32_t bytes) {
  if (lanes == 0) return;
  if (space == Space::kShared) {
    return read_uniform_in<Space::kShared>(*core_, warp, op, lanes, address, bytes);
  }
  read_uniform_in<Space::kGlobal>(*core_, warp, op, lanes, address, bytes);
}

void Engine::access(Warp& warp, const Access& access) {
  if (access.lanes == 0) return;
  const bool writes = access.kind != Kind::kRead;
  const Deed deed = deed_of(access);
  const EachShape each = each_of(access.at, access.lanes, access.bytes);
  Pattern& pattern = core_->patterns.of(each);
  const Scan found = pattern.scan();
  const Row& row = found.row;
  Cta* const peer = access.space == Space::kShared ? core_->peer_of(warp, access.cta) : nullptr;
  const bool is_plain = !deed.strong && peer == nullptr;
  if (is_plain && row.regular && row.stride == access.bytes) {
    return writes ? write_contiguous(warp, access.op, access.lanes, access.space, row.base,
                                     access.bytes)
                  : read_contiguous(warp, access.op, access.lanes, access.space, row.base,
                                    access.bytes);
  }
  if (is_plain && !row.regular && found.whole && each.bytes >= 4) {
    return permuted(*core_, warp, access, each, found);
  }
  core_->collect_if_due();
  warp.touch(access.lanes);
  if (peer != nullptr)
    check_started(*core_, warp, access.op, access.lanes, *peer,
                  each.address[__builtin_ctz(each.lanes)]);
  Doing doing = doing_of(*core_, warp, deed, core_->shape_of(warp, access.op, each, row),
                         access.space, access.lanes, peer);
  if (core_->story) core_->story->access(doing, each);
  if (deed.strong) forget_overwritten(*core_, warp, access, each);
  const uint64_t first = each.address[__builtin_ctz(each.lanes)];
  touch_each(doing, core_->region(warp, access.space, first, peer), each, pattern, writes);
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
      writes ? core_->each_shape(warp, op, each) : core_->uniform_shape(lanes, ShapeKind::kAnyLane);
  Doing doing = doing_of(*core_, warp, deed, shape, Space::kShared, row_lanes);
  if (!writes) doing.rows = &each;
  if (core_->story) core_->story->access(doing, each);
  touch_each(doing, warp.cta->shared, each, core_->patterns.of(each), writes);
}

}  // namespace lw::order
