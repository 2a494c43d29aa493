// One block of shadow memory under one access: what to compare with, what to keep, what to retire.
//
// A read replaces readers that are ordered before it: whoever learns of the later one knows the
// earlier one too, because each view is closed under "before". An asynchronous operation proves
// only itself, so as a reader it replaces nobody; but a write behind it is behind the write that it
// has read (followed_cells). A write retires all that it was compared with. A strong access retires
// little: whoever is strong against it may be weak against what it replaced.

#include <algorithm>
#include <numeric>
#include <tuple>

#include "order/check.h"
#include "order/tensor.h"

namespace lw::order {
namespace {

// May `later`, ordered after `earlier`, stand for it in every later comparison?
bool stands_for(const Object& later, const Object& earlier) {
  if (!later.strong) return true;
  return earlier.strong && earlier.cta == later.cta && earlier.scope >= later.scope &&
         earlier.element_bytes == later.element_bytes && earlier.async_proxy == later.async_proxy;
}

constexpr uint32_t kFirstLook = 16;  // readers in a set before one looks which can go

template <class Visit>
void each_quarter(const Doing& doing, Block& block, const Cells& cells, Visit visit) {
  for (int quarter = 0; quarter < 4; ++quarter) {
    const CellMask mask = refine(cells.mask, quarter);
    if (mask == 0) continue;
    visit(doing, doing.core.shadow.fine(block, quarter),
          Cells{cells.base + static_cast<uint64_t>(quarter) * 32, kFine, mask});
  }
}

// Cells that are checked no longer, or that no ordinary access may touch.
struct Compared {
  CellMask raced = 0;
  CellMask closed = 0;
};

Compared compare_writers(const Doing& doing, const std::vector<Touch>& writers,
                         const Cells& cells) {
  Compared result;
  for (const Touch& touch : writers) {
    result.raced |= check_pair(doing, touch.id, {cells.base, cells.shift, touch.cells});
    if (touch.id == kRaced || touch.id == kMbarrier) result.closed |= touch.cells;
  }
  return result;
}

// Takes `gone` from the touches that `drops` says so of, and those without cells off the list.
template <class Drops>
bool drop_cells(std::vector<Touch>& touches, CellMask gone, Drops drops) {
  bool changed = false;
  for (Touch& touch : touches) {
    if ((touch.cells & gone) == 0 || !drops(touch.id)) continue;
    touch.cells &= ~gone;
    changed = true;
  }
  std::erase_if(touches, [](const Touch& touch) { return touch.cells == 0; });
  return changed;
}

bool any_writes(const Core& core, const std::vector<Touch>& touches) {
  return std::any_of(touches.begin(), touches.end(),
                     [&](const Touch& touch) { return core.objects[touch.id].writes(); });
}

void close_raced(const Doing& doing, Block& block, CellMask raced, std::vector<Touch>& readers) {
  if (raced == 0) return;
  Shadow& shadow = doing.core.shadow;
  shadow.set_writer(block, raced, kRaced);
  if (drop_cells(readers, raced, [](ObjectId) { return true; })) {
    shadow.set_readers(block, readers, any_writes(doing.core, readers));
  }
}

// All of the readers are ordered before the whole warp; a set remembers it as objects do.
bool are_ordered(const Doing& doing, ObjectId readers) {
  Objects& objects = doing.core.objects;
  if (is_ordered(doing, objects.key(readers))) return true;
  if (!objects.is_set(readers)) return false;
  bool for_good = true;
  const auto ordered = [&](ObjectId id) {
    for_good &= memo_bit(doing, objects[id]) != 0;
    if (is_ordered_for_good(doing, id)) return true;
    for_good = false;
    return is_ordered(doing, objects.key(id));
  };
  if (!objects.each_reader(readers, ordered)) return false;
  if (for_good) objects.key(readers).ordered |= doing.bit();
  return true;
}

// Operations of tensor memory that end in the order of their issue (tensor.h).
bool ends_with(const Object& later, const Object& earlier) {
  return later.agent >= Agent::kTensorLoad && later.agent == earlier.agent &&
         later.component == earlier.component && later.home == earlier.home &&
         later.lanes == earlier.lanes && later.count >= earlier.count;
}

// Readers that the new one stands for.
bool is_replaced(const Doing& doing, ObjectId id) {
  if (id == doing.id) return false;
  const Object& earlier = doing.core.objects[id];
  if (doing.alone) return !earlier.writes() && ends_with(doing.core.objects[doing.id], earlier);
  if (earlier.writes() || !stands_for(doing.core.objects[doing.id], earlier)) return false;
  return doing.core.objects.key(id).key == doing.key || is_ordered_whole(doing, id);
}

// The same of an entry of the shadow.
bool are_replaced(const Doing& doing, ObjectId readers) {
  const auto replaced = [&](ObjectId id) { return is_replaced(doing, id); };
  if (!doing.core.objects.is_set(readers)) return replaced(readers);
  if (doing.alone || doing.core.objects[doing.id].strong) return false;
  return are_ordered(doing, readers) || doing.core.objects.each_reader(readers, replaced);
}

// May the new reader join the first entry as a set?
bool joins(const Doing& doing, const Block& block, CellMask cells) {
  const Objects& objects = doing.core.objects;
  const Object& now = objects[doing.id];
  return block.reader_cells == cells && !doing.alone && !now.writes() &&
         !objects[block.reader].writes() && !doing.core.shadow.reader_writes(block);
}

// The same lanes read again in a later epoch: the later one stands for both.
bool is_repeated(const Core& core, ObjectId earlier, ObjectId later) {
  const uint64_t key = core.objects.key(earlier).key;
  const Object& x = core.objects[earlier];
  const Object& y = core.objects[later];
  const auto code = static_cast<uint32_t>(key);
  const bool async = code - shape_code(ShapeKind::kAgent, 0) < kFirstForeignCode;
  return !async && key == core.objects.key(later).key && x.count < y.count && !x.writes() &&
         !y.writes() && stands_for(y, x);
}

// Takes from each reader the cells of a later one that stands for it. Like ones are neighbours
// after sorting, so this costs little where readers are many.
void drop_repeated(const Core& core, std::vector<Touch>& readers) {
  std::vector<uint32_t> order(readers.size());
  std::iota(order.begin(), order.end(), 0);
  const auto rank = [&](uint32_t i) {
    const ObjectId id = readers[i].id;
    return std::tuple(core.objects.key(id).key, core.objects[id].count, i);
  };
  std::ranges::sort(order, {}, rank);
  for (size_t i = 0; i < order.size(); ++i) {
    Touch& earlier = readers[order[i]];
    for (size_t k = i + 1; k < order.size(); ++k) {
      const Touch& later = readers[order[k]];
      if (core.objects.key(later.id).key != core.objects.key(earlier.id).key) break;
      if (later.id == earlier.id || is_repeated(core, earlier.id, later.id))
        earlier.cells &= ~later.cells;
    }
  }
}

// Drops readers that the new one stands for, and those that others do.
void prune(const Doing& doing, Block& block, CellMask cells) {
  Shadow& shadow = doing.core.shadow;
  std::vector<Touch>& readers = doing.core.readers;
  shadow.readers(block, readers);
  drop_repeated(doing.core, readers);
  drop_cells(readers, cells, [&](ObjectId id) { return is_replaced(doing, id); });
  shadow.set_readers(block, readers, any_writes(doing.core, readers));
  shadow.pruned(block);
}

// The set that stands for `readers` and the new one. Whenever it has doubled, those that others
// stand for are dropped.
ObjectId joined(const Doing& doing, ObjectId readers) {
  Objects& objects = doing.core.objects;
  if (const ObjectId known = objects.extended(readers, doing.id); known != 0) return known;
  const uint32_t count = objects.count_readers(readers);
  if (count < kFirstLook || (count & (count - 1)) != 0) return objects.extend(readers, doing.id);
  std::vector<Touch>& kept = doing.core.readers;
  kept.clear();
  objects.each_reader(readers, [&](ObjectId id) {
    if (!is_replaced(doing, id)) kept.push_back({id, kAllCells});
    return true;
  });
  kept.insert(kept.begin(), {doing.id, kAllCells});
  drop_repeated(doing.core, kept);
  std::erase_if(kept, [](const Touch& touch) { return touch.cells == 0; });
  ObjectId set = kept.back().id;
  for (size_t i = kept.size() - 1; i-- > 0;) set = objects.extend(set, kept[i].id);
  objects.remember_extended(readers, doing.id, set);
  return set;
}

// Looks for readers to drop only where it is cheap (the first one) or due (there are many).
void record_reader(const Doing& doing, Block& block, CellMask cells) {
  if (cells == 0) return;
  Shadow& shadow = doing.core.shadow;
  if (shadow.add_to_reader(block, cells, doing.id)) return;
  if (shadow.is_prune_due(block)) {
    prune(doing, block, cells);
  } else if (block.reader != 0 && (block.reader_cells & ~cells) == 0 &&
             are_replaced(doing, block.reader)) {
    block.reader = doing.id;
    block.reader_cells = cells;
    return;
  } else if (block.reader != 0 && joins(doing, block, cells)) {
    block.reader = joined(doing, block.reader);
    return;
  }
  shadow.push_reader(block, cells, doing.id, shadow.reader_writes(block));
}

// What a strong write must leave for later comparisons.
bool is_retired(const Doing& doing, ObjectId id) {
  const Object& now = doing.core.objects[doing.id];
  if (!now.strong) return true;
  return stands_for(now, doing.core.objects[id]) && is_ordered_whole(doing, id);
}

void retire(const Doing& doing, Block& block, CellMask cells, const std::vector<Touch>& writers,
            std::vector<Touch>& readers) {
  Shadow& shadow = doing.core.shadow;
  const bool strong = doing.core.objects[doing.id].strong;
  if (readers.empty() && !strong) return;
  drop_cells(readers, cells, [&](ObjectId id) { return is_retired(doing, id); });
  for (size_t i = 0; strong && i < writers.size(); ++i) {
    const Touch touch = writers[i];
    const CellMask kept = touch.cells & cells;
    if (touch.id < kFirstObject || touch.id == doing.id || kept == 0) continue;
    if (!is_retired(doing, touch.id)) readers.push_back({touch.id, kept});
  }
  shadow.set_readers(block, readers, any_writes(doing.core, readers));
}

}  // namespace

namespace {

// Everything under the cells was written before anything the warp does, by what is remembered.
bool writers_ordered(const Doing& doing, Block& block, CellMask cells) {
  if (doing.async_proxy || block.reader_writes()) return false;
  Shadow& shadow = doing.core.shadow;
  const Objects& objects = doing.core.objects;
  const auto ordered = [&](ObjectId id) {
    return is_ordered(doing, objects.key(id)) ||
           (id >= kFirstObject && is_ordered_for_good(doing, id));
  };
  if (block.write != kMixed) return ordered(block.write);
  const bool shared = doing.space == Space::kShared;
  Writers& all = shadow.mixed(block);
  if (shared && (all.ordered & doing.bit()) != 0) return true;
  if (!ordered(shadow.sole_writer(block, cells))) return false;
  ObjectId last = kInitial;
  for (ObjectId id : all.id) {
    if (id == last || id == kInitial) continue;
    if (id < kFirstObject || !is_ordered_for_good(doing, id)) return true;
    last = id;
  }
  if (shared) all.ordered |= doing.bit();
  return true;
}

}  // namespace

void read_block(const Doing& doing, Block& block, const Cells& cells) {
  Shadow& shadow = doing.core.shadow;
  if (shadow.is_split(block)) return each_quarter(doing, block, cells, read_block);
  if (writers_ordered(doing, block, cells.mask)) return record_reader(doing, block, cells.mask);
  std::vector<Touch>& writers = doing.core.writers;
  std::vector<Touch>& readers = doing.core.readers;
  shadow.writers(block, cells.mask, writers);
  Compared compared = compare_writers(doing, writers, cells);
  const CellMask open = cells.mask & ~compared.closed;
  shadow.readers(block, readers);
  if (shadow.reader_writes(block)) {
    for (const Touch& touch : readers) {
      if (!doing.core.objects[touch.id].writes()) continue;
      compared.raced |= check_pair(doing, touch.id, {cells.base, cells.shift, touch.cells & open});
    }
  }
  close_raced(doing, block, compared.raced, readers);
  record_reader(doing, block, open & ~compared.raced);
}

namespace {

// Everything under the cells is ordered before the whole warp, by its keys.
bool overwrite_ordered(const Doing& doing, Block& block, CellMask cells) {
  Shadow& shadow = doing.core.shadow;
  const auto ordered = [&](ObjectId readers) { return are_ordered(doing, readers); };
  if (doing.async_proxy || doing.strong || shadow.reader_writes(block)) return false;
  const ObjectId writer = shadow.sole_writer(block, cells);
  if (writer != kUnwritten && !is_ordered(doing, doing.core.objects.key(writer)) &&
      (writer < kFirstObject || !is_ordered_for_good(doing, writer))) {
    return false;
  }
  if (!shadow.trim_readers(block, cells, ordered)) return false;
  shadow.set_writer(block, cells, doing.id);
  return true;
}

}  // namespace

namespace {

// The cells of a reader after which this access comes, although it may not know what the reader
// followed. In tensor memory that is what runs one after the other by itself; elsewhere an
// asynchronous reader, whose end says nothing of its past (T5-15: who waits for the commit of a
// product may overwrite the operands, whoever brought them).
CellMask followed_cells(const Doing& doing, const Touch& reader, const Cells& cells) {
  if (doing.space == Space::kTensor) return follows_by_itself(doing, reader.id) ? reader.cells : 0;
  const Object& object = doing.core.objects[reader.id];
  if (object.writes() || !object.async_proxy || object.shape != ShapeKind::kAgent) return 0;
  return ordered_cells(doing, reader.id, {cells.base, cells.shift, reader.cells & cells.mask});
}

// Takes from the writers the cells that a reader in between answers for: it follows them, and this
// access follows it. A strong write leaves readers that do not follow it, and who reads what it
// overwrites must know the writer itself.
void drop_followed(const Doing& doing, const Cells& cells, const std::vector<Touch>& readers,
                   std::vector<Touch>& writers) {
  const bool tensor = doing.space == Space::kTensor;
  if (!tensor && doing.core.objects[doing.id].kind != Kind::kWrite) return;
  for (const Touch& reader : readers) {
    const CellMask followed = followed_cells(doing, reader, cells);
    for (Touch& writer : writers) {
      const bool plain = writer.id >= kFirstObject && !doing.core.objects[writer.id].strong;
      if (tensor || plain) writer.cells &= ~followed;
    }
  }
}

// A dealloc meets the loads first. A load that stands beside the writer of its cells follows it, so
// where the load races, the writer's race is implied.
Compared compare_dealloc(const Doing& doing, const std::vector<Touch>& readers,
                         std::vector<Touch>& writers, const Cells& cells) {
  CellMask raced = 0;
  Doing implied = doing;
  implied.implied = true;
  for (const Touch& reader : readers) {
    const CellMask mask =
        check_pair(doing, reader.id, {cells.base, cells.shift, reader.cells & cells.mask});
    raced |= mask;
    for (Touch& writer : writers) {
      if (writer.id < kFirstObject) continue;
      if (!brings_writer(doing.core.objects[reader.id], doing.core.objects[writer.id])) continue;
      check_pair(implied, writer.id, {cells.base, cells.shift, writer.cells & mask});
      writer.cells &= ~mask;
    }
  }
  Compared result = compare_writers(doing, writers, cells);
  result.raced |= raced;
  return result;
}

Compared compare_write(const Doing& doing, const std::vector<Touch>& readers,
                       std::vector<Touch>& writers, const Cells& cells) {
  if (doing.core.objects[doing.id].agent == Agent::kTensorFree)
    return compare_dealloc(doing, readers, writers, cells);
  Compared result = compare_writers(doing, writers, cells);
  const CellMask open = cells.mask & ~result.closed;
  for (const Touch& touch : readers) {
    result.raced |= check_pair(doing, touch.id, {cells.base, cells.shift, touch.cells & open});
  }
  return result;
}

}  // namespace

void write_block(const Doing& doing, Block& block, const Cells& cells) {
  Shadow& shadow = doing.core.shadow;
  if (shadow.is_split(block)) return each_quarter(doing, block, cells, write_block);
  if (overwrite_ordered(doing, block, cells.mask)) return;
  std::vector<Touch>& writers = doing.core.writers;
  std::vector<Touch>& readers = doing.core.readers;
  shadow.writers(block, cells.mask, writers);
  shadow.readers(block, readers);
  drop_followed(doing, cells, readers, writers);
  const Compared compared = compare_write(doing, readers, writers, cells);
  const CellMask open = cells.mask & ~compared.closed;
  // Of freed cells it stays known who wrote them, for loads that come too late.
  if (doing.core.objects[doing.id].agent != Agent::kTensorFree)
    close_raced(doing, block, compared.raced, readers);
  const CellMask written = open & ~compared.raced;
  if (written == 0) return;
  retire(doing, block, written, writers, readers);
  shadow.set_writer(block, written, doing.id);
}

}  // namespace lw::order
