#pragma once
// The order engine: events in, facts out. One object per run, one thread, no randomness.
//
// Who keeps what. The machine keeps the state that decides blocking: counts of named barriers,
// phase, pending and transaction counts of mbarriers, groups of asynchronous copies. It tells the
// engine of every arrival when it happens, of every completion when the last arrival or byte makes
// it happen, and of every wait when it succeeds. The engine keeps clocks, and which accesses lie
// under them.
//
// A warp is named by a handle that stays valid until its CTA ends. Lanes of a diverged warp call
// with the mask of those that are together; the engine needs no other word about divergence.
//
//   Engine engine({}, &values);
//   engine.declare_buffer(base, bytes, true);
//   engine.begin_grid(grid, earlier_grids);
//   engine.begin_cta(cta, grid, threads, shared_bytes);
//   Warp& warp = engine.warp(cta, WarpId{0});
//   engine.read_contiguous(warp, op, mask, Space::kShared, base, 4);
//   ...
//   const Facts& facts = engine.finish();

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "order/event.h"
#include "order/facts.h"

namespace lw::order {

struct Core;
struct Warp;

struct Options {
  // One access object per instruction, so that findings name it. Else it stands for all like
  // accesses of its epoch, which is faster; what is found may name a neighbour and says so
  // (Facts::names_instructions), and the run is made again with this on.
  bool by_instruction = true;
  bool strict = false;           // also ask for edges that shipped kernels do without (tier strict)
  std::vector<Watch> watches;    // second run: where to rebuild the story of a race
  RaceSink* sink = nullptr;      // hears of every racing stretch as it is found
  size_t collect_at = 1u << 13;  // live access objects before the first collection; small in tests
};

class Engine final {
 public:
  // `values` may be null: then no race is excused by equal bytes, and executions stay 0.
  explicit Engine(Options options, const Values* values = nullptr);
  ~Engine();
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // Memory. `written`: its bytes have a value when the run starts.
  void declare_buffer(uint64_t base, uint64_t bytes, bool written = true);

  // Life. `after`: every grid that is complete before this one starts (stream order, G-7), direct
  // predecessors are enough. `early`: direct predecessors of a programmatic launch that let it
  // start before their end (griddepcontrol.launch_dependents). That orders nothing (G-3) and needs
  // no call of its own; what comes before `early` in the stream needs no mention either. A CTA id
  // is used once in a run; `sm` is where it runs, which decides whose tensor memory it sees.
  void begin_grid(GridId grid, std::span<const GridId> after, std::span<const GridId> early = {});
  void end_grid(GridId grid);
  void begin_cta(CtaId cta, GridId grid, uint32_t threads, uint32_t shared_bytes, uint32_t sm = 0);
  void end_cta(CtaId cta);
  Warp& warp(CtaId cta, WarpId warp);
  void exit_lanes(Warp& warp, OpId op, LaneMask lanes);
  // CTAs that have begun are a cluster, in the order of their ranks.
  void begin_cluster(std::span<const CtaId> ctas);
  // griddepcontrol.wait, when it returns: all that the grids in `early` did is before what these
  // lanes do from now on (G-4), and what other lanes do only by an edge from these.
  void grid_wait(Warp& warp, OpId op, LaneMask lanes);

  // Weak accesses of common shape, the fast paths; `bytes` per lane.
  void read_contiguous(Warp& warp, OpId op, LaneMask lanes, Space space, uint64_t base,
                       uint32_t bytes);
  void write_contiguous(Warp& warp, OpId op, LaneMask lanes, Space space, uint64_t base,
                        uint32_t bytes);
  void read_uniform(Warp& warp, OpId op, LaneMask lanes, Space space, uint64_t address,
                    uint32_t bytes);
  // Any access.
  void access(Warp& warp, const Access& access);
  // ldmatrix and stmatrix (W-4, W-5): lane k of `row_lanes` gives the address of a row.
  void matrix_rows(Warp& warp, OpId op, LaneMask lanes, LaneMask row_lanes, const uint32_t* rows,
                   uint32_t row_bytes, Kind kind);

  // Threads of one warp. `warp_sync`: bar.warp.sync, once all of `lanes` are there. `warp_meet`:
  // shfl, vote, match, redux, elect, mma: they meet, no memory is ordered (W-2).
  void warp_sync(Warp& warp, OpId op, LaneMask lanes);
  void warp_meet(Warp& warp, LaneMask lanes);

  // Named barriers: each warp's (or lane group's) arrival, then the completion, which gives the
  // waiting participants what all brought. The completion comes before anybody goes on.
  void barrier_arrive(Warp& warp, OpId op, BarrierId barrier, BarrierKind kind, LaneMask lanes);
  void barrier_complete(CtaId cta, BarrierId barrier);

  // barrier.cluster, as named barriers; the strength of an arrival is release or relaxed, that of a
  // wait acquire. The completion comes before any wait that it lets through.
  void cluster_arrive(Warp& warp, OpId op, LaneMask lanes, Strength strength);
  void cluster_complete(CtaId any);
  void cluster_wait(Warp& warp, OpId op, LaneMask lanes);

  // mbarriers, of the own CTA or, but for init, inval and wait, of another one of the cluster.
  // `mbarrier_wait`: a test that returned True for the phase before the present one (the
  // "phase before phase 0" too, MB-21). `mbarrier_complete`: the present phase ends, after the call
  // for the arrival or bytes that end it. arrive.expect_tx: expect first, then arrive (MB-17).
  void mbarrier_init(Warp& warp, OpId op, LaneMask lane, Mbarrier object);
  void mbarrier_inval(Warp& warp, OpId op, LaneMask lane, Mbarrier object);
  void mbarrier_arrive(Warp& warp, OpId op, LaneMask lanes, Mbarrier object, Strength strength,
                       Scope scope);
  void mbarrier_expect(Warp& warp, OpId op, LaneMask lanes, Mbarrier object);
  void mbarrier_complete(Mbarrier object);
  void mbarrier_wait(Warp& warp, OpId op, LaneMask lanes, Mbarrier object, Strength strength,
                     Scope scope);
  // The run ends while lanes still wait for the present phase.
  void mbarrier_blocked(Warp& warp, OpId op, LaneMask lanes, Mbarrier object);
  // `mbarrier.complete_tx` as an instruction: counts, no memory order (MB-16).
  void mbarrier_complete_tx(Warp& warp, OpId op, LaneMask lanes, Mbarrier object);

  // cp.async. `at_global.bytes` may be less than what is written (zero fill, CA-11). Groups are
  // kept here too: commit, then wait for all but the newest `n` groups of each lane.
  void cp_async(Warp& warp, OpId op, LaneMask lanes, const Addresses& to_shared,
                uint32_t shared_bytes, const Addresses& from_global, uint32_t global_bytes);
  void cp_async_commit(Warp& warp, LaneMask lanes);
  void cp_async_wait(Warp& warp, LaneMask lanes, uint32_t newest_left);
  void cp_async_wait_all(Warp& warp, LaneMask lanes);
  // cp.async.mbarrier.arrive: the arrival happens later, when `async_arrive` says so (MB-13).
  AsyncId cp_async_arrive(Warp& warp, OpId op, LaneMask lanes, Mbarrier object);
  void async_arrive(AsyncId arrival);

  // Bulk and tensor copies, one lane each. A load completes by complete_tx on its mbarrier
  // (`bulk_complete`, before the mbarrier_complete that it may cause); a store or reduction by the
  // bulk groups of its lane.
  AsyncId bulk_load(Warp& warp, OpId op, LaneId lane, Mbarrier signal,
                    std::span<const AsyncAccess> accesses);
  void bulk_complete(AsyncId load);
  void bulk_store(Warp& warp, OpId op, LaneId lane, std::span<const AsyncAccess> accesses);
  void bulk_commit(Warp& warp, LaneMask lanes);
  // cp.async.bulk.wait_group: reads only (`.read`, TM-10) or writes too (TM-11).
  void bulk_wait(Warp& warp, LaneMask lanes, uint32_t newest_left, bool reads_only);

  // Lanes whose read by `op` (Access::poll) did not give what they wait for: they read again.
  void poll_again(Warp& warp, OpId op, LaneMask lanes);
  // The run ends while they go around for ever.
  void poll_blocked(Warp& warp, OpId op, LaneMask lanes);

  // Tensor memory (rule book 12). Columns are those of the SM: what alloc gave, as it stands in an
  // address. `lanes`: those that execute the instruction, all that are left of the warp; such
  // warp-wide instructions meet in C here, without a call of warp_meet. relinquish_alloc_permit
  // orders nothing.
  //
  // alloc, once it has its columns: a write of all their cells, after whatever their last owner
  // did, which dealloc answers for, and a weak store of four bytes at `word` of shared memory, the
  // address; who knows one lane of the warp to have done it knows it done (T5-2). dealloc: a write
  // of all cells of an allocation; it changes no data. Columns that the CTA has freed may be named
  // by later loads and other work (that is the race of T5-3, to be found); columns that it never
  // had are a plain error (T5-25).
  void tensor_alloc(Warp& warp, OpId op, LaneMask lanes, uint32_t column, uint32_t columns,
                    uint32_t word);
  void tensor_free(Warp& warp, OpId op, LaneMask lanes, uint32_t column, uint32_t columns);
  // tcgen05.ld and st, asynchronous until wait::ld or wait::st of the same warp. Uses of the loaded
  // registers order no memory (T5-12): nothing is told of them.
  void tensor_load(Warp& warp, OpId op, LaneMask lanes, std::span<const TensorBox> boxes);
  void tensor_store(Warp& warp, OpId op, LaneMask lanes, std::span<const TensorBox> boxes);
  void tensor_wait_loads(Warp& warp, LaneMask lanes);
  void tensor_wait_stores(Warp& warp, LaneMask lanes);
  // tcgen05.mma, cp and shift at their issue. They end for whoever learns of a commit.
  void tensor_issue(Warp& warp, OpId op, LaneId lane, const TensorWork& work);
  // tcgen05.commit: one call for each object that it signals. The arrival, on `async_arrive`, comes
  // when all earlier mma, cp and shift of the lane are done, before the mbarrier_complete that it
  // may cause.
  AsyncId tensor_commit(Warp& warp, OpId op, LaneId lane, Mbarrier object);
  // tcgen05.fence::before_thread_sync and ::after_thread_sync.
  void tensor_fence_before(Warp& warp, LaneMask lanes);
  void tensor_fence_after(Warp& warp, LaneMask lanes);

  // Fences.
  void fence_proxy_async(Warp& warp, LaneMask lanes, FenceSpaces spaces);
  void fence(Warp& warp, OpId op, LaneMask lanes, FenceKind kind, Scope scope);
  void fence_mbarrier_init(Warp& warp, LaneMask lanes);

  // Does the state that the lanes find now depend on the schedule: that of mbarrier objects in this
  // part of their CTA's shared memory (or only whether they are alive), that of a named barrier?
  // The uses of it that they do not know of, if so (settled.cpp).
  enum class Asks : uint8_t { life, state };
  std::vector<Unforced> unsettled(const Warp& warp, OpId op, LaneMask lanes, Range shared,
                                  Asks asks) const;
  std::vector<Unforced> unsettled(const Warp& warp, OpId op, LaneMask lanes,
                                  BarrierId barrier) const;
  // May a value that raced have led the lanes to where they are (D-1)?
  bool comes_after_race(const Warp& warp, LaneMask lanes) const;

  // Ends the run: everything found.
  const Facts& finish();
  const Facts& facts() const;
  uint64_t memory_bytes() const;  // held by shadow and objects now, the bulk of it

 private:
  std::unique_ptr<Core> core_;
};

}  // namespace lw::order
