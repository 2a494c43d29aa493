#pragma once
// The machine of the fuzzer: warps that block at barriers, objects that count arrivals and bytes,
// and both engines under test. One method per kind of event; each does to both engines what it
// says.

#include <map>
#include <optional>
#include <random>
#include <set>

#include "fuzz.h"
#include "order/engine.h"
#include "reference.h"

namespace lw::reference_order {

// One warp instruction that touches memory.
struct Instruction {
  enum class Form { kContiguous, kUniform, kEach, kMatrix };
  uint32_t cta = 0;
  uint32_t owner = 0;  // of the shared memory
  int warp = 0;
  LaneMask lanes = 0;      // that take part
  LaneMask row_lanes = 0;  // kMatrix: that give rows
  Form form = Form::kContiguous;
  bool global = false;
  Kind kind = Kind::kRead;
  bool strong = false;
  Strength strength = Strength::kRelaxed;  // if strong
  Scope scope = Scope::kGpu;
  bool live = false;  // the value of a strong read is used
  uint32_t bytes = 4;
  std::array<uint64_t, kWarpSize> address{};
};

struct FuzzBarrier {
  int warps_expected = 0;
  std::map<int, LaneMask> arrived;
  std::map<int, bool> waits;
};

struct FuzzObject {
  uint32_t cta = 0;  // its index is in `offset`
  uint32_t offset = 0;
  bool live = false;
  int expected = 1;
  int pending = 1;
  int bytes = 0;
  uint32_t phase = 0;
};

// One operation on tensor memory, by a warp (ld, st) or by one lane of it.
struct TensorEvent {
  Agent agent = Agent::kTensorLoad;  // kMmaResult: an mma
  uint32_t cta = 0;
  int warp = 0;
  LaneMask lanes = 0;
  size_t allocation = 0;  // index
  TensorBox box;          // columns count from the allocation
  bool has_operand = false;
  TensorBox operand;  // of an mma
  bool accumulates = false;
  uint32_t accumulator = 0;
  Range shared;  // 0 bytes: none
};

// Columns of the one SM that all CTAs share.
struct FuzzColumns {
  uint32_t cta = 0;
  uint32_t slot = 0;
  bool freed = false;
  Record free;  // the access that freed them
};

class World : public RaceSink {
 public:
  World(uint64_t seed, bool strict, size_t collect_at, bool partial_warp);
  void race(const Race& race) override;

  // Ordered after the grids that have ended; `early`: a dependent of the last one that runs.
  // `clustered`: its CTAs are a cluster, and have met.
  void begin_grid(bool early, bool clustered);
  void end_grids(bool only_first);  // of those that run
  size_t grids_running() const { return running_.size(); }
  size_t grids_begun() const { return grids_begun_; }
  DryRun try_access(const Instruction& what);
  void access(const Instruction& what);
  void warp_sync(uint32_t cta, int warp, LaneMask lanes);
  void warp_meet(uint32_t cta, int warp, LaneMask lanes);
  void barrier_arrive(uint32_t cta, int warp, LaneMask lanes, int id, bool waits);
  void init(uint32_t cta, int warp, int lane, FuzzObject& object);
  void inval(uint32_t cta, int warp, int lane, FuzzObject& object);
  // No copy or arrival that will signal it is under way.
  bool is_quiet(uint32_t cta, const FuzzObject& object) const;
  void complete_tx(uint32_t cta, int warp, LaneMask lanes, FuzzObject& object);
  void arrive(uint32_t cta, int warp, LaneMask lanes, FuzzObject& object, bool release,
              Scope scope);
  void expect(uint32_t cta, int warp, LaneMask lanes, FuzzObject& object);
  void wait(uint32_t cta, int warp, LaneMask lanes, FuzzObject& object, bool acquire, Scope scope);
  DryRun try_cp_async(const Instruction& to_shared, const Instruction& from_global);
  void cp_async(const Instruction& to_shared, const Instruction& from_global);
  void cp_async_commit(uint32_t cta, int warp, LaneMask lanes);
  void cp_async_wait(uint32_t cta, int warp, LaneMask lanes, uint32_t left);
  void cp_async_arrive(uint32_t cta, int warp, LaneMask lanes, FuzzObject& object);
  // `to`: the CTA that the bytes go to.
  void bulk_load(uint32_t cta, int warp, int lane, FuzzObject& object, uint32_t to, Range shared,
                 Range global);
  DryRun try_bulk(uint32_t cta, int warp, int lane, uint32_t to, Range shared, Range global,
                  bool load);
  void bulk_store(uint32_t cta, int warp, int lane, Range shared, Range global, bool reduce);
  void bulk_commit(uint32_t cta, int warp, LaneMask lanes);
  void bulk_wait(uint32_t cta, int warp, LaneMask lanes, uint32_t left, bool reads_only);
  // The slot of columns that nobody has, if there is one.
  std::optional<uint32_t> free_slot() const;
  std::vector<FuzzColumns>& allocations() { return columns_; }
  DryRun try_tensor_alloc(uint32_t cta, int warp, LaneMask lanes, uint32_t word);
  void tensor_alloc(uint32_t cta, int warp, LaneMask lanes, uint32_t slot, uint32_t word);
  void tensor_free(uint32_t cta, int warp, LaneMask lanes, size_t allocation);
  DryRun try_tensor_free(uint32_t cta, int warp, LaneMask lanes, size_t allocation);
  DryRun try_tensor(const TensorEvent& what);
  void tensor(const TensorEvent& what);
  void tensor_wait(uint32_t cta, int warp, LaneMask lanes, bool stores);
  void tensor_commit(uint32_t cta, int warp, int lane, FuzzObject& object);
  void tensor_fence(uint32_t cta, int warp, LaneMask lanes, bool before);
  // Has the grid that this CTA's grid depends on ended?
  bool may_wait_for_grid(uint32_t cta) const;
  void grid_wait(uint32_t cta, int warp, LaneMask lanes);
  bool is_clustered(uint32_t cta) const { return clustered_.contains(cta / kCtasPerGrid); }
  // The other CTA of the cluster.
  static uint32_t peer_of(uint32_t cta) { return cta ^ 1; }
  // Lanes that may arrive at the barrier of the cluster, and those that may wait.
  LaneMask may_arrive(uint32_t cta, int warp) const;
  LaneMask may_wait(uint32_t cta, int warp) const;
  void cluster_arrive(uint32_t cta, int warp, LaneMask lanes, bool release);
  void cluster_wait(uint32_t cta, int warp, LaneMask lanes);
  void fence_mbarrier_init(uint32_t cta, int warp, LaneMask lanes);
  void fence_proxy(uint32_t cta, int warp, LaneMask lanes, FenceSpaces spaces);
  void fence(uint32_t cta, int warp, LaneMask lanes, FenceKind kind, Scope scope);
  // Copies in flight and asynchronous arrivals.
  void finish_something(std::mt19937_64& random) { finish(random() % flights_.size()); }
  void finish_last() { finish(flights_.size() - 1); }
  void exit_lanes(uint32_t cta, int warp, LaneMask lanes);

  static constexpr uint32_t kCtasPerGrid = 2;
  // One of the CTAs that run.
  uint32_t cta(uint64_t index) const {
    return running_[index / kCtasPerGrid % running_.size()] * kCtasPerGrid +
           static_cast<uint32_t>(index % kCtasPerGrid);
  }
  LaneMask live(uint32_t cta, int warp) const { return live_.at({cta, warp}); }
  LaneMask blocked(uint32_t cta, int warp) const;
  // No barrier holds arrivals of the warp: its lanes may exit without changing who is expected.
  bool barrier_free(uint32_t cta, int warp) const;
  bool in_flight() const { return !flights_.empty(); }
  FuzzObject& object(uint32_t cta, int index) { return objects_.at({cta, index}); }
  FuzzBarrier& barrier(uint32_t cta, int id) { return barriers_[{cta, id}]; }

  // Empty, or how the two differ.
  std::string compare() const;
  void count(FuzzCounts& counts) const;
  void next_event(std::string text);
  std::vector<std::string> trace;

  static constexpr uint64_t kGlobalBase = 0x10000;
  static constexpr uint32_t kSharedBytes = 512;
  static constexpr uint32_t kGlobalBytes = 512;
  static constexpr int kObjects = 2;
  static constexpr uint32_t kSlots = 4;
  static constexpr uint32_t kSlotColumns = 32;
  static constexpr uint32_t kUsedColumns = 3;  // of a slot; the reference knows no more

 private:
  struct Flight {
    bool arrival = false;
    uint32_t cta = 0;
    int object = 0;
    AsyncId engine;
    uint32_t reference = 0;
    int lanes = 1;
  };

  Warp& warp(uint32_t cta, int index) {
    return engine_.warp(CtaId{cta}, WarpId{static_cast<uint16_t>(index)});
  }
  std::vector<int> lane_list(uint32_t cta, int warp, LaneMask lanes) const;
  OpId op() const { return OpId{instruction_}; }
  // Few instructions, executed often: the engine recognises what it has recorded by them.
  OpId op_of(const Instruction& what);
  std::vector<Touched> touched(const Instruction& what);
  std::vector<Reference::StrongCall> words(const Instruction& what) const;
  std::vector<Touched> copied(const Instruction& side, Kind kind, std::map<int, uint32_t>& ids);
  std::vector<Touched> ranged(uint32_t cta, int lane, bool global, Range range, Kind kind,
                              uint32_t id);
  std::vector<Touched> both_sides(uint32_t to, int lane, Range shared, Range global, bool load,
                                  Kind kind, uint32_t shared_id, uint32_t global_id);
  std::vector<Touched> cells(const TensorBox& box, uint32_t slot, const Record& record) const;
  std::vector<Touched> all_cells(uint32_t slot, const Record& record) const {
    return cells(TensorBox::full(0, kUsedColumns), slot, record);
  }
  std::vector<Touched> word_of_alloc(uint32_t cta, uint32_t word, const Record& record) const;
  Record whole_warp(uint32_t cta, int warp, LaneMask lanes, Agent agent);
  std::vector<Touched> tensor_cells(const TensorEvent& what, const Reference::TensorIds& ids) const;
  void tell_engine(const TensorEvent& what);
  void finish(size_t chosen);
  void begin_cluster(uint32_t grid);
  void complete_if_due(FuzzObject& object);
  Flight flight_to(const FuzzObject& object) const;
  FuzzObject& place(uint32_t cta, int index) { return objects_.at({cta, index}); }

  std::mt19937_64 random_;
  Engine engine_;
  Reference reference_;
  bool partial_warp_;
  bool strict_;
  uint32_t instruction_ = 0;
  uint32_t init_races_ = 0;
  std::set<uint32_t> inval_races_;
  std::map<std::pair<uint32_t, int>, LaneMask> live_;
  std::map<std::pair<uint32_t, int>, LaneMask> blocked_;
  std::map<std::pair<uint32_t, int>, FuzzBarrier> barriers_;
  std::map<std::pair<uint32_t, int>, FuzzObject> objects_;
  std::map<std::tuple<bool, Kind, bool, Strength, Scope, uint32_t, bool>, uint32_t> ops_;
  std::set<uint32_t> clustered_;  // grids
  // At the barrier of the cluster: lanes that have arrived in its phase, and that owe a wait.
  std::map<std::pair<uint32_t, int>, LaneMask> at_cluster_, owes_wait_;
  std::vector<Flight> flights_;
  std::vector<FuzzColumns> columns_;
  std::map<uint32_t, uint32_t> early_;  // the grid that a dependent one need not wait for
  std::map<uint32_t, std::set<uint32_t>> grid_over_;  // what was over when a grid began
  std::map<uint32_t, std::set<uint32_t>> waited_;     // what its griddepcontrol.wait waited for
  uint32_t grids_begun_ = 0;
  std::vector<uint32_t> running_, ended_;                                // grids
  std::map<std::tuple<uint32_t, bool, uint32_t, uint64_t>, int> races_;  // tier R: least path
  std::map<std::tuple<uint32_t, bool, uint32_t, uint64_t>, int> strict_found_;
};

}  // namespace lw::reference_order
