// Lanes with addresses of their own, and ranges of asynchronous operations: block by block.

#include "base/check.h"
#include "order/judge.h"
#include "order/ladder.h"

namespace lw::order {
namespace {

// The cells of one block that lanes with addresses of their own cover.
struct Cover {
  CellMask cells = 0;
  bool injective = true;

  void add(CellMask lane) {
    injective &= (cells & lane) == 0;
    cells |= lane;
  }
};

CellMask run_of(int first, int count) {
  return count >= kCellsPerBlock ? kAllCells : ((1u << count) - 1) << first;
}

// Several lanes of one store at one address: one of them survives, which one is not said (M-18).
[[gnu::noinline]] void note_if_lanes_differ(const Doing& doing, const Cells& cells) {
  const Object& object = doing.core.objects[doing.id];
  if (object.strong || object.agent != Agent::kLanes || doing.core.values == nullptr) return;
  for (CellMask rest = cells.mask; rest != 0; rest &= rest - 1) {
    const uint64_t at = cells.address(__builtin_ctz(rest));
    if (doing.core.values->lanes_agree(at, 1u << cells.shift)) continue;
    Race note;
    note.rule = RuleId::kM18;
    note.tier = Tier::kNote;
    note.space = doing.space;
    note.earlier = note.later = party_of(object, doing.lanes_at(at));
    note.address = at;
    note.bytes = 1u << cells.shift;
    return doing.core.report_race(note, doing.serial);
  }
}

void touch(Doing& doing, Block& block, uint64_t base, int shift, const Cover& cover, bool writes) {
  if (cover.cells == 0) return;
  if (writes && !cover.injective) note_if_lanes_differ(doing, {base, shift, cover.cells});
  doing.injective = cover.injective;
  const Cells cells{base, shift, cover.cells};
  const auto slow = [&] {
    writes ? write_block(doing, block, cells) : read_block(doing, block, cells);
  };
  if (doing.strong) return slow();
  if (writes) {
    write_fast<Space::kGlobal>(doing.core.objects, who_is(doing), block, cover.cells, slow);
  } else {
    read_fast<Space::kGlobal>(doing.core.objects, who_is(doing), block, cover.cells, slow);
  }
}

// Lanes of `here` lie in the block at `base`.
void touch_coarse(Doing& doing, Block& block, uint64_t base, const EachShape& shape, LaneMask here,
                  bool writes) {
  Cover cover;
  const int count = static_cast<int>(shape.bytes >> kCoarse);
  for (LaneMask rest = here; rest != 0; rest &= rest - 1) {
    const uint64_t offset = shape.address[__builtin_ctz(rest)] - base;
    cover.add(run_of(static_cast<int>(offset >> kCoarse), count));
  }
  touch(doing, block, base, kCoarse, cover, writes);
}

void touch_narrow(Doing& doing, Block& block, uint64_t base, const EachShape& shape, LaneMask here,
                  bool writes) {
  Cover cover[4];
  for (LaneMask rest = here; rest != 0; rest &= rest - 1) {
    const uint64_t offset = shape.address[__builtin_ctz(rest)] - base;
    cover[offset >> 5].add(run_of(static_cast<int>(offset & 31), static_cast<int>(shape.bytes)));
  }
  for (int quarter = 0; quarter < 4; ++quarter) {
    if (cover[quarter].cells == 0) continue;
    touch(doing, doing.core.shadow.fine(block, quarter), base + static_cast<uint64_t>(quarter) * 32,
          kFine, cover[quarter], writes);
  }
}

// Has everything in the block been found ordered a moment ago?
bool passes_range(const Doing& doing, const Block& block) {
  return block.detail == 0 && doing.remembers(block.write) && doing.remembers(block.reader);
}

void touch_block(const Doing& doing, Block& block, const Cells& cells, bool writes) {
  if (passes_range(doing, block) && (cells.mask == kAllCells || !writes)) {
    if (writes) {
      block = {doing.id, 0, 0, 0};
      return;
    }
    if (block.reader == 0) {
      block.reader = doing.id;
      block.reader_cells = cells.mask;
      return;
    }
  }
  if (writes) {
    write_block(doing, block, cells);
  } else {
    read_block(doing, block, cells);
  }
}

}  // namespace

namespace {

// Lanes of `here` are those that go to the block of lane `first`.
void touch_lanes(Doing& doing, Region& region, const EachShape& shape, int first, LaneMask here,
                 bool writes) {
  const uint64_t base = shape.address[first] >> kBlockShift << kBlockShift;
  Region& at = region.holds(base) ? region : doing.core.region(doing.warp, doing.space, base);
  LW_CHECK(at.holds(base) && (shape.address[first] & (shape.bytes - 1)) == 0, shape.address[first]);
  if (shape.bytes < 4) {
    touch_narrow(doing, *at.at(base), base, shape, here, writes);
  } else {
    touch_coarse(doing, *at.at(base), base, shape, here, writes);
  }
}

// Lanes that ascend meet each block once, in neighbours.
bool ascends(const EachShape& shape) {
  uint64_t last = 0;
  bool ascends = true;
  for (LaneMask rest = shape.lanes; rest != 0; rest &= rest - 1) {
    const uint64_t block = shape.address[__builtin_ctz(rest)] >> kBlockShift;
    ascends &= block >= last;
    last = block;
  }
  return ascends;
}

// The lanes of `rest` in the block of the first of them.
LaneMask neighbours(const EachShape& shape, LaneMask rest) {
  const uint64_t block = shape.address[__builtin_ctz(rest)] >> kBlockShift;
  LaneMask here = 0;
  for (; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (shape.address[lane] >> kBlockShift != block) break;
    here |= 1u << lane;
  }
  return here;
}

LaneMask scattered(const EachShape& shape, LaneMask rest) {
  const uint64_t block = shape.address[__builtin_ctz(rest)] >> kBlockShift;
  LaneMask here = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    here |= static_cast<LaneMask>(shape.address[lane] >> kBlockShift == block) << lane;
  }
  return here & rest;
}

}  // namespace

void touch_each(Doing& doing, Region& region, const EachShape& shape, bool writes) {
  const bool in_order = ascends(shape);
  LaneMask rest = shape.lanes;
  while (rest != 0) {
    const LaneMask here = in_order ? neighbours(shape, rest) : scattered(shape, rest);
    touch_lanes(doing, region, shape, __builtin_ctz(rest), here, writes);
    rest &= ~here;
  }
}

void touch_range(const Doing& doing, Region& region, const Range& range, bool writes) {
  const uint64_t end = range.base + range.bytes;
  LW_CHECK(region.holds(range.base) && region.holds(end - 1), range.base, range.bytes);
  const bool fine = ((range.base | range.bytes) & 3) != 0;
  const int shift = fine ? kFine : kCoarse;
  const uint64_t step = static_cast<uint64_t>(kCellsPerBlock) << shift;
  for (uint64_t at = range.base & ~(step - 1); at < end; at += step) {
    const uint64_t from = std::max(at, range.base);
    const uint64_t to = std::min(at + step, end);
    const Cells cells{
        at, shift,
        run_of(static_cast<int>((from - at) >> shift), static_cast<int>((to - from) >> shift))};
    Block& block = *region.at(at);
    Block& target = fine ? doing.core.shadow.fine(block, static_cast<int>(at >> 5 & 3)) : block;
    if (doing.alone) {
      touch_block(doing, target, cells, writes);
    } else {
      read_fast<Space::kGlobal>(doing.core.objects, who_is(doing), target, cells.mask,
                                [&] { read_block(doing, target, cells); });
    }
  }
}

}  // namespace lw::order
