#pragma once
// What a warp did last, so that doing the like again costs a few comparisons. The handlers of loads
// and stores ask here before they call the engine, and the engine asks before it looks closer.
//
// Within a release epoch all like accesses of a warp are one object (Options::by_instruction), and
// what an object does to a block is decided by what it finds there: a reader over all cells turns
// the reader before it into one that stands for both, a writer that all is ordered before leaves
// itself. So a step that the engine has taken once holds for every block where the same is found.
// What makes that exact:
//
//  - The step leaves no detail and finds none: all that decides it is in the block.
//  - The last write of the block at hand is asked for by its own key. "Ordered before the warp"
//    never turns false, and nothing is reported of a write that is.
//  - Readers are replaced, or joined to a set, by what they are, not by where they lie, if the
//    access is over all cells of the block.
//  - A step is of one epoch (`count`), and forgotten when ids are collected.
//
// Nothing is recalled where instructions are told apart or a story is kept.

#include "order/shadow.h"
#include "order/shape.h"
#include "order/warp.h"

namespace lw::order {

// Rows of 4, 8 and 16 bytes a lane that begin with a block: one slot for each lane function.
template <int kShift>
constexpr size_t row_slot(uint64_t base) {
  constexpr uint64_t kLast = (1u << (kShift - kCoarse)) - 1;
  return kLast + (base >> kBlockShift & kLast);
}

// Is the earlier object ordered before the access, by what is remembered? `key`: of one whose bytes
// belong to one lane each, or 0.
template <Space kSpace>
[[gnu::always_inline]] inline bool is_known_ordered(const Warp& warp, uint64_t key, ObjectId id) {
  const ObjectKey& earlier = warp.recall.objects->key(id);
  return earlier.key == key ||
         is_remembered_ordered<kSpace>(earlier, warp.key, warp.bit, warp.recall.ordered_below);
}

// Reads `kBlocks` whole blocks as the step says; false: the engine has to look. `ordered(id)`: is
// the object ordered before the access?
template <int kBlocks, class Ordered>
[[gnu::always_inline]] inline bool retake_read(const Warp& warp, const Recall::Step& step,
                                               Block* block, Ordered ordered) {
  if (step.count != warp.count) return false;
  for (int i = 0; i < kBlocks; ++i) {
    const Block& found = block[i];
    if (found.detail != 0) return false;
    if (found.reader == step.left && found.reader_cells == kAllCells) continue;
    if (found.reader != step.found || found.reader_cells != step.found_cells) return false;
    if (!ordered(found.write)) return false;
  }
  for (int i = 0; i < kBlocks; ++i) {
    block[i].reader = step.left;
    block[i].reader_cells = kAllCells;
  }
  return true;
}

template <int kShift>
constexpr int kRowBlocks = (32 << kShift) >> kBlockShift;

// Lanes in a row.
template <int kShift, class Ordered>
[[gnu::always_inline]] inline bool recall_read(const Warp& warp, Block* block, uint64_t base,
                                               Ordered ordered) {
  const Recall::Reads& steps = warp.recall.reads[row_slot<kShift>(base)];
  return retake_read<kRowBlocks<kShift>>(warp, steps.last, block, ordered) ||
         retake_read<kRowBlocks<kShift>>(warp, steps.before, block, ordered);
}

// The step that a read took on a block, if it holds for all that look like it; else none.
template <Space kSpace>
Recall::Step read_step(const Warp& warp, uint64_t key, const Block& found, const Block& left) {
  const bool plain = found.detail == 0 && left.detail == 0 && left.write == found.write &&
                     left.reader_cells == kAllCells;
  if (!plain || !is_known_ordered<kSpace>(warp, key, left.write)) return {};
  return {warp.count, left.reader, found.reader, found.reader_cells};
}

// The same of writes. All that is found must be ordered before the warp.
template <int kShift, class Ordered>
[[gnu::always_inline]] inline bool recall_write(Warp& warp, Block* block, uint64_t base,
                                                Ordered ordered) {
  constexpr int kBlocks = kRowBlocks<kShift>;
  const Recall::Step& row = warp.recall.writes[row_slot<kShift>(base)];
  if (row.count != warp.count) return false;
  for (int i = 0; i < kBlocks; ++i) {
    const Block& found = block[i];
    if (found.detail != 0) return false;
    if (found.write != kUnwritten && !ordered(found.write)) return false;
    if (!ordered(found.reader)) return false;
  }
  for (int i = 0; i < kBlocks; ++i) block[i] = {row.left, 0, 0, 0};
  return true;
}

// All lanes read one place of at least a cell. `found` is the last write that was found ordered.
template <Space kSpace>
[[gnu::always_inline]] inline bool recall_uniform(Warp& warp, Block& block, uint64_t address,
                                                  uint32_t bytes) {
  Recall::Step& last = warp.recall.uniform;
  if (last.count != warp.count) return false;
  const CellMask cells = ((1u << (bytes >> kCoarse)) - 1) << (address >> kCoarse & 31);
  const bool reads_here = block.reader == last.left;
  if (reads_here && (cells & ~block.reader_cells) == 0) return true;
  if (block.detail != 0 || (!reads_here && block.reader != 0)) return false;
  if (block.write != last.found) {
    if (!is_known_ordered<kSpace>(warp, 0, block.write)) return false;
    last.found = block.write;
  }
  if (!reads_here) block.reader = last.left;
  block.reader_cells |= cells;
  return true;
}

// In shared memory, for handlers: all lanes are on, `base` and `address` are offsets that lie
// there.
[[gnu::always_inline]] inline void count_access(Warp& warp) {
  warp.touch(kAllLanes);
  ++*warp.recall.accesses;
}
template <bool kWrites, int kShift>
[[gnu::always_inline]] inline bool recall_shared_row(Warp& warp, uint64_t base) {
  static_assert(kShift >= kCoarse && kShift <= 4);
  if (base % (1u << kBlockShift) != 0) return false;
  Block* block = warp.recall.shared + (base >> kBlockShift);
  const uint64_t key = warp.key | affine_code(base, kShift);
  const auto ordered = [&](ObjectId id) __attribute__((always_inline)) {
    return is_known_ordered<Space::kShared>(warp, key, id);
  };
  const bool done = kWrites ? recall_write<kShift>(warp, block, base, ordered)
                            : recall_read<kShift>(warp, block, base, ordered);
  if (done) count_access(warp);
  return done;
}
[[gnu::always_inline]] inline bool recall_shared_uniform(Warp& warp, uint64_t address,
                                                         uint32_t bytes) {
  if (bytes < 4) return false;
  Block& block = warp.recall.shared[address >> kBlockShift];
  if (!recall_uniform<Space::kShared>(warp, block, address, bytes)) return false;
  count_access(warp);
  return true;
}

// Lanes that fill a row in an order of their own: lane i reads at `low` + `offset`[i].
template <int kShift, class Offset>
[[gnu::always_inline]] inline bool recall_shared_permuted(Warp& warp, uint64_t low, Offset offset) {
  const Recall::Permuted& last = warp.recall.permuted;
  constexpr uint64_t kRowBytes = 32u << kShift;
  if (last.shift != kShift || last.row_start != low % kRowBytes) return false;
  uint32_t differs = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) differs |= last.offset[lane] ^ offset(lane);
  Block* block = warp.recall.shared + (low >> kBlockShift);
  const auto ordered = [&](ObjectId id) __attribute__((always_inline)) {
    return is_known_ordered<Space::kShared>(warp, last.key, id);
  };
  if (differs != 0 || !retake_read<kRowBlocks<kShift>>(warp, last.step, block, ordered))
    return false;
  count_access(warp);
  return true;
}

}  // namespace lw::order
