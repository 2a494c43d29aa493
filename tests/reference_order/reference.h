#pragma once
// The order engine as one would write it first: every lane has a full clock per view, every event
// its own number, every asynchronous operation its own bit, every access is kept for every byte.
// Slow and plain; the fast engine must agree with it on random programs (fuzz.h). It follows the
// rule book, not the fast engine: no epochs, no shapes, no shared clocks.
//
// Meaning fixed here: an access is compared with every earlier one to its bytes that no write
// ordered after it has retired; a race of tier R ends the checks of its byte.

#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <set>
#include <span>
#include <tuple>
#include <vector>

#include "order/event.h"
#include "order/facts.h"

namespace lw::reference_order {

using namespace lw::order;  // the event vocabulary

inline constexpr int kWarps = 3;
inline constexpr int kMaxCtas = 6;
inline constexpr int kLanesPerCta = kWarps * kWarpSize;
inline constexpr int kLanes = kMaxCtas * kLanesPerCta;

inline constexpr int kOrdered = 100;  // above every Path

enum View { kH, kAShared, kAGlobal, kE, kC, kCrossing, kViewCount };

// What one lane knows in one view: of each lane up to which event, and which milestones.
struct Knowledge {
  std::vector<uint32_t> lane;
  std::vector<uint64_t> milestone;

  void join(const Knowledge& other);
  void learn_lane(int index, uint32_t event);
  void learn_milestone(uint32_t id);
  bool knows_lane(int index, uint32_t event) const;
  bool knows_milestone(uint32_t id) const;
};

using Views = std::array<Knowledge, kViewCount>;

// One access to one byte by one agent.
struct Record {
  bool async = false;  // known by a milestone, else by lane and event
  uint32_t milestone = 0;
  int lane = 0;  // who did it or issued it
  uint32_t event = 0;
  std::vector<std::pair<int, uint32_t>> receivers;  // ldmatrix: known if any of these is
  bool writes = false;
  bool reads = false;
  bool strong = false;
  bool async_proxy = false;
  bool cp_async = false;
  Scope scope = Scope::kCta;
  uint8_t element_bytes = 0;
  uint32_t instruction = 0;  // which event of the program
  // In tensor memory: what it is, the accumulator of an mma, that a fence of its thread came after
  // it, and the lanes that all execute it.
  Agent agent = Agent::kLanes;
  uint32_t accumulator = 0;
  uint32_t fenced = 0;
  std::vector<int> together;
};

// Tensor memory stands beside the shared memories of the CTAs: cells of four bytes, by SM.
inline constexpr uint32_t kTensorOwner = 1000;

// A first race of a byte: event of the program, place, how far the two were ordered.
struct ByteRace {
  uint32_t instruction;
  bool global;
  uint32_t cta;  // of a shared byte
  uint64_t address;
  int path;
  friend auto operator<=>(const ByteRace&, const ByteRace&) = default;
};

struct ByteKey {
  bool global;
  uint32_t cta;
  uint64_t address;
  friend auto operator<=>(const ByteKey&, const ByteKey&) = default;
};

// The bytes of one warp instruction or of one side of an asynchronous operation.
struct Touched {
  ByteKey byte;
  Record record;
};

struct LaneEvent {
  int lane;
  uint32_t event;
};

// What an access would meet.
struct DryRun {
  bool races = false;
  // Wherever it races, it is ordered after a later access than the one it races with: what an
  // engine that keeps too few of the earlier accesses would miss.
  bool narrowly = false;
};

// Lanes of one call.
using Calls = std::vector<LaneEvent>;

class Reference {
 public:
  explicit Reference(bool strict) : strict_(strict) {}

  void begin_instruction(uint32_t index) { instruction_ = index; }
  // `over`: the grids that are complete before this one starts.
  void begin_grid(uint32_t grid, const std::vector<uint32_t>& over);
  void begin_cta(uint32_t cta, uint32_t grid);
  void begin_cluster(const std::vector<uint32_t>& ctas);
  void cluster_arrive(std::span<const int> lanes, bool release);
  void cluster_complete(uint32_t any);
  void cluster_wait(std::span<const int> lanes);
  void fence_mbarrier_init(std::span<const int> lanes);
  static int lane_index(uint32_t cta, int warp, int lane) {
    return static_cast<int>(cta) * kLanesPerCta + warp * kWarpSize + lane;
  }

  // The number that the lane's next event will have; and taking it.
  uint32_t coming_event(int lane) { return state(lane).events + 1; }
  void take_event(int lane) { ++state(lane).events; }
  // Nothing is kept of it.
  DryRun try_access(const std::vector<Touched>& touched);
  void access(const std::vector<Touched>& touched);

  void warp_sync(std::span<const int> lanes, bool control_only);
  void barrier_arrive(uint32_t cta, int id, std::span<const int> lanes, bool waits);
  void barrier_complete(uint32_t cta, int id);

  void mbarrier_init(uint32_t cta, uint32_t offset, int lane);
  void mbarrier_inval(uint32_t cta, uint32_t offset, int lane);
  void mbarrier_complete_tx(uint32_t cta, uint32_t offset, std::span<const int> lanes);
  void mbarrier_arrive(uint32_t cta, uint32_t offset, std::span<const int> lanes, bool release,
                       Scope scope);
  void mbarrier_expect(uint32_t cta, uint32_t offset, std::span<const int> lanes);
  void mbarrier_complete(uint32_t cta, uint32_t offset);
  void mbarrier_wait(uint32_t cta, uint32_t offset, std::span<const int> lanes, bool acquire,
                     Scope scope);

  uint32_t new_milestone() { return next_milestone_++; }
  void cp_async_issued(int lane, uint32_t milestone);
  void cp_async_commit(int lane);
  void cp_async_wait(int lane, uint32_t left);
  uint32_t cp_async_arrive(uint32_t cta, uint32_t offset, std::span<const int> lanes);
  void async_arrive(uint32_t arrival);

  uint32_t bulk_load(uint32_t cta, uint32_t offset, int lane, std::span<const uint32_t> milestones);
  void bulk_complete(uint32_t load);
  void bulk_store_issued(int lane, uint32_t milestone, bool is_read);
  void bulk_commit(int lane);
  void bulk_wait(int lane, uint32_t left, bool reads_only);

  uint32_t new_tensor_milestone();
  void tensor_alloc(const std::vector<Touched>& cells);
  // Accesses to columns that the CTA has freed are compared with that alone.
  void freed_access(const std::vector<Touched>& cells, const Record& freed);
  void tensor_moved(int lane, uint32_t milestone, bool store);  // a ld or st of the lane's warp
  void tensor_wait(std::span<const int> lanes, bool stores);
  struct TensorIds {
    uint32_t cells, shared, fenced;
  };
  void tensor_issued(int lane, const TensorIds& ids) { state(lane).work.push_back(ids); }
  uint32_t tensor_commit(uint32_t cta, uint32_t offset, int lane);
  void tensor_fence_before(std::span<const int> lanes);
  void tensor_fence_after(std::span<const int> lanes);

  // griddepcontrol.wait of lanes of `grid`: these grids are over.
  void grid_wait(uint32_t grid, const std::set<uint32_t>& over, std::span<const int> lanes);

  void fence_proxy(int lane, FenceSpaces spaces);
  void fence(int lane, FenceKind kind, Scope scope);

  // The edges of a strong instruction: lanes of one word, after their access. `overwritten` first.
  struct StrongCall {
    ByteKey word;
    std::vector<int> lanes;
    Kind kind;
    Strength strength;
    Scope scope;
    bool live;
    uint8_t bytes;
  };
  void forget_overwritten(const ByteKey& word);
  void synchronise(const StrongCall& call);

  const std::set<ByteRace>& races() const { return races_; }
  const std::set<ByteRace>& strict_findings() const { return strict_found_; }
  uint64_t unwritten_bytes() const { return unwritten_bytes_; }
  std::map<RuleId, uint64_t> unforced;
  uint32_t init_races = 0;
  std::set<uint32_t> inval_races;  // events

 private:
  // A strong write as its readers see it.
  struct WordWrite {
    uint32_t cta = 0;
    bool release = false;
    Scope scope = Scope::kCta;
    Views views;                                  // published by the write itself
    std::vector<std::pair<Scope, Views>> fences;  // by fences before it
    Knowledge tensor;                             // by a before_thread_sync
    int lane = 0;
    uint32_t instruction = 0;
    uint8_t bytes = 0;
    bool observed = true;  // no plain write came after it, nor another lane's with it
  };
  struct WordEvent {
    int lane;
    uint32_t event;
    uint32_t instruction;
  };
  struct Word {
    std::vector<WordWrite> chain;
    std::vector<WordEvent> writes, live_reads;
    std::vector<int> last_writer;
  };
  // A read whose value is used, and a write that it observed (M-15).
  struct Sighting {
    int writer = 0;
    uint32_t instruction = 0;
    int reader = 0;
    uint32_t event = 0;
  };
  struct AsyncGroup {
    std::vector<uint32_t> reads;
    std::vector<uint32_t> writes;
  };
  struct LaneState {
    uint32_t grid = 0;
    uint32_t events = 0;
    Views views;
    AsyncGroup copies;  // uncommitted
    std::vector<AsyncGroup> copy_groups;
    std::vector<uint32_t> all_copies;
    AsyncGroup bulk;
    std::vector<AsyncGroup> bulk_groups;
    std::vector<std::pair<Scope, Views>> fences;
    std::vector<uint32_t> wide_fences;  // events: fences that can release to other CTAs
    std::vector<WordWrite> observed;
    std::vector<uint32_t> inits, fenced_inits;  // milestones
    std::vector<TensorIds> work;
    Knowledge tensor;  // known at the last before_thread_sync
  };
  struct Byte {
    bool dead = false;
    bool written = false;
    bool last_write_weak = false;
    std::vector<Record> records;
  };
  struct Barrier {
    uint32_t generation = 0;
    std::vector<LaneEvent> arrived, previous;
    std::vector<int> waiting;
    Views joined;
  };
  struct Object {
    uint32_t phase = 0;
    LaneEvent init{};
    uint32_t init_id = 0;  // a milestone, learnt through fence.mbarrier_init
    bool init_raced = false;
    bool in_doubt = false;  // D-2 has failed
    std::vector<LaneEvent> arrived, previous, before;
    // Milestones of copies, ids of asynchronous arrivals.
    std::vector<uint32_t> bytes, previous_bytes, before_bytes;
    std::vector<Calls> expected, waited;
    Calls uses;  // of its life
    // What the arrivals bring to those who wait at the scope of their CTA, and of the cluster.
    Views joined, joined_in_cluster;
    Knowledge issuers;  // C of the issuers of copies
    Views done, done_in_cluster;
  };
  struct Cluster {
    Views joined, done;
  };
  struct Async {
    uint32_t cta = 0;
    uint32_t offset = 0;
    uint32_t phase = 0;  // of the object at the issue
    std::vector<uint32_t> milestones;
    Knowledge control;
    std::vector<uint32_t> copies;
    std::vector<LaneEvent> arrival;
  };

  LaneState& state(int lane) { return lanes_.at(lane); }
  static uint32_t cta_of(int lane) { return static_cast<uint32_t>(lane / kLanesPerCta); }
  Views publish(int lane);
  Views publish_across(int lane);  // by a barrier or a word
  void join_views(Views& into, const Views& from);
  void learn(int lane, const Views& from, bool acquire);

  bool knows(int view, int lane, const Record& record);
  bool knows_event(const Knowledge& knowledge, const LaneEvent& event) const;
  bool lane_knows_event(int lane, const LaneEvent& event);
  bool conflict(const Record& x, const Record& y) const;
  uint32_t cluster_of(int lane) const;
  bool includes(Scope scope, int lane, int other) const;
  void bring(Object& object, uint32_t cta, int lane, const Views& views, Scope scope);
  void bring_fenced(Object& object, uint32_t cta, int lane, Scope scope);
  // Is the grid of `earlier` complete before that of `lane` starts?
  bool grid_over(int earlier, int lane);
  bool is_classic_last_block(const Record& x, int lane);
  bool is_observed(ByteKey byte, const Record& x, int lane);
  // The path of a pair and its tier: 0 ordered, 1 strict, 2 race.
  std::pair<int, int> judge(const ByteKey& byte, const Record& x, const Record& y);
  std::pair<int, int> judge_tensor(const Record& x, const Record& y);
  enum class Follows : uint8_t { kNo, kAcrossWarps, kYes };
  Follows follows(const Record& x, const Record& y);
  bool follows_a_reader(const ByteKey& key, const Record& x, const Record& y);
  Knowledge tensor_part(const Knowledge& of) const;
  bool knows_grid_end(int view, int lane, int earlier);
  std::pair<int, int> judge_byte(const ByteKey& byte, const std::vector<Record>& now);
  bool last_is_ordered(const ByteKey& byte, const std::vector<Record>& now);
  std::map<ByteKey, std::vector<Record>> by_byte(const std::vector<Touched>& touched) const;
  bool retires(const Record& y, const Record& x, const std::vector<Record>& now);
  void check_forced(Object& object, std::span<const int> lanes);
  void check_landing(Object& object, const Async& operation);
  void check_early_wait(const Object& object, std::span<const int> lanes);
  void check_word(const std::vector<WordEvent>& before, const StrongCall& call);
  void sight(const Word& word, const StrongCall& call);
  void read_word(Word& word, const StrongCall& call);
  void write_word(Word& word, const StrongCall& call);
  void acquire_from(int lane, const WordWrite& write, Scope scope);
  void use_object(Object& object, std::span<const int> lanes);
  void write_object(uint32_t cta, uint32_t offset, int lane);
  void empty_bytes(uint32_t cta, uint32_t offset);
  Calls number(std::span<const int> lanes);

  bool strict_;
  uint32_t instruction_ = 0;
  uint32_t next_milestone_ = 1;
  uint32_t next_async_ = 1;
  std::map<uint32_t, std::set<uint32_t>> over_;  // by grid
  std::map<uint32_t, uint32_t> cluster_of_cta_;  // the first CTA; alone: none
  std::map<uint32_t, Cluster> clusters_;
  bool relaxed_wait_ = false;
  struct GridWait {
    uint32_t milestone;
    std::set<uint32_t> over;
  };
  std::map<uint32_t, GridWait> grid_waits_;  // by grid
  struct Moves {
    std::vector<uint32_t> loads, stores;
  };
  std::map<int, Moves> moves_;  // by warp
  Knowledge tensor_ids_;        // milestones that the fences of tcgen05 carry
  std::map<int, LaneState> lanes_;
  std::map<ByteKey, Byte> bytes_;
  std::map<std::pair<uint32_t, int>, Barrier> barriers_;
  std::map<std::pair<uint32_t, uint32_t>, Object> objects_;
  std::map<uint32_t, Async> async_;
  std::map<ByteKey, Word> words_;
  std::map<ByteKey, std::vector<Sighting>> sightings_;  // by the word's first byte
  std::set<ByteRace> races_;
  std::set<ByteRace> strict_found_;
  uint64_t unwritten_bytes_ = 0;
};

}  // namespace lw::reference_order
