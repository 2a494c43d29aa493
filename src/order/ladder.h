#pragma once
// The fast path of one block, inlined into the access functions: every test that fails goes to the
// general path, which repeats it. Measured figures are in bench/README.md.

#include "order/check.h"

namespace lw::order {

#define LW_ALWAYS_INLINE inline __attribute__((always_inline))

// Is the earlier object ordered before the whole warp? In shared memory it is of the same CTA.
template <Space kSpace>
LW_ALWAYS_INLINE bool passes(const Doing& doing, const ObjectKey& key) {
  if (kSpace == Space::kGlobal) return is_ordered(doing, key);
  return (key.ordered & doing.warp.bit) != 0 || (key.key == doing.key && doing.injective);
}

template <Space kSpace>
LW_ALWAYS_INLINE void read_fast(const Doing& doing, Block& block, const Cells& cells) {
  if (block.reader == doing.id && (cells.mask & ~block.reader_cells) == 0 && !doing.any_lane)
    return;
  const Objects& objects = doing.core.objects;
  if (!passes<kSpace>(doing, objects.key(block.write)) || block.detail != 0) {
    return read_block(doing, block, cells);
  }
  if (block.reader != 0 && block.reader != doing.id) {
    const ObjectKey& reader = objects.key(block.reader);
    const bool same = reader.key == doing.key;
    if (doing.alone || (block.reader_cells & ~cells.mask) != 0 ||
        !(same || passes<kSpace>(doing, reader))) {
      return read_block(doing, block, cells);
    }
    block.reader_cells = 0;
  }
  block.reader = doing.id;
  block.reader_cells |= cells.mask;
}

template <Space kSpace>
LW_ALWAYS_INLINE void write_fast(const Doing& doing, Block& block, const Cells& cells) {
  const bool plain = block.detail == 0;
  if (plain && block.write == doing.id && block.reader == 0 && doing.injective) return;
  const Objects& objects = doing.core.objects;
  const bool whole = cells.mask == kAllCells || block.write == doing.id;
  if (!plain || !whole || !passes<kSpace>(doing, objects.key(block.write)) ||
      (block.reader != 0 && !passes<kSpace>(doing, objects.key(block.reader)))) {
    return write_block(doing, block, cells);
  }
  if (cells.mask != kAllCells && (block.reader_cells & ~cells.mask) != 0) {
    block.reader_cells &= ~cells.mask;
    return;
  }
  block = {doing.id, 0, 0, 0};
}

}  // namespace lw::order
