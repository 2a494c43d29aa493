#pragma once
// The check of one access against what the shadow holds (rule book 1.4).
//
// The ladder, cheapest first: the same object is recorded already; the other object is known to be
// ordered before this whole warp; it is the same warp with the same lane function (program order).
// Only then lanes and cells are looked at one by one (pair.cpp). A race of tier R ends the checks
// of its bytes: one race is reported once, not for ever.
//
// misses: a write that leaves equal bytes (tier N, M-22) retires the one it races with, so a later
// access ordered after the second write only is not compared with the first. A write that is
// ordered after X retires X even for agents that learn of the write alone (an asynchronous copy
// proves only itself): the bytes X touched are gone by then.

#include "order/core.h"
#include "order/lanes.h"

namespace lw::order {

// The access being checked.
struct Doing {
  Core& core;
  Warp& warp;
  ObjectId id = 0;
  uint64_t key = 0;       // of the object
  bool injective = true;  // no byte belongs to two of its lanes
  bool any_lane = false;
  bool async_proxy = false;  // needs what a proxy fence carried
  bool alone = false;        // asynchronous: its milestone proves only itself
  bool strong = false;
  Space space = Space::kShared;
  Cta* peer = nullptr;  // whose shared memory or SM it is, if not those of the actor's own CTA
  LaneMask lanes = kAllLanes;
  const EachShape* rows = nullptr;  // ldmatrix: who gave the address of a row (W-5)
  uint64_t serial = 0;              // number of the access, for counting
  bool implied = false;             // what is found now is Race::implied
  // Objects known to be ordered before all lanes of this access, for ranges of many blocks.
  static constexpr int kMemo = 4;
  mutable std::array<ObjectId, kMemo> ordered{};
  mutable uint32_t next_memo = 0;

  bool remembers(ObjectId earlier) const {
    return earlier == kInitial || earlier == ordered[0] || earlier == ordered[1] ||
           earlier == ordered[2] || earlier == ordered[3];
  }
  void remember(ObjectId earlier) const { ordered[next_memo++ % kMemo] = earlier; }

  // The warp's bit in ObjectKey::ordered; in another CTA's shared memory it has none.
  uint32_t bit() const { return peer == nullptr || space == Space::kTensor ? warp.bit : 0; }
  const Cta& place() const { return peer == nullptr ? *warp.cta : *peer; }

  LaneMask lanes_at(uint64_t address) const {
    if (rows != nullptr) return rows->lanes_over(address);
    return core.objects.lanes_at(core.objects[id], address) & lanes;
  }
};

// Cells of one block.
struct Cells {
  uint64_t base = 0;  // address of the block's first byte
  int shift = kCoarse;
  CellMask mask = 0;

  uint64_t address(int cell) const { return base + (static_cast<uint64_t>(cell) << shift); }
};

// Do the lanes know that an mbarrier object has come to life at this address (settled.cpp)?
bool is_surely_live(const Warp& warp, LaneMask lanes, uint64_t address);

// The write went behind its own thread's fence and a barrier into a release that does not cover it
// (last_block.cpp).
void remember_fence(Core& core, const ControlEvent& fence, const Warp& warp);
bool is_classic_last_block(const Doing& doing, const Object& earlier, LaneMask x, LaneMask y);

// Compares with one earlier object; returns the cells that raced (tier R). Everything to be
// reported is.
CellMask check_pair(const Doing& doing, ObjectId earlier, const Cells& cells);

// Does every lane of the warp know all of an object of its CTA, or of each reader of a set? To be
// seen at once as a rule; false: look closer. Remembered in the object.
bool learns_ordered(Objects& objects, const Warp& warp, ObjectId earlier);
// Can that be remembered in the object?
uint32_t memo_bit(const Doing& doing, const Object& earlier);
// Is all of `earlier` ordered before everything that any lane of the warp does from now on, in H?
bool is_ordered_for_good(const Doing& doing, ObjectId earlier);
// Or at least before all of this access, by its keys?
bool is_ordered_whole(const Doing& doing, ObjectId earlier);
// Is there nothing to report of `earlier`, whichever cells are compared? Remembers it if so.
bool is_settled(const Doing& doing, ObjectId earlier);

// Those of the cells on which all of `earlier` is ordered before the lanes that go over them.
CellMask ordered_cells(const Doing& doing, ObjectId earlier, const Cells& cells);

// Does this operation on tensor memory follow the earlier one by itself (tensor.h)?
bool follows_by_itself(const Doing& doing, ObjectId earlier);

// The general path for one block: any object, any cells. The access must be registered in `doing`.
void read_block(const Doing& doing, Block& block, const Cells& cells);
void write_block(const Doing& doing, Block& block, const Cells& cells);

// A range, of an asynchronous operation or of lanes that fill it.
void touch_range(const Doing& doing, Region& region, const Range& range, bool writes);

// Lanes that go to addresses of their own, `shape.bytes` each. Changes `doing.injective`.
void touch_each(Doing& doing, Region& region, const EachShape& shape, Pattern& pattern,
                bool writes);

// The ladder's tests on keys.
inline bool is_ordered(const Doing& doing, const ObjectKey& key) {
  if (key.key == doing.key && doing.injective) return true;
  const uint64_t cta = key.key >> kKeyCtaShift;
  if (cta == doing.key >> kKeyCtaShift) return (key.ordered & doing.bit()) != 0;
  return cta < doing.warp.cta->ordered_below;
}

}  // namespace lw::order
