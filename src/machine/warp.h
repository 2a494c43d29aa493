#pragma once
// A warp: its registers and where each of its lanes is.
//
// Every lane has its own position (PTX: Independent Thread Scheduling). Lanes at one position run
// together; the lanes of a warp are therefore at all times divided into *groups*: the one that runs
// (`active`), and those parked at some Op, which can run (`wait.kind == none`) or wait for
// something. Groups that meet at one Op join again; that is all reconvergence means, it orders no
// memory. Among groups that can run the one at the smallest Op runs, so that lanes that went ahead
// are waited for at join points; a group that used up its turn lets the others have one.
//
// A handler gets (op, registers, warp). To wait it parks the running lanes by `block` and returns
// without running the next Op; see dispatch.h for the shapes of handlers.

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/ids.h"
#include "machine/fault.h"
#include "machine/sync_state.h"
#include "machine/wait.h"
#include "program/program.h"

namespace lw::order {
class Engine;
struct Warp;
}  // namespace lw::order

namespace lw::machine {

class Cta;
class Machine;
class Memory;
using base::LaneMask;
using program::Op;
using program::Slot;

// Lanes parked at `at`, the next Op that they will run.
struct Group {
  LaneMask lanes = 0;
  const Op* at = nullptr;
  Wait wait;
};

enum class TurnEnd : uint8_t {
  blocked,  // every group of the warp waits
  polled,   // a round of a polling loop is over
  quantum,  // its instructions are used up
  exited,   // all lanes have
  ended,    // the run has
};

class Warp {
 public:
  // Touched by every handler.
  LaneMask active = 0;   // the lanes that run now
  LaneMask live = 0;     // have not exited
  LaneMask awaited = 0;  // live, or gone although a meeting that names them may still count on them
  LaneMask leaving = 0;  // their last branch led straight to an exit
  int64_t fuel = 0;      // PTX instructions left in this turn
  const Op* join_at = nullptr;  // the smallest Op that a runnable parked group stands at
  std::byte* registers = nullptr;
  order::Engine* order = nullptr;     // null: run without checks
  order::Warp* order_warp = nullptr;  // its handle there
  std::byte* shared = nullptr;        // the CTA's shared memory
  uint32_t shared_bytes = 0;
  uint32_t shared_base = 0;      // the `.shared::cluster` address of its first byte
  uint32_t objects_begin = ~0u;  // live mbarrier objects lie in this part of it
  uint32_t objects_end = 0;
  Memory* memory = nullptr;
  std::byte* local = nullptr;  // lane by lane
  uint32_t local_bytes = 0;    // of a lane
  bool stopped = false;        // the running lanes were parked, or the run has ended
  Cta* cta = nullptr;
  Machine* machine = nullptr;
  const program::Program* program = nullptr;
  base::WarpId id;         // in the CTA
  LaneMask unguarded = 0;  // the running lanes before a guard narrowed them
  const Op* at = nullptr;  // where the running lanes are, outside handlers
  TurnEnd turn_end = TurnEnd::blocked;
  std::vector<Group> parked;                      // in no particular order
  alignas(64) uint32_t scratch[base::kWarpSize];  // of one handler
  WarpSyncState sync;
  // How often watched instructions were executed (Values, holds).
  std::unordered_map<base::OpId, uint64_t> executions;

  template <class T>
  T* lanes(Slot slot) const {
    return reinterpret_cast<T*>(registers + slot.offset);
  }
  uint32_t& predicate(Slot slot) const { return *lanes<uint32_t>(slot); }
  // Writes lanes `mask` of a predicate.
  void set_predicate(Slot slot, LaneMask mask, LaneMask value) const {
    uint32_t& bits = predicate(slot);
    bits = (bits & ~mask) | (value & mask);
  }

  bool is_full() const { return active == live; }
  // A parked group can run.
  bool can_run() const;

  // Parks the running lanes: they go on at `resume` once nothing is in their way any more. `resume`
  // is the op itself (it looks again when woken) or the one after it (its effect has happened).
  // The handler must return without running another Op (a `control` body returns null).
  void block(const Op* resume, Wait wait);
  // Parks some of the running lanes; the rest keeps running.
  void block_lanes(LaneMask lanes, const Op* resume, Wait wait);
  // Lets go of the processor for now; the lanes can go on at `resume`.
  void yield(const Op* resume, TurnEnd why);
  // Parks some of the running lanes, ready to go on at `resume`.
  void split_off(LaneMask lanes, const Op* resume);
  // The running lanes go on at `target`, where other groups may stand, or ahead of groups that
  // should be waited for. Returns where the lanes go on that run now.
  const Op* rejoin(const Op* target);

  // Makes the parked groups for which `ready(group)` holds runnable. Returns whether any were.
  template <class Ready>
  bool wake_if(Ready&& ready) {
    bool any = false;
    for (Group& group : parked) {
      if (group.wait.kind == Wait::Kind::none || !ready(group)) continue;
      group.wait = {};
      any = true;
    }
    if (any) after_wake();
    return any;
  }
  // Those that wait for this kind of thing, at this object.
  bool wake(Wait::Kind kind, uint64_t object);

  // The running lanes have exited. The handler returns without running another Op.
  void exit_lanes(const Op& op);
  // Whether all lanes that have not exited run this Op together, as `.aligned` asks. Lanes that are
  // still behind are waited for; lanes that went past make it a fault. If false the running lanes
  // are parked, or the run has ended, and the handler returns.
  bool require_aligned(const Op& op);

  // A fault of the running lanes: ends the run. The handler returns without running another Op (or,
  // in a `plain` body, just returns).
  void fail(const Op& op, FaultKind kind, std::string text, LaneMask lanes = 0,
            diagnose::RuleId rule = diagnose::RuleId::kNone,
            std::optional<base::BarrierId> barrier = {});
  void fail_at(const Op& op, FaultKind kind, std::string text, LaneMask lanes, uint64_t address,
               uint32_t size_bytes, diagnose::RuleId rule = diagnose::RuleId::kNone);
  void not_analysed(const Op& op, std::string reason);

  // One turn, of `quantum` instructions; used up ones are added to `steps`.
  TurnEnd run_turn(int64_t quantum, uint64_t& steps);

 private:
  void after_wake();
  void find_join();
  const Op* take(size_t index);  // makes a parked group the running one
  const Op* next_group();
  const Op* oldest_group();
  const Op* choose_group();
  const Op* merge_here(const Op* at);

  bool turn_over_ = false;
  int64_t alone_for_ = 0;          // instructions run while the others were kept back
  bool let_others_ahead_ = false;  // this turn goes to a group that others at smaller Ops kept back
};

// Runs the active lanes from `op` until a handler stops (dispatch.h).
void run_from(const Op* op, Warp& warp);

}  // namespace lw::machine
