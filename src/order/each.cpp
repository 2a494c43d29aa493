// Lanes with addresses of their own, block by block. Each block must be met once per instruction,
// or its lanes would be compared with each other.

#include "base/check.h"
#include "order/judge.h"
#include "order/ladder.h"

namespace lw::order {
namespace {

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
    note.owner = CtaId{doing.place().id};
    note.address = at;
    note.bytes = 1u << cells.shift;
    return doing.core.report_race(note, doing.serial);
  }
}

template <bool kWrites>
LW_ALWAYS_INLINE void touch(Doing& doing, Block& block, const Cells& cells, bool injective) {
  if (kWrites && !injective) note_if_lanes_differ(doing, cells);
  doing.injective = injective;
  const auto slow = [&] {
    kWrites ? write_block(doing, block, cells) : read_block(doing, block, cells);
  };
  if (doing.strong) return slow();
  if (kWrites) {
    write_fast<Space::kGlobal>(doing.core.objects, who_is(doing), block, cells.mask, slow);
  } else {
    read_fast<Space::kGlobal>(doing.core.objects, who_is(doing), block, cells.mask, slow);
  }
}

// The block at `base`, also when it lies in another buffer than the first lane's.
LW_ALWAYS_INLINE Block& block_at(Doing& doing, Region& region, uint64_t base) {
  if (region.holds(base)) [[likely]]
    return *region.at(base);
  Region& other = doing.core.region(doing.warp, doing.space, base, doing.peer);
  LW_CHECK(other.holds(base), base);
  return *other.at(base);
}

// Lanes of at least a cell.
template <bool kWrites>
void touch_wide(Doing& doing, Region& region, Pattern& pattern) {
  Covers& covers = pattern.covers;
  if (covers.count == 0) find_covers(pattern.distance, covers);
  for (int i = 0; i < covers.count; ++i) {
    const Cover& cover = covers.cover[static_cast<size_t>(i)];
    const Cells cells{pattern.start + cover.base, kCoarse, cover.cells};
    touch<kWrites>(doing, block_at(doing, region, cells.base), cells, cover.injective);
  }
}

// Lanes of a byte or two: fine blocks.
template <bool kWrites>
void touch_narrow(Doing& doing, Region& region, const EachShape& shape) {
  const CellMask run = (1u << shape.bytes) - 1;
  for (LaneMask rest = shape.lanes; rest != 0;) {
    const uint64_t block = shape.address[__builtin_ctz(rest)] >> kBlockShift;
    Cover cover[4];
    for (LaneMask here = rest; here != 0; here &= here - 1) {
      const uint64_t address = shape.address[__builtin_ctz(here)];
      if (address >> kBlockShift != block) continue;
      rest &= ~(here & -here);
      Cover& quarter = cover[address >> 5 & 3];
      const CellMask lane = run << (address & 31);
      quarter.injective &= (quarter.cells & lane) == 0;
      quarter.cells |= lane;
    }
    Block& coarse = block_at(doing, region, block << kBlockShift);
    for (int quarter = 0; quarter < 4; ++quarter) {
      if (cover[quarter].cells == 0) continue;
      const uint64_t base = (block << kBlockShift) + static_cast<uint64_t>(quarter) * 32;
      touch<kWrites>(doing, doing.core.shadow.fine(coarse, quarter),
                     {base, kFine, cover[quarter].cells}, cover[quarter].injective);
    }
  }
}

template <bool kWrites>
void touch_all(Doing& doing, Region& region, const EachShape& shape, Pattern& pattern) {
  if (shape.bytes < 4) {
    touch_narrow<kWrites>(doing, region, shape);
  } else {
    touch_wide<kWrites>(doing, region, pattern);
  }
}

}  // namespace

void touch_each(Doing& doing, Region& region, const EachShape& shape, Pattern& pattern,
                bool writes) {
  LW_CHECK(pattern.found.aligned, shape.bytes, shape.lanes);
  if (writes) {
    touch_all<true>(doing, region, shape, pattern);
  } else {
    touch_all<false>(doing, region, shape, pattern);
  }
}

}  // namespace lw::order
