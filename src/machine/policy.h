#pragma once
// Who runs next: the one source of freedom in a run. The machine asks, a policy of schedule/
// answers; the same answers give the same run.

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "machine/async.h"

namespace lw::machine {

class Machine;
class Warp;
class Cta;

// One turn: a warp runs until it waits, exits, polls or has used its quantum; or an asynchronous
// operation performs its next milestone.
struct Choice {
  Warp* warp = nullptr;
  AsyncOperation* operation = nullptr;
  uint32_t quantum = 1u << 14;  // PTX instructions
};

class Policy {
 public:
  virtual ~Policy() = default;

  // Chooses among `machine.ready_ctas()` and `machine.pending()`; at least one is not empty. An
  // empty choice means: none of these shall run (all that is left is held back); then `stuck`.
  virtual Choice next(Machine& machine) = 0;

  // Instructions the policy wants to see executed (`reach`, `passed`). Asked once, before decoding;
  // a program without any costs nothing.
  virtual std::vector<base::OpId> watched() const { return {}; }

  // `lanes` of the warp are about to execute a watched instruction, the n-th time for this warp
  // (from 1). Returns the lanes to hold back; they wait until `Machine::release` and then go on
  // without being asked again.
  virtual base::LaneMask reach(Warp& warp, base::OpId instruction, uint64_t n,
                               base::LaneMask lanes) {
    (void)warp, (void)instruction, (void)n, (void)lanes;
    return 0;
  }
  // They have executed it.
  virtual void passed(Warp& warp, base::OpId instruction, uint64_t n, base::LaneMask lanes) {
    (void)warp, (void)instruction, (void)n, (void)lanes;
  }
  // An operation has performed `milestone`.
  virtual void performed(const AsyncOperation& operation, Milestone milestone) {
    (void)operation, (void)milestone;
  }

  // Nothing can run. Lets something go that it holds back and returns true, or returns false: then
  // it is a deadlock.
  virtual bool stuck(Machine& machine) {
    (void)machine;
    return false;
  }
};

}  // namespace lw::machine
