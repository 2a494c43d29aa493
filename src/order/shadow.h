#pragma once
// Shadow memory: which access objects touched which bytes last.
//
// 128 bytes of memory are one block of 16 bytes: the last write and the first reader, when one
// object holds for the whole block; that is the common case and the only one the fast path knows.
// What does not fit goes to a detail record: one id per 4-byte cell when several writers meet,
// chunks of more readers, and, where accesses are narrower than a cell, four fine blocks with cells
// of one byte. A fine block is a block like any other, so everything here works on (block, cells of
// the block).
//
// A reader entry is an object or a set of them (object.h). It may also be a write: strong writes do
// not retire each other, so a cell can have several that later accesses must be compared with (see
// strong.cpp).

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "order/object.h"

namespace lw::order {

using CellMask = uint32_t;  // bit i: cell i of a block
inline constexpr CellMask kAllCells = 0xffffffffu;
inline constexpr int kCellsPerBlock = 32;
inline constexpr int kBlockShift = 7;  // coarse blocks: 128 bytes
inline constexpr int kCoarse = 2;      // log2 of the bytes in a cell
inline constexpr int kFine = 0;

// The cells of a coarse block that lie in a quarter, as cells of that quarter's fine block.
constexpr CellMask refine(CellMask coarse, int quarter) {
  CellMask fine = 0;
  for (int cell = 0; cell < 8; ++cell) {
    fine |= (coarse >> (quarter * 8 + cell) & 1u ? 0xfu : 0u) << (cell * 4);
  }
  return fine;
}

struct Block {
  ObjectId write = kInitial;
  ObjectId reader = 0;  // 0: none; then there are no readers in the detail either
  CellMask reader_cells = 0;
  uint32_t detail = 0;  // index, 0: none; top bit: some reader entry is a write

  static constexpr uint32_t kReaderWrites = 1u << 31;
  uint32_t detail_index() const { return detail & ~kReaderWrites; }
  bool reader_writes() const { return (detail & kReaderWrites) != 0; }
};
static_assert(sizeof(Block) == 16);

struct ReaderChunk {
  static constexpr int kEntries = 15;
  std::array<ObjectId, kEntries> id{};
  std::array<CellMask, kEntries> cells{};
  uint32_t used = 0;
  uint32_t next = 0;
};
static_assert(sizeof(ReaderChunk) == 128);

struct Writers {
  std::array<ObjectId, kCellsPerBlock> id{};
  uint32_t ordered = 0;  // in shared memory: all are ordered before these warps (as ObjectKey)
};

struct Detail {
  uint32_t writers = 0;  // index of Writers, used while Block::write is kMixed
  uint32_t readers = 0;  // first chunk
  uint32_t fine = 0;     // index of the four fine blocks, while Block::write is kSplit
  uint32_t prune_at = ReaderChunk::kEntries;  // so many readers are worth a look at each
};

// Records of one type named by index; 0 is never handed out.
template <class T>
class Pool {
 public:
  Pool() : items_(1) {}
  uint32_t take() {
    if (free_.empty()) {
      items_.emplace_back();
      return static_cast<uint32_t>(items_.size() - 1);
    }
    const uint32_t index = free_.back();
    free_.pop_back();
    items_[index] = T{};
    return index;
  }
  void give(uint32_t index) { free_.push_back(index); }
  T& operator[](uint32_t index) { return items_[index]; }
  const T& operator[](uint32_t index) const { return items_[index]; }
  size_t bytes() const { return items_.capacity() * sizeof(T) + free_.capacity() * 4; }

 private:
  std::vector<T> items_;
  std::vector<uint32_t> free_;
};

// A contiguous piece of memory with its blocks. They are made ready in chunks, when first touched,
// so a large buffer costs what is used of it.
class Region {
 public:
  Region() = default;
  Region(uint64_t base, uint64_t bytes, ObjectId initial);

  uint64_t base() const { return base_; }
  bool holds(uint64_t address) const { return (address - base_) >> kBlockShift < blocks_; }
  Block* at(uint64_t address) { return row(address, 1); }
  // The blocks from `address` on; null if `count` of them are not there.
  Block* row(uint64_t address, uint64_t count) {
    const uint64_t index = (address - base_) >> kBlockShift;
    if (index + count > blocks_) [[unlikely]]
      return nullptr;
    if (!all_ready_ && !(ready_[index >> kChunkShift] & ready_[(index + count - 1) >> kChunkShift]))
        [[unlikely]] {
      make_ready(index >> kChunkShift);
      make_ready((index + count - 1) >> kChunkShift);
    }
    return &block_[index];
  }
  void make_all_ready();
  template <class Visit>
  void each_touched(Visit visit) {
    for (uint64_t chunk = 0; chunk < ready_.size(); ++chunk) {
      if (!ready_[chunk]) continue;
      const uint64_t end = std::min(blocks_, (chunk + 1) << kChunkShift);
      for (uint64_t i = chunk << kChunkShift; i < end; ++i) visit(block_[i]);
    }
  }
  size_t bytes() const { return ready_.size() + chunks_ready_ * (sizeof(Block) << kChunkShift); }

 private:
  static constexpr int kChunkShift = 9;  // blocks in a chunk: 64 KiB of memory
  void make_ready(uint64_t chunk);

  uint64_t base_ = 0;  // of the first block: a multiple of 128
  uint64_t blocks_ = 0;
  std::unique_ptr<Block[], void (*)(void*)> block_{nullptr, nullptr};
  std::vector<uint8_t> ready_;
  bool all_ready_ = false;
  size_t chunks_ready_ = 0;
  ObjectId initial_ = kInitial;
};

// One entry of a cell list: what touched these cells.
struct Touch {
  ObjectId id;
  CellMask cells;
};

class Shadow {
 public:
  explicit Shadow(const Objects& objects) : objects_(objects) {}

  // Who wrote last, for the cells in `cells`: one entry per writer.
  void writers(const Block& block, CellMask cells, std::vector<Touch>& out) const;
  void set_writer(Block& block, CellMask cells, ObjectId id);

  // Readers (and strong writes) of the block, one by one.
  void readers(const Block& block, std::vector<Touch>& out) const;
  void add_reader(Block& block, CellMask cells, ObjectId id, bool writes);
  bool add_to_reader(Block& block, CellMask cells, ObjectId id);             // if it is one already
  void push_reader(Block& block, CellMask cells, ObjectId id, bool writes);  // it is none yet
  // Takes `cells` from all readers if `may_go(id)` for each entry that has some of them (an object
  // or a set); else changes nothing.
  template <class MayGo>
  bool trim_readers(Block& block, CellMask cells, MayGo may_go);
  void set_readers(Block& block, const std::vector<Touch>& touches, bool has_writes);
  bool reader_writes(const Block& block) const { return block.reader_writes(); }
  // The writers of a block with several.
  Writers& mixed(const Block& block) { return writers_[details_[block.detail_index()].writers]; }
  // Who wrote all these cells last; kMixed if it was not one.
  ObjectId sole_writer(const Block& block, CellMask cells) const;
  // Are there so many readers that it is time to look for those that can go? After that look,
  // `pruned` says so.
  bool is_prune_due(const Block& block) const;
  void pruned(Block& block);

  // The fine block that holds bytes 32 * quarter .. + 31; made if need be.
  Block& fine(Block& block, int quarter);
  bool is_split(const Block& block) const { return block.write == kSplit; }
  void split(Block& block);

  void release(Block& block);  // frees everything that hangs on it
  // Calls `visit(id)` for every id that the block holds.
  template <class Visit>
  void each_id(const Block& block, Visit visit) const;
  size_t bytes() const;

 private:
  // Is `id` among the last readers of an entry? (One that is twice among them does no harm.)
  bool holds(ObjectId entry, ObjectId id) const {
    int left = kLook;
    bool found = entry == id;
    if (!objects_.is_set(entry) || !objects_.may_hold(entry, id)) return found;
    objects_.each_reader(entry, [&](ObjectId reader) {
      found = reader == id;
      return !found && --left > 0;
    });
    return found;
  }
  static constexpr int kLook = 32;
  void expand(Touch entry, std::vector<Touch>& out) const;
  Detail& detail(Block& block);
  void drop_detail_if_empty(Block& block);
  void free_readers(Block& block);
  uint32_t count_readers(const Detail& more) const;

  const Objects& objects_;
  Pool<Detail> details_;
  Pool<ReaderChunk> chunks_;
  Pool<Writers> writers_;
  Pool<std::array<Block, 4>> fine_;
};

template <class MayGo>
bool Shadow::trim_readers(Block& block, CellMask cells, MayGo may_go) {
  if (block.reader == 0) return true;
  if ((block.reader_cells & cells) != 0 && !may_go(block.reader)) return false;
  const uint32_t first = block.detail != 0 ? details_[block.detail_index()].readers : 0;
  CellMask left = block.reader_cells & ~cells;
  for (uint32_t c = first; c != 0; c = chunks_[c].next) {
    for (uint32_t i = 0; i < chunks_[c].used; ++i) {
      if ((chunks_[c].cells[i] & cells) != 0 && !may_go(chunks_[c].id[i])) return false;
      left |= chunks_[c].cells[i] & ~cells;
    }
  }
  if (left == 0) {
    free_readers(block);
    return true;
  }
  block.reader_cells &= ~cells;
  for (uint32_t c = first; c != 0; c = chunks_[c].next) {
    for (uint32_t i = 0; i < chunks_[c].used; ++i) chunks_[c].cells[i] &= ~cells;
  }
  return true;
}

template <class Visit>
void Shadow::each_id(const Block& block, Visit visit) const {
  visit(block.write);
  if (block.reader != 0) visit(block.reader);
  if (block.detail == 0) return;
  const Detail& more = details_[block.detail_index()];
  if (more.writers != 0) {
    for (ObjectId id : writers_[more.writers].id) visit(id);
  }
  for (uint32_t c = more.readers; c != 0; c = chunks_[c].next) {
    for (uint32_t i = 0; i < chunks_[c].used; ++i) visit(chunks_[c].id[i]);
  }
  if (more.fine != 0) {
    for (const Block& fine : fine_[more.fine]) each_id(fine, visit);
  }
}

}  // namespace lw::order
