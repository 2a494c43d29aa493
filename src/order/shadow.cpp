#include "order/shadow.h"

#include <algorithm>
#include <cstdlib>

#include "base/check.h"

namespace lw::order {
namespace {

constexpr auto kBit = [] {
  std::array<uint32_t, 32> bits{};
  for (uint32_t i = 0; i < 32; ++i) bits[i] = 1u << i;
  return bits;
}();

// In a form that becomes vector compares.
CellMask cells_equal(const Writers& all, ObjectId id) {
  CellMask same = 0;
  for (int cell = 0; cell < kCellsPerBlock; ++cell) same |= all.id[cell] == id ? kBit[cell] : 0;
  return same;
}

uint32_t entries_equal(const ReaderChunk& chunk, ObjectId id) {
  uint32_t same = 0;
  for (int i = 0; i < ReaderChunk::kEntries; ++i) same |= chunk.id[i] == id ? kBit[i] : 0;
  return same;
}

}  // namespace

Region::Region(uint64_t base, uint64_t bytes, ObjectId initial) : initial_(initial) {
  base_ = base >> kBlockShift << kBlockShift;
  blocks_ = (base + bytes - base_ + (1u << kBlockShift) - 1) >> kBlockShift;
  // Fresh pages are zero, which is a block with kInitial: untouched memory costs nothing.
  void* raw = std::calloc(blocks_, sizeof(Block));
  LW_CHECK(raw != nullptr, bytes);
  block_ = {static_cast<Block*>(raw), std::free};
  ready_.resize((blocks_ >> kChunkShift) + 1);
}

void Region::make_ready(uint64_t chunk) {
  if (ready_[chunk]) return;
  ready_[chunk] = 1;
  ++chunks_ready_;
  if (initial_ == kInitial) return;
  const uint64_t end = std::min(blocks_, (chunk + 1) << kChunkShift);
  for (uint64_t i = chunk << kChunkShift; i < end; ++i) block_[i].write = initial_;
}

void Region::make_all_ready() {
  for (uint64_t chunk = 0; chunk < ready_.size(); ++chunk) make_ready(chunk);
  all_ready_ = true;
}

Detail& Shadow::detail(Block& block) {
  if (block.detail == 0) block.detail = details_.take();
  return details_[block.detail_index()];
}

void Shadow::drop_detail_if_empty(Block& block) {
  if (block.detail == 0) return;
  const Detail& more = details_[block.detail_index()];
  if (more.writers != 0 || more.readers != 0 || more.fine != 0 || block.reader_writes()) return;
  details_.give(block.detail);
  block.detail = 0;
}

void Shadow::writers(const Block& block, CellMask cells, std::vector<Touch>& out) const {
  out.clear();
  if (block.write != kMixed) {
    out.push_back({block.write, cells});
    return;
  }
  const Writers& all = writers_[details_[block.detail_index()].writers];
  while (cells != 0) {
    const ObjectId id = all.id[__builtin_ctz(cells)];
    const CellMask same = cells_equal(all, id);
    out.push_back({id, same & cells});
    cells &= ~same;
  }
}

void Shadow::set_writer(Block& block, CellMask cells, ObjectId id) {
  if (cells == 0 || block.write == id) return;
  if (cells != kAllCells && block.write != kMixed) {
    const uint32_t index = writers_.take();
    writers_[index].id.fill(block.write);
    detail(block).writers = index;
    block.write = kMixed;
  }
  if (cells != kAllCells) {
    Writers& all = writers_[details_[block.detail_index()].writers];
    for (CellMask rest = cells; rest != 0; rest &= rest - 1) all.id[__builtin_ctz(rest)] = id;
    all.ordered = 0;
    if (all.id.front() != id || all.id.back() != id || cells_equal(all, id) != kAllCells) return;
  }
  if (block.write == kMixed) {
    writers_.give(details_[block.detail_index()].writers);
    details_[block.detail_index()].writers = 0;
    drop_detail_if_empty(block);
  }
  block.write = id;
}

void Shadow::readers(const Block& block, std::vector<Touch>& out) const {
  out.clear();
  if (block.reader == 0) return;
  expand({block.reader, block.reader_cells}, out);
  if (block.detail == 0) return;
  for (uint32_t c = details_[block.detail_index()].readers; c != 0; c = chunks_[c].next) {
    for (uint32_t i = 0; i < chunks_[c].used; ++i) {
      expand({chunks_[c].id[i], chunks_[c].cells[i]}, out);
    }
  }
}

void Shadow::expand(Touch entry, std::vector<Touch>& out) const {
  objects_.each_reader(entry.id, [&](ObjectId reader) {
    out.push_back({reader, entry.cells});
    return true;
  });
}

ObjectId Shadow::sole_writer(const Block& block, CellMask cells) const {
  if (block.write != kMixed) return block.write;
  const Writers& all = writers_[details_[block.detail_index()].writers];
  const ObjectId id = all.id[__builtin_ctz(cells)];
  return (cells & ~cells_equal(all, id)) == 0 ? id : kMixed;
}

uint32_t Shadow::count_readers(const Detail& more) const {
  uint32_t count = 0;
  for (uint32_t c = more.readers; c != 0; c = chunks_[c].next) count += chunks_[c].used;
  return count;
}

bool Shadow::is_prune_due(const Block& block) const {
  if (block.detail == 0) return false;
  const Detail& more = details_[block.detail_index()];
  return more.readers != 0 && count_readers(more) >= more.prune_at;
}

void Shadow::pruned(Block& block) {
  if (block.detail == 0) return;
  Detail& more = details_[block.detail_index()];
  more.prune_at = std::max<uint32_t>(2 * count_readers(more), ReaderChunk::kEntries);
}

// The reader that comes last comes first: it is the one that will come again.
bool Shadow::add_to_reader(Block& block, CellMask cells, ObjectId id) {
  if (block.reader == id) {
    block.reader_cells |= cells;
    return true;
  }
  if ((cells & ~block.reader_cells) == 0 && holds(block.reader, id)) return true;
  if (block.detail == 0) return false;
  for (uint32_t c = details_[block.detail_index()].readers; c != 0; c = chunks_[c].next) {
    ReaderChunk& chunk = chunks_[c];
    const uint32_t found = entries_equal(chunk, id);
    if (found == 0) continue;
    const int i = __builtin_ctz(found);
    std::swap(chunk.id[i], block.reader);
    std::swap(chunk.cells[i], block.reader_cells);
    block.reader_cells |= cells;
    return true;
  }
  return false;
}

void Shadow::add_reader(Block& block, CellMask cells, ObjectId id, bool writes) {
  if (cells != 0 && !add_to_reader(block, cells, id)) push_reader(block, cells, id, writes);
}

void Shadow::push_reader(Block& block, CellMask cells, ObjectId id, bool writes) {
  if (writes) {
    detail(block);
    block.detail |= Block::kReaderWrites;
  }
  if (block.reader == 0) {
    block.reader = id;
    block.reader_cells = cells;
    return;
  }
  Detail& more = detail(block);
  if (more.readers == 0 || chunks_[more.readers].used == ReaderChunk::kEntries) {
    const uint32_t fresh = chunks_.take();
    chunks_[fresh].next = more.readers;
    more.readers = fresh;
  }
  ReaderChunk& chunk = chunks_[more.readers];
  chunk.id[chunk.used] = std::exchange(block.reader, id);
  chunk.cells[chunk.used++] = std::exchange(block.reader_cells, cells);
}

void Shadow::free_readers(Block& block) {
  block.reader = 0;
  block.reader_cells = 0;
  if (block.detail == 0) return;
  Detail& more = details_[block.detail_index()];
  while (more.readers != 0) {
    const uint32_t next = chunks_[more.readers].next;
    chunks_.give(more.readers);
    more.readers = next;
  }
  block.detail &= ~Block::kReaderWrites;
  drop_detail_if_empty(block);
}

void Shadow::set_readers(Block& block, const std::vector<Touch>& touches, bool has_writes) {
  free_readers(block);
  for (const Touch& touch : touches) push_reader(block, touch.cells, touch.id, has_writes);
}

void Shadow::split(Block& block) {
  if (is_split(block)) return;
  const uint32_t index = fine_.take();
  std::vector<Touch> writes;
  std::vector<Touch> reads;
  writers(block, kAllCells, writes);
  readers(block, reads);
  const bool has_writes = reader_writes(block);
  for (int quarter = 0; quarter < 4; ++quarter) {
    Block& fine = fine_[index][quarter];
    for (const Touch& touch : writes) set_writer(fine, refine(touch.cells, quarter), touch.id);
    for (const Touch& touch : reads) {
      add_reader(fine, refine(touch.cells, quarter), touch.id, has_writes);
    }
  }
  free_readers(block);
  set_writer(block, kAllCells, kSplit);
  detail(block).fine = index;
}

Block& Shadow::fine(Block& block, int quarter) {
  split(block);
  return fine_[details_[block.detail_index()].fine][quarter];
}

void Shadow::release(Block& block) {
  free_readers(block);
  if (is_split(block)) {
    Detail& more = details_[block.detail_index()];
    for (Block& fine : fine_[more.fine]) release(fine);
    fine_.give(more.fine);
    more.fine = 0;
    drop_detail_if_empty(block);
    block.write = kInitial;
  }
  set_writer(block, kAllCells, kInitial);
}

size_t Shadow::bytes() const {
  return details_.bytes() + chunks_.bytes() + writers_.bytes() + fine_.bytes();
}

}  // namespace lw::order
