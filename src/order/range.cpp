// Ranges, block by block; most are of asynchronous operations: an operand of 16 KiB is one object
// in 128 blocks, and what one block was compared with is remembered for the next.

#include "base/check.h"
#include "order/ladder.h"

namespace lw::order {
namespace {

CellMask run_of(int first, int count) {
  return count >= kCellsPerBlock ? kAllCells : ((1u << count) - 1) << first;
}

// Readers found ordered a moment ago; a set is looked at once.
bool remembers_readers(const Doing& doing, ObjectId readers) {
  if (doing.remembers(readers)) return true;
  const Objects& objects = doing.core.objects;
  if (!objects.is_set(readers)) return false;
  if (!objects.each_reader(readers, [&](ObjectId id) { return is_settled(doing, id); }))
    return false;
  doing.remember(readers);
  return true;
}

// Has everything in the block been found ordered a moment ago?
bool passes_range(const Doing& doing, const Block& block) {
  return block.detail == 0 && doing.remembers(block.write) &&
         remembers_readers(doing, block.reader);
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
    } else if (writes) {
      write_fast<Space::kGlobal>(doing.core.objects, who_is(doing), target, cells.mask,
                                 [&] { write_block(doing, target, cells); });
    } else {
      read_fast<Space::kGlobal>(doing.core.objects, who_is(doing), target, cells.mask,
                                [&] { read_block(doing, target, cells); });
    }
  }
}

}  // namespace lw::order
