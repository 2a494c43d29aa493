#pragma once
// Where the lanes of a member mask meet: shfl.sync, vote.sync, match.sync, redux.sync, elect.sync,
// bar.warp.sync (PTX: Parallel Synchronization and Communication Instructions).
//
// An executing thread waits until all threads of its mask that have not exited execute an
// instruction of the same kind with the same mask. Most meetings are complete when they begin: all
// lanes of the mask run together. Otherwise the lanes that came are parked at the instruction, and
// the last ones to come carry out the meeting for everybody. Two branches may hold an instruction
// each: the lanes that wait at one meet those at the other, so every lane's operands are read by
// the Op at which it stands.
//
// A caller outside its own mask is an error (rule W-10). Lanes with different masks never meet; if
// they need each other that is a deadlock, and the report says who waits for whom.
//
// Threads that have exited need not come. But a lane that went another way, had something to do
// there and then exited may as well be at it when the others call, and then it is a lane of the
// mask that never comes: the same error, whoever was first in this run. Only lanes whose branch led
// straight to the exit (`if (i >= n) return;`) count as gone from the start.
//
// An Op of this kind: c the member mask; `immediate` the mask if it is a constant, else 0; `detail`
// and the handlers say what the instruction is, and must agree in a meeting.

#include <array>
#include <span>
#include <string>

#include "machine/dispatch.h"
#include "program/decoder.h"

namespace lw::machine {

class Meeting {
 public:
  struct Part {
    const Op* op;
    LaneMask lanes;
  };

  void add(const Op* op, LaneMask lanes) {
    parts_[count_++] = {op, lanes};
    lanes_ |= lanes;
  }
  LaneMask lanes() const { return lanes_; }
  std::span<const Part> parts() const { return {parts_.data(), count_}; }

 private:
  std::array<Part, base::kWarpSize> parts_;
  size_t count_ = 0;
  LaneMask lanes_ = 0;
};

enum class Meets : bool { lanes, memory };  // memory: the meeting orders accesses too (W-1)
using Perform = void (*)(const Meeting&, Warp&);

// All lanes that a constant mask names run, and no others.
LW_ALWAYS_INLINE bool is_complete(const Op& op, const Warp& warp) {
  return (static_cast<LaneMask>(op.immediate) & warp.awaited) == warp.active;
}

// The body of such an instruction, for `control_handlers`: one meeting for each mask among the
// running lanes.
const Op* meet(const Op& op, Warp& warp, Meets what, Perform perform);

template <Perform perform, Meets what>
const Op* run_meeting(const Op& op, Warp& warp) {
  return meet(op, warp, what, perform);
}
template <Perform perform, Meets what = Meets::lanes>
inline constexpr Handlers meeting_handlers = control_handlers<run_meeting<perform, what>>;

// Emits the Op; `mask` is the operand that holds the member mask.
Op& emit_meeting(program::Decoder& decoder, Handlers handlers, const ptx::Operand& mask, Slot d,
                 Slot a = {}, Slot b = {});

// A value of each lane that takes part: `slot` says where in its Op.
template <class T>
std::array<T, base::kWarpSize> gather(const Meeting& meeting, const Warp& warp, Slot Op::*slot);
// The same of a predicate.
LaneMask gather_predicate(const Meeting& meeting, const Warp& warp, Slot Op::*slot);

// Who is missing where lanes wait with Wait::Kind::warp_collective.
std::string describe_meeting(const Warp& warp, const Group& group);

}  // namespace lw::machine
