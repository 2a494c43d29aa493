#include "machine/semantics/parallel_synchronization/warp_meeting.h"

#include <fmt/format.h>

#include "machine/each_lane.h"
#include "machine/machine.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

bool waits_for(const Group& group, LaneMask mask, const Op& op) {
  return group.wait.kind == Wait::Kind::warp_collective && group.wait.object == mask &&
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

void meet_with(const Op& op, Warp& warp, Meets what, Perform perform, LaneMask mask,
               LaneMask lanes) {
  if (lanes & ~mask)
    return warp.fail(op, FaultKind::wrong_mask,
                     fmt::format("the member mask 0x{:08x} leaves the executing thread out", mask),
                     lanes & ~mask);
  const Meeting meeting = gather_parts(op, warp, mask, lanes);
  if (meeting.lanes() != (mask & warp.live))
    return warp.block_lanes(
        lanes, &op,
        {.kind = Wait::Kind::warp_collective, .object = mask, .instruction = op.instruction});
  if (warp.order && what == Meets::memory)
    warp.order->warp_sync(*warp.order_warp, op.instruction, meeting.lanes());
  else if (warp.order)
    warp.order->warp_meet(*warp.order_warp, meeting.lanes());
  perform(meeting, warp);
  if (meeting.parts().size() > 1) let_go(op, warp, mask);
}

}  // namespace

const Op* meet(const Op& op, Warp& warp, Meets what, Perform perform) {
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
std::array<T, base::kWarpSize> gather(const Meeting& meeting, const Warp& warp, Slot Op::* slot) {
  std::array<T, base::kWarpSize> values{};
  for (const Meeting::Part& part : meeting.parts()) {
    const T* lanes = warp.lanes<T>(part.op->*slot);
    for_each_lane(part.lanes, [&](int lane) { values[lane] = lanes[lane]; });
  }
  return values;
}
template std::array<uint32_t, base::kWarpSize> gather(const Meeting&, const Warp&, Slot Op::*);
template std::array<uint64_t, base::kWarpSize> gather(const Meeting&, const Warp&, Slot Op::*);

LaneMask gather_predicate(const Meeting& meeting, const Warp& warp, Slot Op::* slot) {
  LaneMask value = 0;
  for (const Meeting::Part& part : meeting.parts())
    value |= warp.predicate(part.op->*slot) & part.lanes;
  return value;
}

std::string describe_meeting(const Warp& warp, const Group& group) {
  const auto mask = static_cast<LaneMask>(group.wait.object);
  const Meeting meeting = gather_parts(*group.at, warp, mask, group.lanes);
  const LaneMask missing = mask & warp.live & ~meeting.lanes();
  return fmt::format("threads of member mask 0x{:08x}: lanes 0x{:08x} have not come", mask,
                     missing);
}

}  // namespace lw::machine
