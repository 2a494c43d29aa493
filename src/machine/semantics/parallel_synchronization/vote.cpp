// PTX: Parallel Synchronization and Communication Instructions: vote.sync, activemask, elect.sync,
// bar.warp.sync.
//
// Predicates are masks already, so a vote is a few bit operations. `elect.sync` elects the lowest
// lane of its mask that has not exited; PTX promises only that the same mask elects the same lane.
// `vote` without `.sync` does not exist on sm_70 and later.

#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/parallel_synchronization/warp_meeting.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

enum class Vote : uint16_t { all, any, uniform };

bool holds(Vote vote, LaneMask yes, LaneMask members) {
  switch (vote) {
    case Vote::all:
      return yes == members;
    case Vote::any:
      return yes != 0;
    case Vote::uniform:
      break;
  }
  return yes == members || yes == 0;
}

// Op: d and a are predicates.
void perform_vote(const Meeting& meeting, Warp& warp) {
  const LaneMask yes = gather_predicate(meeting, warp, &Op::a);
  for (const Meeting::Part& part : meeting.parts()) {
    const bool result = holds(static_cast<Vote>(part.op->detail), yes, meeting.lanes());
    warp.set_predicate(part.op->d, part.lanes, result ? part.lanes : 0);
  }
}

void perform_ballot(const Meeting& meeting, Warp& warp) {
  const LaneMask yes = gather_predicate(meeting, warp, &Op::a);
  for (const Meeting::Part& part : meeting.parts())
    for_each_lane(part.lanes, [&](int lane) { warp.lanes<uint32_t>(part.op->d)[lane] = yes; });
}

// Op: d the lane elected, a its predicate.
void perform_elect(const Meeting& meeting, Warp& warp) {
  const LaneMask leader = meeting.lanes() & -meeting.lanes();
  const auto number = static_cast<uint32_t>(std::countr_zero(leader));
  for (const Meeting::Part& part : meeting.parts()) {
    for_each_lane(part.lanes, [&](int lane) { warp.lanes<uint32_t>(part.op->d)[lane] = number; });
    warp.set_predicate(part.op->a, part.lanes, leader);
  }
}

void perform_nothing(const Meeting&, Warp&) {}

// Which lanes run together is the schedule's doing (rule D-7).
void run_activemask(const Op& op, Warp& warp) {
  const LaneMask active = warp.active;
  warp.machine->used_schedule_value(op.instruction);
  for_each_lane(active, [&](int lane) { warp.lanes<uint32_t>(op.d)[lane] = active; });
}

Vote vote_of(const Decoder& decoder) {
  if (decoder.has(Mod::all)) return Vote::all;
  return decoder.has(Mod::any) ? Vote::any : Vote::uniform;
}

}  // namespace

void bind_vote_sync(Decoder& decoder) {
  const Slot d = decoder.result(decoder.operand(0), Type::pred);
  const Slot a = decoder.source(decoder.operand(1), Type::pred);
  emit_meeting(decoder, meeting_handlers<perform_vote>, decoder.operand(2), d, a).detail =
      static_cast<uint16_t>(vote_of(decoder));
}

void bind_vote_sync_ballot(Decoder& decoder) {
  const Slot d = decoder.result(decoder.operand(0), Type::b32);
  const Slot a = decoder.source(decoder.operand(1), Type::pred);
  emit_meeting(decoder, meeting_handlers<perform_ballot>, decoder.operand(2), d, a);
}

void bind_elect(Decoder& decoder) {
  const auto results = decoder.elements(decoder.operand(0));
  const Slot d = decoder.result(results[0], Type::b32);
  const Slot p = decoder.result(results[1], Type::pred);
  emit_meeting(decoder, meeting_handlers<perform_elect>, decoder.operand(1), d, p);
}

void bind_bar_warp_sync(Decoder& decoder) {
  emit_meeting(decoder, meeting_handlers<perform_nothing, Meets::memory>, decoder.operand(0), {});
}

void bind_activemask(Decoder& decoder) {
  decoder.emit(plain_handlers<run_activemask>, decoder.result(decoder.operand(0), Type::b32));
}

}  // namespace lw::machine
