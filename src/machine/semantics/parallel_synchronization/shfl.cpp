// PTX: Data Movement and Conversion Instructions: shfl.sync.
//
// The form without `.sync` does not exist on sm_70 and later, which is all that is modelled.

#include "machine/semantics/parallel_synchronization/shfl.h"

#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"

namespace lw::machine {
namespace {

using ptx::Mod;

// What a lane gets from one that takes no part: PTX promises nothing. The machine's poison, so that
// the second run, with another poison, shows whether it matters.
uint32_t undefined_word(const Warp& warp) { return warp.machine->options().poison * 0x01010101u; }

void perform(const Meeting& meeting, Warp& warp) {
  const auto values = gather<uint32_t>(meeting, warp, &Op::a);
  const uint32_t undefined = undefined_word(warp);
  for (const Meeting::Part& part : meeting.parts()) {
    const Op& op = *part.op;
    const Slot* more = warp.program->more(op);
    LaneMask in_range = 0;
    const auto kind = static_cast<Shuffle>(op.detail);
    for_each_lane(part.lanes, [&](int lane) {
      const uint32_t c = warp.lanes<uint32_t>(more[0])[lane];
      const int32_t target = shuffle_target(kind, lane, warp.lanes<uint32_t>(op.b)[lane], c);
      const bool reaches = shuffle_in_range(kind, lane, target, c);
      const int32_t from = reaches ? target & 31 : lane;
      const bool takes_part = (meeting.lanes() >> from) & 1;
      warp.lanes<uint32_t>(op.d)[lane] = takes_part ? values[from] : undefined;
      if (reaches) in_range |= 1u << lane;
    });
    if (op.extra == 2) warp.set_predicate(more[1], part.lanes, in_range);
  }
}

Shuffle kind_of(const Decoder& decoder) {
  if (decoder.has(Mod::up)) return Shuffle::up;
  if (decoder.has(Mod::down)) return Shuffle::down;
  return decoder.has(Mod::bfly) ? Shuffle::butterfly : Shuffle::index;
}

}  // namespace

void general_shfl(const Op* op, std::byte* registers, Warp& warp) {
  return meeting_handlers<perform>.masked(op, registers, warp);
}

void bind_shfl_sync(Decoder& decoder) {
  const ptx::Operand& first = decoder.operand(0);
  const bool paired = first.kind == ptx::OperandKind::pair;
  const ptx::Operand& d = paired ? decoder.elements(first)[0] : first;
  Slot more[2] = {decoder.source(decoder.operand(3), ptx::Type::u32), {}};
  if (paired) more[1] = decoder.result(decoder.elements(first)[1], ptx::Type::pred);
  const Shuffle kind = kind_of(decoder);
  const Slot result = decoder.result(d, ptx::Type::b32);
  const Slot value = decoder.source(decoder.operand(1), ptx::Type::b32);
  const Slot lane = decoder.source(decoder.operand(2), ptx::Type::u32);
  Op& op = emit_meeting(decoder, hot_shfl(kind), decoder.operand(4), result, value, lane);
  op.detail = static_cast<uint16_t>(kind);
  decoder.attach(op, {more, paired ? 2u : 1u});
}

}  // namespace lw::machine
