#pragma once
// What the engine keeps of a warp: its release epoch, and what its lanes know.
//
// Lanes that know the same are one group: (mask, bundle, what they know of each other). A warp that
// never diverged in its synchronisation is one group, and a barrier writes one pointer. A lane that
// waits alone (an elected producer) splits off; meeting joins the groups again.
//
// The count goes up at every event that publishes in any view, and all lanes share it. So "known up
// to count c" may be said of a lane outside the publishing mask if it has done nothing since the
// warp last met: it will never do anything at a count up to c. Done "nothing" means no access in H,
// and neither access nor control event (arrival, wait, issue) in C.

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "order/object.h"
#include "order/views.h"

namespace lw::order {

// Up to which count the lanes of one group know each lane of their own warp, by meeting inside the
// warp; what came by way of barriers is in the bundle.
class Met {
 public:
  uint32_t of(int lane) const { return ragged_ ? lane_[lane] : all_; }
  bool uniform() const { return !ragged_; }
  LaneMask at_least(uint32_t count) const;
  uint32_t least() const;
  void raise_all(uint32_t count);  // every lane of the warp
  void raise(int lane, uint32_t count);
  void join(const Met& other);
  void clear() {
    ragged_ = false;
    all_ = 0;
  }
  friend bool operator==(const Met& a, const Met& b);

 private:
  bool ragged_ = false;
  uint32_t all_ = 0;
  LaneCounts lane_{};
};

// The views that differ in what meeting gives them: E meets as H does.
inline constexpr int kMets = 4;
constexpr int met_index(View view) {
  constexpr int kIndex[kViews] = {0, 1, 2, 0, 3};
  return kIndex[static_cast<int>(view)];
}

struct LaneGroup {
  LaneMask lanes = 0;
  BundleRef bundle;
  std::array<Met, kMets> met;
  std::array<uint32_t, 2> fenced{};  // own accesses up to this count are in the async views

  const Met& met_in(View view) const { return met[met_index(view)]; }
  Met& met_in(View view) { return met[met_index(view)]; }
  bool knows_the_same(const LaneGroup& other) const;
};

// The commits of one kind of asynchronous group. Numbers are given out per warp, so the order of
// each lane's groups is kept and lanes that commit together stay equal. A copy belongs to its
// lane's first commit with a number of at least the copy's stamp.
struct AsyncGroups {
  struct Commit {
    LaneMask lanes;
    uint32_t number;
  };
  uint32_t next = 1;            // stamp of a copy issued now
  LaneCounts issued{};          // last stamp of each lane's copies
  std::vector<Commit> commits;  // oldest first; those that all their lanes waited for are dropped

  // The newest group that is complete if all but the newest `left` of this lane are; 0: none.
  uint32_t complete(int lane, uint32_t left) const;
  void commit(LaneMask lanes);
  void forget(const LaneCounts& done);
};

// Milestones of a warp's own copies that its lanes have waited for. Each lane knows its own.
struct AsyncMilestone {
  Component component = 0;
  LaneCounts done{};
};

// A bulk store that may still read its shared source.
struct UnreadSource {
  int lane = 0;
  uint32_t stamp = 0;
  OpId op;
  uint64_t address = 0;
};

struct WarpAsync {
  AsyncGroups copies;  // cp.async
  AsyncGroups bulk;
  AsyncMilestone copied;
  AsyncMilestone read;     // bulk sources may be overwritten
  AsyncMilestone written;  // bulk results exist
  // cp.async that a proxy fence of the same lane came after, by space of the fence.
  std::array<LaneCounts, 2> fenced_copies{};
  std::vector<UnreadSource> unread;  // the latest of each lane and instruction
};

// Inits of mbarriers by each lane, counted, and how many of them a fence.mbarrier_init came after.
struct WarpInits {
  Component component = 0;  // 0: there was no such fence
  LaneCounts made{};
  LaneCounts fenced{};
};

struct Cta;
struct WarpStrong;
struct WarpTensor;

// Where the lanes of a warp stand: all that decides what they publish.
struct Standing {
  Cta* cta = nullptr;
  uint16_t index = 0;
  LaneMask exists = 0;
  LaneMask since_access = 0;   // lanes with accesses since the warp last met as a whole
  LaneMask since_control = 0;  // the same with control events too, meetings of some lanes included
  uint32_t met_access = 0;     // the count of that meeting
  uint32_t met_control = 0;
  std::vector<LaneGroup> groups;
  std::unique_ptr<WarpAsync> async;

  Component steps() const { return index; }
  Standing snapshot() const;
};

struct Block;

// Steps taken lately that may be taken again as they are (recall.h).
struct Recall {
  // A reader found over `found_cells` was left as `left`; a writer left itself.
  struct Step {
    uint32_t count = 0;  // epochs count from 1
    ObjectId left = 0;
    ObjectId found = 0;
    uint32_t found_cells = 0;
  };
  static constexpr size_t kRows = 7;  // lane functions of whole rows that begin with a block
  // Two at a time: a warp that fills a tile from each of two matrices finds another past in each.
  struct Reads {
    Step last;
    Step before;
  };
  std::array<Reads, kRows> reads;
  std::array<Step, kRows> writes;
  Step uniform;
  // Of lanes that fill a row of 32 << `shift` bytes, which begins with a block.
  struct Permuted {
    Step step;
    uint64_t key = 0;
    int shift = 0;
    uint64_t row_start =
        0;  // modulo the bytes of the row: the order of the lanes counts from there
    alignas(64) std::array<uint32_t, kWarpSize> offset{};  // of each lane in the row
  };
  Permuted permuted;
  // Of the CTA and the run.
  Block* shared = nullptr;
  const Objects* objects = nullptr;
  uint64_t* accesses = nullptr;
  uint64_t ordered_below = 0;

  void forget() {
    reads.fill({});
    writes.fill({});
    uniform = {};
    permuted = {};
  }
};

struct Warp : Standing {
  // Objects made lately: of an owner (an instruction, as a rule), an epoch and a shape.
  static constexpr uint32_t kCached = 64;
  struct Cached {
    uint32_t owner = 0xffffffffu;
    uint32_t count = 0;
    uint32_t code = 0;
    ObjectId id = 0;
  };
  struct LastShape {
    uint32_t op = 0xffffffffu;
    uint32_t code = 0;
    bool is(OpId instruction, ShapeKind kind) const {
      return op == instruction.value && code >> 29 == static_cast<uint32_t>(kind);
    }
  };

  Warp();
  ~Warp();

  uint32_t bit = 0;    // in ObjectKey::ordered
  uint64_t key = 0;    // upper half of an ObjectKey of this warp
  uint32_t count = 1;  // the present release epoch
  LaneMask live = 0;
  std::unique_ptr<WarpStrong> strong;  // fences and strong reads in effect (strong.h)
  std::unique_ptr<WarpTensor> tensor;  // what it does to tensor memory (tensor.h)
  std::unique_ptr<WarpInits> inits;    // mbarriers that it has initialised
  std::array<Cached, kCached> cached;
  Recall recall;
  std::array<LastShape, kCached> last_shape;  // of instructions with lanes of any shape

  void touch(LaneMask lanes) {
    since_access |= lanes;
    since_control |= lanes;
  }
  // Makes every group lie inside or outside `lanes`.
  void split(LaneMask lanes);
  // Joins groups that know the same.
  void coalesce();
  void exit(LaneMask lanes);
  // All lanes that ever acted are in `lanes`.
  bool is_whole(LaneMask lanes) const { return (exists & ~lanes) == 0; }
};

// Program order says nothing of an asynchronous operation, not even of two by the same instruction:
// the key of its object and the key it is checked by match nothing.
uint64_t async_object_key(const Warp& warp, const Cta* peer = nullptr);
uint64_t async_doing_key(const Warp& warp, const Cta* peer = nullptr);
// The upper half of a key of what the warp does in the shared memory of `peer`, or its own.
uint64_t place_key(const Warp& warp, const Cta* peer);

}  // namespace lw::order
