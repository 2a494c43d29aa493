#pragma once
// The state of an engine: grids, CTAs and their synchronisation objects, shadow memory, findings.
// Files named after chapters of the rule book work on it: warp_sync, named_barrier, mbarrier,
// cp_async, bulk, proxy, grid; check_*.cpp holds accesses against it.

#include <array>
#include <map>
#include <memory>
#include <unordered_map>
#include <vector>

#include "order/engine.h"
#include "order/findings.h"
#include "order/pattern.h"
#include "order/publish.h"
#include "order/raced_values.h"
#include "order/shadow.h"
#include "order/shape.h"
#include "order/story.h"
#include "order/strong.h"

namespace lw::order {

// A pair of bundles joined last: the warps of a CTA learn the same thing one after the other.
struct LearnMemo {
  BundleRef before;
  BundleRef learnt;
  BundleRef after;
  ViewSet views = 0;
};

struct NamedBarrier {
  struct Arrival {
    ControlEvent event;
    bool waits = false;
  };
  Component component = 0;          // 0: never used (component 0 is a warp's)
  uint32_t generation = 0;          // completed ones
  std::vector<Contribution> parts;  // of the present generation
  std::vector<Arrival> arrivals;    // the same
  std::vector<Arrival> previous;    // of the generation before
  uint64_t completed_at = 0;        // accesses of the run when that one was complete
  uint64_t first_completed_at = 0;  // and the first of all
};

// What is asked of a phase that is complete (mbarrier_forced.cpp).
struct CompletedPhase {
  uint32_t number = 0;  // counts from 1; 0: there was none
  Component component = 0;
  std::vector<ControlEvent> arrived;
  bool had_bytes = false;
  ControlEvent last_copy;
  uint64_t at = 0;  // accesses of the run until then
};

// One life of an mbarrier object, from init to inval.
struct MbarrierState {
  struct Wait {
    ControlEvent event;
    uint64_t at = 0;  // accesses of the run until then
  };

  uint32_t cta = 0;  // whose shared memory it is in
  uint32_t offset = 0;
  Component component = 0;
  uint32_t phase = 0;  // completed ones
  uint32_t last_bytes =
      0;  // the last phase in which a copy finished; its milestone is (component, it)
  bool phase_had_bytes = false;  // the present phase: bytes or asynchronous arrivals came
  bool ever_had_bytes = false;
  bool in_doubt = false;  // D-2 has failed: nobody knows in which phase who arrives
  uint64_t first_completed_at = 0;
  CompletedPhase last;                 // the phase before the present one
  CompletedPhase before;               // and the one before that
  std::vector<Contribution> arrivals;  // of the present phase
  std::vector<Contribution> issues;    // C of the issuers whose copies finished in it
  std::vector<ControlEvent> arrived;   // the same arrivals as events
  std::vector<ControlEvent> expected;  // expect_tx of the present phase
  std::vector<Wait> waited;            // waits credited since the last completion
  std::vector<uint32_t> finished;      // copies whose bytes came in the present phase
  BundleRef done;                      // what the phase before the present one brings
  BundleRef done_in_cluster;           // to those who wait at the scope of the cluster
  ControlEvent last_copy;              // that finished here, by its issue
  ControlEvent init;
  uint32_t init_stamp = 0;         // of WarpInits
  uint32_t init_known = 0;         // warps that know the init (a bit never turns false)
  bool init_raced = false;         // reported
  std::vector<ControlEvent> uses;  // the last one of each warp and set of lanes, for inval
  // What other CTAs did: their last arrivals, and the last signal of an operation of theirs, by its
  // issue, in the phase of this number, from 1; 0: none.
  std::vector<ControlEvent> foreign_uses;
  ControlEvent foreign_signal;
  Agent foreign_agent = Agent::kBulkLoad;
  uint32_t foreign_phase = 0;
};

// An asynchronous operation between its issue and its milestone.
struct Pending {
  std::vector<ObjectId> objects;  // of a load: their count is set at the milestone
  Mbarrier signal;
  Contribution issue;   // C of the issuer
  Contribution copies;  // of an arrival of cp.async or a commit: the operations it stands for
  ControlEvent event;   // its issue
  Agent agent = Agent::kBulkLoad;
  uint32_t phase = 0;  // of the object then
};

// Columns that a CTA got, and the object of the dealloc that gave them back (0: none yet).
struct TensorAllocation {
  uint32_t column = 0;
  uint32_t columns = 0;
  ObjectId freed = 0;
};

struct Cta {
  uint32_t id = 0;
  uint32_t grid = 0;
  uint32_t sm = 0;
  uint32_t cluster = 0;  // id of its first CTA; alone: its own
  uint32_t cluster_size = 1;
  uint32_t ordered_below =
      1;  // CTAs with a smaller id + 1 belong to grids that are over (object.h)
  Component components = 0;
  Region shared;
  std::vector<std::unique_ptr<Warp>> warps;
  std::array<NamedBarrier, 16> barriers;
  std::unordered_map<uint32_t, MbarrierState> mbarriers;
  std::map<uint32_t, ControlEvent> ended_mbarriers;  // by offset: the inval
  BundleRef at_exit;  // what the threads that have exited knew, in a cluster
  ControlEvent last_exit;
  LearnMemo learn_memo;
  std::vector<TensorAllocation> tensor;  // oldest first
  std::vector<Component> tensor_parts;   // first component of each warp that uses it (tensor.h)
};

// CTAs that share their memories, and the barrier of all their threads (cluster.cpp).
struct Cluster {
  std::vector<uint32_t> ctas;          // by rank
  std::vector<Contribution> parts;     // of the present phase
  std::map<uint32_t, BundleRef> done;  // what the phase before it brings, by CTA
};

struct Core {
  Core(Options options, const Values* values);

  Options options;
  const Values* values;
  Objects objects;
  Shadow shadow{objects};
  Findings findings;
  RacedValues raced;
  std::vector<std::unique_ptr<Cta>> ctas;  // by id; null when not running
  std::vector<uint32_t> grid_of_cta;       // by id
  std::map<uint32_t, Cluster> clusters;    // by the id of the first CTA
  struct Grid {
    std::vector<bool> over;      // by id: complete before this one starts
    uint32_t ordered_below = 1;  // see Cta
    std::vector<GridId> early;   // that let it start before their end (G-3)
    std::vector<bool> waited;    // by id: over when its griddepcontrol.wait returned; empty: none
  };
  std::vector<Grid> grids;
  std::vector<Component> grid_wait_of_cta;  // by id: raised by griddepcontrol.wait; 0: never
  std::map<uint32_t, Region> tensor_cells;  // by SM
  std::vector<Region> buffers;              // ascending
  std::array<size_t, 16> last_buffer{};     // by the address, in pieces of 16 MiB
  std::unordered_map<uint32_t, Pending> pending;
  // Fences that can release to other CTAs, by CTA and warp (last_block.cpp).
  std::map<std::pair<uint32_t, uint32_t>, std::vector<ControlEvent>> wide_fences;
  std::map<WordKey, Word> words;  // by owner (kNoCta: global) and address
  uint32_t next_async = 1;
  std::unique_ptr<StoryLog> story;  // in a run with watches
  size_t collect_at;
  Patterns patterns;
  std::vector<Touch> writers;  // scratch of blocks.cpp
  std::vector<Touch> readers;

  Region& buffer(uint64_t address);
  // `peer`: the CTA whose shared memory it is, if not the warp's own.
  Region& region(Warp& warp, Space space, uint64_t address, Cta* peer = nullptr) {
    if (space != Space::kShared) return buffer(address);
    return peer == nullptr ? warp.cta->shared : peer->shared;
  }
  // Null if it is the warp's own or nothing is named.
  Cta* peer_of(const Warp& warp, std::optional<CtaId> cta) {
    return !cta || cta->value == warp.cta->id ? nullptr : &running(*cta);
  }
  Cta& running(CtaId cta);
  // Whose the object of an access is: its instruction's, or that of all like it.
  uint32_t owner(OpId op, Kind kind, Agent agent, bool strong) const {
    if (options.by_instruction || strong) return op.value;
    return 1u << 31 | static_cast<uint32_t>(agent) << 2 | static_cast<uint32_t>(kind);
  }
  Warp::Cached& cached(Warp& warp, uint32_t owner, uint32_t code) const {
    const uint32_t slot = options.by_instruction ? owner : (owner ^ code) * 0x9e3779b1u >> 26;
    return warp.cached[slot % Warp::kCached];
  }
  // The id of the object, or 0 if it is not at hand.
  ObjectId cached_object(Warp& warp, uint32_t owner, uint32_t code) const {
    const Warp::Cached& known = cached(warp, owner, code);
    const bool hit = known.owner == owner && known.count == warp.count && known.code == code;
    return hit ? known.id : 0;
  }
  // The object of what `warp` does now by one of its instructions.
  ObjectId object(Warp& warp, const Deed& deed, const Shape& shape) {
    const uint32_t owner = this->owner(deed.op, deed.kind, deed.agent, deed.strong);
    ObjectId id = cached_object(warp, owner, shape.code);
    if (id == 0) {
      id = step_object(warp, deed, shape);
      cached(warp, owner, shape.code) = {owner, warp.count, shape.code, id};
    }
    return id;
  }
  ObjectId step_object(Warp& warp, const Deed& deed, const Shape& shape);
  // The same in the shared memory of another CTA, under the key that it has there.
  ObjectId peer_object(Warp& warp, const Deed& deed, const Shape& shape, uint64_t key);
  // An object of an asynchronous operation; its component and count are given.
  ObjectId async_object(Warp& warp, const Deed& deed, const Shape& shape, Component component,
                        uint32_t count, const Cta* peer = nullptr);
  // Shapes of the present access.
  Shape uniform_shape(LaneMask lanes, ShapeKind kind);
  static constexpr uint32_t whole_warp_code(ShapeKind kind) {
    return shape_code(kind, (1u << 29) - 1);
  }
  // The instruction's shape may be the same as the last time.
  Shape each_shape(Warp& warp, OpId op, const EachShape& each);
  Shape permuted_shape(Warp& warp, OpId op, const LaneOrder& place, int shift);
  // The simplest that fits.
  Shape shape_of(Warp& warp, OpId op, const EachShape& each, const Row& row);
  // May steps be taken again as they are (recall.h)?
  bool recalls() const { return !options.by_instruction && !story; }
  void report_race(const Race& race, uint64_t serial);
  uint64_t accesses() const { return findings.facts().accesses; }  // of the run until now
  bool grid_is_over(const Cta& cta, uint32_t earlier_cta) const;
  bool is_early(uint32_t grid, uint32_t earlier_grid) const;
  // Does somebody who is known by this clock of a CTA of `grid` know that the grid of `earlier_cta`
  // is over (G-4)?
  bool knows_grid_end(const Clock* clock, const Cta& cta, uint32_t earlier_cta) const;
  void collect_if_due() {
    if (objects.live() >= collect_at) collect();
  }
  void collect();
  Warp& warp_of(uint32_t cta, uint16_t warp) { return *ctas[cta]->warps[warp]; }
  WarpAsync& async_of(Warp& warp);
  static WordKey word_key(Space space, uint32_t owner, uint64_t address) {
    return {space == Space::kShared ? owner : kNoCta, address};
  }
  static WordKey word_key(const Access& access, const Warp& warp, uint64_t address) {
    return word_key(access.space, access.cta ? access.cta->value : warp.cta->id, address);
  }
  void log_sync(const Warp& warp, SyncStep::Kind kind, OpId op, LaneMask lanes, Mbarrier object,
                uint32_t generation) {
    if (story)
      story->sync(warp, {kind, op, WarpId{warp.index}, lanes, object.cta, object.offset, generation,
                         warp.count});
  }
  // Of the warp's own CTA.
  void log_sync(const Warp& warp, SyncStep::Kind kind, OpId op, LaneMask lanes, uint32_t object,
                uint32_t generation) {
    log_sync(warp, kind, op, lanes, Mbarrier{CtaId{warp.cta->id}, object}, generation);
  }
};

// Before a strong access: words that a weak write has gone over since release nothing (strong.cpp).
void forget_overwritten(Core& core, Warp& warp, const Access& access, const EachShape& each);
// The edges of a strong access, after its race check: what it acquires does not order itself.
void synchronise(Core& core, Warp& warp, const Access& access, const EachShape& each);

}  // namespace lw::order
