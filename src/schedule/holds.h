#pragma once
// The holds of a run and what became of them. Shared by all schedules: the machine asks it about
// watched instructions, a chooser about asynchronous operations.
//
// A hold whose end cannot come (nothing else can run) is let go and remembered as such: on a fixed
// kernel the very barrier that was added keeps the two events apart, and that is the proof of the
// fix, not a deadlock.

#include <map>
#include <vector>

#include "machine/machine.h"
#include "schedule/hold.h"

namespace lw::schedule {

enum class HoldFate : uint8_t {
  not_reached,  // the held point never came
  was_late,     // `until` had already happened when the held point came
  met,          // held, and `until` happened
  let_go,       // held, and nothing else could run
};

class Holds {
 public:
  explicit Holds(std::vector<Hold> holds = {});

  // To be called before anything else of a run happens.
  void attach(machine::Machine& machine) { machine_ = &machine; }

  std::vector<base::OpId> watched() const;
  // As the policy's functions of the same names.
  base::LaneMask reach(const machine::Warp& warp, base::OpId instruction, uint64_t n,
                       base::LaneMask lanes);
  void passed(const machine::Warp& warp, base::OpId instruction, uint64_t n, base::LaneMask lanes);
  void performed(const machine::AsyncOperation& operation, machine::Milestone milestone);
  // Lets the first hold go that holds something back; false if none does.
  bool let_one_go();

  // May this operation not perform its next milestone now?
  bool keeps(const machine::AsyncOperation& operation);

  HoldFate fate(size_t hold) const { return states_[hold].fate; }
  size_t count() const { return holds_.size(); }

 private:
  struct State {
    HoldFate fate = HoldFate::not_reached;
    bool until_happened = false;
    bool holding = false;
  };

  void until_happened(size_t index);
  void release(size_t index, HoldFate fate);
  // The execution, from 1, that issued the operation; 0 if it was not watched.
  uint64_t issued_by(const machine::AsyncOperation& operation) const;

  std::vector<Hold> holds_;
  std::vector<State> states_;
  bool any_milestone_ = false;  // of an asynchronous operation
  std::map<base::AsyncId, uint64_t> issues_;
  machine::Machine* machine_ = nullptr;
};

}  // namespace lw::schedule
