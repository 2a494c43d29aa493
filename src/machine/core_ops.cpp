#include "machine/core_ops.h"

#include <algorithm>

#include "machine/come_back.h"
#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/procedure_ops.h"
#include "machine/special_registers.h"
#include "order/engine.h"

namespace lw::machine {

void note_way(Warp& warp, LaneMask lanes, const Op* target) {
  warp.leaving = only_exits(target) ? warp.leaving | lanes : warp.leaving & ~lanes;
}

namespace {

using program::kHasGuard;
using program::kInverted;
using program::kPolls;
using program::kRetries;

// The turn is over for want of fuel; the lanes will go on at `target`.
[[gnu::noinline]] void out_of_fuel(const Op* target, Warp& warp) {
  warp.yield(target, TurnEnd::quantum);
}
// The lanes read again what they poll: its value was not the one they wait for.
void tell_retry(const Op& op, Warp& warp, LaneMask lanes) {
  if ((op.detail & kRetries) != 0 && warp.order != nullptr)
    warp.order->poll_again(*warp.order_warp, base::OpId(static_cast<uint32_t>(op.immediate)),
                           lanes);
}
[[gnu::noinline]] void polled(const Op* op, Warp& warp) {
  tell_retry(*op, warp, warp.active);
  warp.yield(op + op->jump, TurnEnd::polled);
}

// A block has ended and the lanes go on at `target`, all together.
template <Mode mode>
LW_ALWAYS_INLINE void end_block(const Op* op, const Op* target, std::byte* registers, Warp& warp) {
  warp.fuel -= op->length;
  if (warp.fuel <= 0) [[unlikely]]
    return out_of_fuel(target, warp);
  if constexpr (mode == Mode::full) return go<Mode::full>(target, registers, warp);
  return go_on(target, registers, warp);
}

template <Mode mode>
void join(const Op* op, std::byte* registers, Warp& warp) {
  return end_block<mode>(op, op + 1, registers, warp);
}

template <Mode mode>
void jump(const Op* op, std::byte* registers, Warp& warp) {
  if (op->detail & kPolls) [[unlikely]] {
    warp.fuel -= op->length;
    return polled(op, warp);
  }
  return end_block<mode>(op, op + op->jump, registers, warp);
}

[[gnu::noinline]] const Op* split(const Op* op, LaneMask taken, Warp& warp) {
  const Op* target = op + op->jump;
  tell_retry(*op, warp, taken);
  note_way(warp, taken, target);
  note_way(warp, warp.active & ~taken, op + 1);
  // The smaller position goes first, so that the others can be met on the way.
  if (target < op) {
    warp.split_off(warp.active & ~taken, op + 1);
    return target;
  }
  warp.split_off(taken, target);
  return op + 1;
}

template <Mode mode>
void branch(const Op* op, std::byte* registers, Warp& warp) {
  LaneMask predicate = warp.predicate(op->a);
  if (op->detail & kInverted) predicate = ~predicate;
  LaneMask taken = predicate & warp.active;
  if (taken == 0) return end_block<mode>(op, op + 1, registers, warp);
  if (taken != warp.active)
    return end_block<Mode::masked>(op, split(op, taken, warp), registers, warp);
  if (op->detail & kPolls) [[unlikely]] {
    warp.fuel -= op->length;
    return polled(op, warp);
  }
  return end_block<mode>(op, op + op->jump, registers, warp);
}

// brx.idx: one group per target.
const Op* select(const Op& op, Warp& warp) {
  const uint32_t* index = warp.lanes<uint32_t>(op.a);
  const Op* first = warp.program->ops.data();
  const int32_t* table = warp.program->jump_table.data() + op.immediate;
  LaneMask left = warp.active;
  const Op* target = nullptr;
  while (left != 0) {
    uint32_t entry = index[std::countr_zero(left)];
    LaneMask same = 0;
    for (LaneMask rest = left; rest != 0; rest &= rest - 1) {
      uint32_t lane = static_cast<uint32_t>(std::countr_zero(rest));
      if (index[lane] == entry) same |= 1u << lane;
    }
    if (entry >= op.extra) {
      warp.fail(op, FaultKind::out_of_bounds, "index beyond the list of targets", same);
      return nullptr;
    }
    left &= ~same;
    target = first + table[entry];
    if (same != warp.active) note_way(warp, same, target);
    if (left != 0) warp.split_off(same, target);
  }
  warp.fuel -= op.length;
  return target;
}

// Which function a pointer means, for `select` behind it; `immediate`: how many there are.
void number_of_function(const Op& op, Warp& warp) {
  const auto none = static_cast<uint32_t>(op.immediate);
  for_each_lane(warp.active, [&](int lane) {
    const auto function = program::function_at(warp.lanes<uint64_t>(op.a)[lane]);
    warp.lanes<uint32_t>(op.d)[lane] = function ? std::min(function->value, none) : none;
  });
}

const Op* exit(const Op& op, Warp& warp) {
  warp.fuel -= op.length;
  warp.exit_lanes(op);
  return nullptr;
}

template <Mode mode>
void guard(const Op* op, std::byte* registers, Warp& warp) {
  LaneMask predicate = warp.predicate(op->a);
  if (op->detail & kInverted) predicate = ~predicate;
  LaneMask taken = predicate & warp.active;
  if (taken == 0) return go<mode>(op + op->jump, registers, warp);
  warp.unguarded = warp.active;
  if (taken == warp.active) return next<mode>(op, registers, warp);
  warp.active = taken;
  return next<Mode::masked>(op, registers, warp);
}

void unguard(const Op* op, std::byte* registers, Warp& warp) {
  warp.active = warp.unguarded;
  if (warp.is_full()) return next<Mode::full>(op, registers, warp);
  return next<Mode::masked>(op, registers, warp);
}

void negate(const Op& op, Warp& warp) {
  warp.set_predicate(op.d, warp.active, ~warp.predicate(op.a));
}

void refuse(const Op& op, Warp& warp) { warp.not_analysed(op, warp.program->texts[op.immediate]); }

void read_special(const Op& op, Warp& warp) {
  uint64_t value = read_dynamic_special(warp, static_cast<ptx::SpecialRegister>(op.immediate));
  warp.machine->used_schedule_value(op.instruction);
  for (LaneMask left = warp.active; left != 0; left &= left - 1) {
    int lane = std::countr_zero(left);
    if (op.detail == 8) {
      warp.lanes<uint64_t>(op.d)[lane] = value;
    } else {
      warp.lanes<uint32_t>(op.d)[lane] = static_cast<uint32_t>(value);
    }
  }
}

LaneMask watched_lanes(const Op& op, const Warp& warp) {
  if (!(op.detail & kHasGuard)) return warp.active;
  LaneMask predicate = warp.predicate(op.a);
  return warp.active & (op.detail & kInverted ? ~predicate : predicate);
}

const Op* watch(const Op& op, Warp& warp) {
  LaneMask lanes = watched_lanes(op, warp);
  if (lanes == 0) return &op + 1;
  uint64_t n = ++warp.executions[op.instruction];
  LaneMask held = warp.machine->policy().reach(warp, op.instruction, n, lanes) & lanes;
  if (held == 0) {
    warp.machine->values().watch(op.instruction, warp);
    return &op + 1;
  }
  Wait wait;
  wait.kind = Wait::Kind::hold;
  wait.object = op.instruction.value;
  wait.instruction = op.instruction;
  if (held == warp.active) {
    warp.block(&op + 1, wait);
    return nullptr;
  }
  warp.block_lanes(held, &op + 1, wait);
  return &op + 1;
}

const Op* watched(const Op& op, Warp& warp) {
  LaneMask lanes = watched_lanes(op, warp);
  warp.machine->values().unwatch();
  if (lanes != 0)
    warp.machine->policy().passed(warp, op.instruction, warp.executions[op.instruction], lanes);
  return &op + 1;
}

}  // namespace

const program::CoreHandlers& core_handlers() {
  static const program::CoreHandlers handlers = {
      .join = {&join<Mode::full>, &join<Mode::masked>},
      .jump = {&jump<Mode::full>, &jump<Mode::masked>},
      .branch = {&branch<Mode::full>, &branch<Mode::masked>},
      .select = control_handlers<select>,
      .number_of_function = plain_handlers<number_of_function>,
      .invoke = control_handlers<procedures::invoke>,
      .leave = control_handlers<procedures::leave>,
      .fetch = plain_handlers<procedures::fetch>,
      .put = plain_handlers<procedures::put>,
      .move = plain_handlers<procedures::move>,
      .add_base = plain_handlers<procedures::add_base>,
      .exit = control_handlers<exit>,
      .guard = {&guard<Mode::full>, &guard<Mode::masked>},
      .unguard = {&unguard, &unguard},
      .negate = plain_handlers<negate>,
      .refuse = plain_handlers<refuse>,
      .watch = control_handlers<watch>,
      .watched = control_handlers<watched>,
      .read_special = plain_handlers<read_special>,
  };
  return handlers;
}

}  // namespace lw::machine
