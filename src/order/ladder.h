#pragma once
// The fast path of one block, inlined into the access functions. Every test that fails goes to the
// general path (blocks.cpp), which repeats it; nothing is decided here that is not decided there.

#include "order/check.h"

namespace lw::order {

#define LW_ALWAYS_INLINE inline __attribute__((always_inline))

// What the ladder needs to know of the access; small enough for registers.
struct Who {
  const Warp& warp;
  ObjectId id;
  uint64_t key;
  uint32_t warp_bit;
  uint64_t ordered_below;
  bool injective;
  bool any_lane;
  bool alone;
};

LW_ALWAYS_INLINE Who who_is(const Warp& warp, ObjectId id, uint32_t code, bool injective) {
  return {warp, id, warp.key | code, warp.bit, warp.cta->ordered_below, injective, false, false};
}

LW_ALWAYS_INLINE Who who_is(const Doing& doing) {
  return {doing.warp,      doing.id,       doing.key,  doing.bit(), doing.warp.cta->ordered_below,
          doing.injective, doing.any_lane, doing.alone};
}

// Is the earlier object ordered before the whole warp, or before each lane that meets it?
template <Space kSpace>
LW_ALWAYS_INLINE bool passes(const Who& who, const ObjectKey& key) {
  return (key.key == who.key && who.injective) ||
         is_remembered_ordered<kSpace>(key, who.key, who.warp_bit, who.ordered_below);
}

// The same, after a look at what the warp knows of an object that is not remembered to be.
template <Space kSpace>
LW_ALWAYS_INLINE bool learns(Objects& objects, const Who& who, ObjectId id) {
  return passes<kSpace>(who, objects.key(id)) ||
         (who.warp_bit != 0 && learns_ordered(objects, who.warp, id));
}

template <Space kSpace, class Slow>
LW_ALWAYS_INLINE void read_fast(Objects& objects, const Who& who, Block& block, CellMask cells,
                                Slow slow) {
  if (block.reader == who.id && !who.any_lane) {
    if ((cells & ~block.reader_cells) == 0) return;
    if (!block.reader_writes() && learns<kSpace>(objects, who, block.write)) {
      block.reader_cells |= cells;
      return;
    }
    return slow();
  }
  if (block.detail != 0 || !learns<kSpace>(objects, who, block.write)) return slow();
  if (block.reader != 0 && block.reader != who.id) {
    const ObjectKey& reader = objects.key(block.reader);
    const bool goes = reader.key == who.key || passes<kSpace>(who, reader);
    if (who.alone) return slow();
    if (!goes && block.reader_cells == cells) {
      const ObjectId set = objects.extended(block.reader, who.id);
      if (set == 0) return slow();
      block.reader = set;
      return;
    }
    if (!goes || (block.reader_cells & ~cells) != 0) return slow();
    block.reader_cells = 0;
  }
  block.reader = who.id;
  block.reader_cells |= cells;
}

template <Space kSpace, class Slow>
LW_ALWAYS_INLINE void write_fast(Objects& objects, const Who& who, Block& block, CellMask cells,
                                 Slow slow) {
  if (block.detail != 0) return slow();
  if (block.write == who.id && block.reader == 0 && who.injective) return;
  const bool whole = cells == kAllCells || block.write == who.id;
  if (!whole) return slow();
  if (block.write != kUnwritten && !learns<kSpace>(objects, who, block.write)) return slow();
  if (block.reader != 0) {
    if (!learns<kSpace>(objects, who, block.reader)) return slow();
    if ((block.reader_cells & ~cells) != 0) {
      block.reader_cells &= ~cells;
      return;
    }
  }
  block = {who.id, 0, 0, 0};
}

}  // namespace lw::order
