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
#include <vector>

#include "base/ids.h"
#include "machine/fault.h"
#include "machine/wait.h"
#include "program/program.h"

namespace lw::order {
class Engine;
}

namespace lw::machine {

class Cta;
class Machine;
using base::LaneMask;
using program::Op;
using program::Slot;

// Lanes parked at `at`, the next Op that they will run.
struct Group {
  LaneMask lanes = 0;
  const Op* at = nullptr;
  Wait wait;
};

class Warp {
 public:
  // Touched by every handler.
  LaneMask active = 0;   // the lanes that run now
  LaneMask live = 0;     // have not exited
  int64_t fuel = 0;      // PTX instructions left in this turn
  const Op* join_at = nullptr;  // the smallest Op that a runnable parked group stands at
  std::byte* registers = nullptr;
  order::Engine* order = nullptr;  // null: run without checks
  std::byte* shared = nullptr;     // the CTA's shared memory: byte kSharedBase of its window
  uint32_t shared_bytes = 0;
  std::byte* local = nullptr;      // lane by lane
  uint32_t local_bytes = 0;        // of a lane
  bool stopped = false;            // the turn is over: the handler parked the lanes or the run ended
  Cta* cta = nullptr;
  Machine* machine = nullptr;
  const program::Program* program = nullptr;
  base::WarpId id;                 // in the CTA
  LaneMask guarded = 0;            // lanes that run on after a guarded instruction, 0: none
  const Op* at = nullptr;          // where the running lanes are, outside handlers
  std::vector<Group> parked;

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
  bool can_run() const;

  // Parks the running lanes: they go on at `resume` once nothing is in their way any more. `resume`
  // is the op itself (it looks again when woken) or the one after it (its effect has happened).
  // The handler must return without running another Op.
  void block(const Op* resume, Wait wait);
  // Parks only some of them; the rest keeps running.
  void block_lanes(LaneMask lanes, const Op* resume, Wait wait);

  // Makes the groups that wait for `wait` runnable: compares kind and object.
  // Returns whether there were any.
  bool wake(Wait::Kind kind, uint64_t object);
  // Wakes those for whom `ready(group)` holds.
  template <class Ready>
  bool wake_if(Ready&& ready);

  // The running lanes have exited.
  void exit_lanes();
  // All lanes that have not exited run this Op together, as `.aligned` asks; reports a fault if not.
  bool require_aligned(const Op& op);

  // Ends the run with an error of the kernel.
  void fail(const Op& op, Fault fault);

 private:
  friend class Machine;
  friend class Turn;
  void after_wake();
};

}  // namespace lw::machine
