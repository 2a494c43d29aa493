#pragma once
// Makes up the events of one program (fuzz.h). What is random is drawn from one generator, so a
// seed is a program. Accesses and copies are in generator_memory.cpp.

#include <random>
#include <string>

#include "world.h"

namespace lw::reference_order {

// What a program is made of: how often each kind of event, drawn once per program so that programs
// differ in character.
struct Character {
  uint32_t access, sync, barrier, mbarrier, hand_over, copies, bulk, fence, finish, exit, tensor,
      grid_wait, cluster;
  uint32_t races_kept;  // one of so many accesses that would race is kept
  bool narrow;          // bytes and halves too
  bool strong;          // relaxed atomics and strong loads
  bool matrices;
  int reads;   // of 100 accesses
  int global;  // of 100 accesses
  int tile;    // of 100 accesses and copies go to the tile
  int rows;    // of 100 times that it comes to accesses: several like ones of a whole warp
  int remote;  // of 100 shared places in a cluster are the peer's
  int events;
};

// A place that warps go to as a whole, again and again: readers of the same cells are a set, and
// copies meet them there.
struct Tile {
  uint64_t start;
  uint32_t bytes;   // of each lane
  uint32_t turned;  // lane ^ turned is its place in the row, where lanes are permuted
};

class Generator {
 public:
  explicit Generator(uint64_t seed)
      : random_(seed * 0x9e3779b97f4a7c15u + 1),
        character_(draw_character()),
        tile_{draw_tile(), draw_tile()},
        world_(seed, below(4) == 0, below(3) == 0 ? 20 : 1 << 16, below(6) == 0) {}

  // `closely`: compare after every event, to find the first that differs.
  FuzzResult run(FuzzCounts& counts, bool closely);

 private:
  uint64_t below(uint64_t bound) { return random_() % bound; }
  bool often(int percent) { return below(100) < static_cast<uint64_t>(percent); }
  // Most accesses that would race are dropped, of those that race narrowly fewer.
  bool drops(const DryRun& dry) {
    return dry.races && !(dry.narrowly && often(30)) && below(character_.races_kept) != 0;
  }
  Character draw_character();
  Tile draw_tile();
  LaneMask some_lanes(LaneMask from);
  int one_lane(LaneMask from);
  bool step();
  void pick_warp();
  void data_access();
  void like_accesses();
  Strength strength(Kind kind);
  void fence_event();
  Instruction memory(bool global, uint32_t bytes);
  void spread_addresses(Instruction& what);
  void spread_rows(Instruction& what);
  void place_on_tile(Instruction& what);
  void next_grid();
  void synchronise();
  void named_barrier();
  void object_event();
  void rare_object_event(FuzzObject& object);
  void init(FuzzObject& object, int expected);
  void hand_over();
  bool bring(FuzzObject& object, int how);
  void copy();
  bool bulk_copy(int lane, FuzzObject* signal);  // a load if it signals; false if dropped
  void copy_event();
  void bulk_event();
  void tensor_event();
  void tensor_life();
  void tensor_operation(bool by_warp);
  TensorBox tensor_box(bool by_warp);
  void grid_wait_event();
  void cluster_event();
  // The CTA whose shared memory or object it is this time.
  uint32_t some_owner() {
    return world_.is_clustered(cta_) && often(character_.remote) ? World::peer_of(cta_) : cta_;
  }
  FuzzObject& some_object(uint32_t owner) {
    return world_.object(owner, static_cast<int>(below(World::kObjects)));
  }
  Scope some_scope() { return often(60) ? Scope::kCluster : Scope::kCta; }
  Range range(bool global, uint32_t bytes);
  static std::string describe(const Instruction& what);
  void note(const char* what, LaneMask lanes, const std::string& more = {});

  std::mt19937_64 random_;
  Character character_;
  Tile tile_[2];  // in shared and in global memory
  World world_;
  uint64_t last_copy_[2] = {0,
                            World::kGlobalBase};  // shared and global place of the last bulk copy
  uint32_t cta_ = 0;
  int warp_ = 0;
  LaneMask lanes_ = 0;  // that can act
};

}  // namespace lw::reference_order
