#include "machine/semantics/parallel_synchronization/warp_meeting.h"

#include <fmt/format.h>

#include "machine/each_lane.h"
#include "machine/machine.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

// `object`: a member mask, or what lanes at an `.aligned` instruction wait for (warp.cpp).
bool waits_for(const Group& group, uint64_t object, const Op& op) {
  return group.wait.kind == Wait::Kind::warp_collective && group.wait.object == object &&
         group.at->full == op.full && group.at->detail == op.detail;
}

Meeting gather_parts(const Op& op, const Warp& warp, LaneMask mask, LaneMask lanes) {
  Meeting meeting;
  meeting.add(&op, lanes);
  for (const Group& group : warp.parked)
    if (waits_for(group, mask, op)) meeting.add(group.at, group.lanes);
  return meeting;
}

// Those that waited go on behind their instruction.
void let_go(const Op& op, Warp& warp, LaneMask mask) {
  warp.wake_if([&](Group& group) {
    if (!waits_for(group, mask, op)) return false;
    ++group.at;
    return true;
  });
}

// All are there.
void hold(const Op& op, Warp& warp, Meets what, Perform perform, const Meeting& meeting) {
  if (warp.order && what == Meets::memory)
    warp.order->warp_sync(*warp.order_warp, op.instruction, meeting.lanes());
  else if (warp.order)
    warp.order->warp_meet(*warp.order_warp, meeting.lanes());
  perform(meeting, warp);
}

void meet_with(const Op& op, Warp& warp, Meets what, Perform perform, LaneMask mask,
               LaneMask lanes) {
  if (lanes & ~mask)
    return warp.fail(op, FaultKind::wrong_mask,
                     fmt::format("the member mask 0x{:08x} leaves the executing thread out", mask),
                     lanes & ~mask);
  if (const LaneMask gone = mask & warp.awaited & ~warp.live)
    return warp.fail(
        op, FaultKind::wrong_mask,
        fmt::format("the member mask 0x{:08x} names lanes 0x{:08x}, which exit instead "
                    "of executing it",
                    mask, gone),
        lanes);
  const Meeting meeting = gather_parts(op, warp, mask, lanes);
  if (meeting.lanes() != (mask & warp.live))
    return warp.block_lanes(
        lanes, &op,
        {.kind = Wait::Kind::warp_collective, .object = mask, .instruction = op.instruction});
  hold(op, warp, what, perform, meeting);
  if (meeting.parts().size() > 1) let_go(op, warp, mask);
}

}  // namespace

const Op* meet(const Op& op, Warp& warp, Meets what, Perform perform) {
  if (is_complete(op, warp)) {
    Meeting meeting;
    meeting.add(&op, warp.active);
    hold(op, warp, what, perform, meeting);
    return &op + 1;
  }
  const uint32_t* masks = warp.lanes<uint32_t>(op.c);
  for_each_value(
      warp.active, [&](int lane) { return masks[lane]; },
      [&](LaneMask mask, LaneMask lanes) {
        if (!warp.machine->has_ended()) meet_with(op, warp, what, perform, mask, lanes);
      });
  return warp.machine->has_ended() || warp.active == 0 ? nullptr : &op + 1;
}

Op& emit_meeting(program::Decoder& decoder, Handlers handlers, const ptx::Operand& mask, Slot d,
                 Slot a, Slot b) {
  Op& op = decoder.emit(handlers, d, a, b, decoder.source(mask, ptx::Type::u32));
  if (mask.kind == ptx::OperandKind::immediate) op.immediate = static_cast<uint32_t>(mask.value);
  return op;
}

template <class T>
std::array<T, base::kWarpSize> gather(const Meeting& meeting, const Warp& warp, Slot Op::*slot) {
  std::array<T, base::kWarpSize> values{};
  for (const Meeting::Part& part : meeting.parts()) {
    const T* lanes = warp.lanes<T>(part.op->*slot);
    for_each_lane(part.lanes, [&](int lane) { values[lane] = lanes[lane]; });
  }
  return values;
}
template std::array<uint32_t, base::kWarpSize> gather(const Meeting&, const Warp&, Slot Op::*);
template std::array<uint64_t, base::kWarpSize> gather(const Meeting&, const Warp&, Slot Op::*);

LaneMask gather_predicate(const Meeting& meeting, const Warp& warp, Slot Op::*slot) {
  LaneMask value = 0;
  for (const Meeting::Part& part : meeting.parts())
    value |= warp.predicate(part.op->*slot) & part.lanes;
  return value;
}

std::string describe_meeting(const Warp& warp, const Group& group) {
  const auto mask = static_cast<LaneMask>(group.wait.object);
  LaneMask missing = mask & warp.live & ~group.lanes;
  for (const Group& other : warp.parked)
    if (waits_for(other, group.wait.object, *group.at)) missing &= ~other.lanes;
  return fmt::format("lanes {:#010x} of its warp, to execute the instruction together", missing);
}

}  // namespace lw::machine
