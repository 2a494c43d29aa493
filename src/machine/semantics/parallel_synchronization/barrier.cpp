// bar and barrier: sync, arrive, red (PTX: Parallel Synchronization and Communication Instructions,
// bar, barrier). The counting is named_barrier.h's; here lanes are parked and let go, the order
// engine hears of arrivals and completions, and misuse becomes a fault.
//
// Waiting lanes stand behind the instruction: its effect has happened when they are let go, the
// result of a reduction included. Lanes of a divergent `barrier.arrive` wait for the rest of their
// warp only.

#include <fmt/format.h>

#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/parallel_synchronization/cluster_barrier.h"
#include "machine/semantics/telling.h"
#include "machine/sync_hooks.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using base::BarrierId;
using base::LaneMask;

enum class Action : uint16_t { sync, arrive, popc, all, any };

// Op: a id, b count, c predicate, d result.
constexpr uint16_t kActionMask = 7;
constexpr uint16_t kAligned = 8;
constexpr uint16_t kCounted = 16;
constexpr uint16_t kConstant = 32;  // id and count stand in `immediate`: 32 bits each, id on top

// Wait::object of lanes that wait for their own warp: the barrier's number and this.
constexpr uint64_t kForOwnWarp = 256;

Action action_of(const Op& op) { return static_cast<Action>(op.detail & kActionMask); }

BarrierUse use_of(Action action) {
  if (action == Action::sync) return BarrierUse::sync;
  return action == Action::arrive ? BarrierUse::arrive : BarrierUse::reduce;
}

order::BarrierKind order_kind(Action action) {
  if (action == Action::sync) return order::BarrierKind::kSync;
  return action == Action::arrive ? order::BarrierKind::kArrive : order::BarrierKind::kRed;
}

void write_reduction(const Op& op, Warp& warp, LaneMask lanes, const BarrierGeneration& done) {
  switch (action_of(op)) {
    case Action::popc:
      for_each_lane(lanes, [&](int lane) { warp.lanes<uint32_t>(op.d)[lane] = done.threads_true; });
      break;
    case Action::all:
      warp.set_predicate(op.d, lanes, done.threads_true == done.threads_taking_part ? lanes : 0);
      break;
    case Action::any:
      warp.set_predicate(op.d, lanes, done.threads_true != 0 ? lanes : 0);
      break;
    default:
      break;
  }
}

// Ends the generation: what all brought goes to those that waited.
BarrierGeneration complete(Cta& cta, uint32_t id) {
  if (cta.machine->order())
    cta.machine->order()->barrier_complete(cta.id, BarrierId(static_cast<uint8_t>(id)));
  BarrierGeneration done = cta.sync.named_barriers[id].finish();
  for (const BarrierParticipant& participant : done.participants) {
    Warp& warp = cta.warp(participant.warp);
    warp.wake_if([&](const Group& group) {
      if (group.wait.kind != Wait::Kind::named_barrier || group.wait.object % kForOwnWarp != id)
        return false;
      write_reduction(group.at[-1], warp, group.lanes, done);
      return true;
    });
  }
  return done;
}

std::string misuse_text(BarrierFault fault, uint32_t id, const BarrierArrival& arrival,
                        const Cta& cta) {
  std::string text = fmt::format("barrier {}: {}", id, barrier_fault_text(fault));
  if (arrival.threads) text += fmt::format(" (this thread count: {})", *arrival.threads);
  const NamedBarrier& barrier = cta.sync.named_barriers[id];
  if (barrier.is_live())
    text += fmt::format("; live in generation {} with {} threads", barrier.generation(),
                        32 * barrier.warps_needed(cta.live_lanes));
  return text;
}

// The lanes that name barrier `id`, with a count of threads if `counted`. They go on, are parked,
// or the run ends.
void arrive(const Op& op, Warp& warp, uint32_t id, bool counted, uint32_t threads, LaneMask lanes) {
  Cta& cta = *warp.cta;
  if (id >= kNamedBarrierCount)
    return warp.fail(op, FaultKind::barrier_misuse,
                     fmt::format("barrier {} does not exist: there are 16, from 0", id), lanes);
  NamedBarrier& barrier = cta.sync.named_barriers[id];
  const Action action = action_of(op);
  BarrierArrival arrival{warp.id, lanes, use_of(action), {}, 0, op.instruction, {}};
  if (counted) arrival.threads = threads;
  arrival.step = base::Step(warp.machine->steps());
  if (arrival.use == BarrierUse::reduce) arrival.predicate = warp.predicate(op.c);
  const BarrierFault fault = barrier.arrive(arrival, cta.live_lanes);
  if (fault != BarrierFault::none) {
    const bool by_state = !is_alone_wrong(fault);
    return warp.fail(op, FaultKind::barrier_misuse, misuse_text(fault, id, arrival, cta), lanes,
                     diagnose::RuleId::kNone,
                     by_state ? std::optional(BarrierId(static_cast<uint8_t>(id))) : std::nullopt);
  }
  const Telling telling(op, warp);
  if (warp.order)
    warp.order->barrier_arrive(*warp.order_warp, op.instruction,
                               BarrierId(static_cast<uint8_t>(id)), order_kind(action), lanes);
  // Nearly every arrival leaves warps missing, and then needs no closer look.
  const bool may_be_complete = counted || barrier.participants().size() >= cta.warps_left;
  if (may_be_complete && barrier.is_complete(cta.live_lanes)) {
    write_reduction(op, warp, lanes, complete(cta, id));
    return;
  }
  const bool waits_for_warp = action == Action::arrive;
  if (barrier.has_whole_warp(warp.id, cta.live_lanes)) {
    warp.wake(Wait::Kind::named_barrier, id + kForOwnWarp);
    if (waits_for_warp) return;
  }
  // As Warp::block_lanes, but filled in where it stays: a copy would wait for each of its fields.
  Group& group = warp.parked.emplace_back();
  group.lanes = lanes;
  group.at = &op + 1;
  group.wait.kind = Wait::Kind::named_barrier;
  group.wait.object = id + (waits_for_warp ? kForOwnWarp : 0);
  group.wait.phase = barrier.generation();
  group.wait.instruction = op.instruction;
  group.wait.since_step = warp.machine->steps();
  warp.active &= ~lanes;
}

const Op* run_barrier(const Op& op, Warp& warp) {
  if ((op.detail & kAligned) && !warp.require_aligned(op)) return nullptr;
  const bool counted = op.detail & kCounted;
  if (op.detail & kConstant) {
    arrive(op, warp, static_cast<uint32_t>(op.immediate >> 32), counted,
           static_cast<uint32_t>(op.immediate), warp.active);
    return warp.stopped || warp.active == 0 ? nullptr : &op + 1;
  }
  const uint32_t* ids = warp.lanes<uint32_t>(op.a);
  const uint32_t* counts = warp.lanes<uint32_t>(op.b);
  for_each_value(
      warp.active,
      [&](int lane) { return uint64_t{ids[lane]} << 32 | (counted ? counts[lane] : 0); },
      [&](uint64_t both, LaneMask lanes) {
        if (warp.machine->has_ended()) return;
        arrive(op, warp, static_cast<uint32_t>(both >> 32), counted, static_cast<uint32_t>(both),
               lanes);
      });
  return warp.machine->has_ended() || warp.active == 0 ? nullptr : &op + 1;
}

void bind(Decoder& decoder, Action action, bool aligned) {
  const auto operands = decoder.operands();
  size_t next = 0;
  Op op;
  if (action >= Action::popc)
    op.d =
        decoder.result(operands[next++], action == Action::popc ? ptx::Type::u32 : ptx::Type::pred);
  bool constant = operands[next].kind == ptx::OperandKind::immediate;
  op.immediate = static_cast<uint64_t>(operands[next].value) << 32;
  op.a = decoder.source(operands[next++], ptx::Type::u32);
  const size_t counts_end = operands.size() - (action >= Action::popc ? 1 : 0);
  op.detail = static_cast<uint16_t>(action);
  if (next < counts_end) {
    constant = constant && operands[next].kind == ptx::OperandKind::immediate;
    op.immediate |= static_cast<uint32_t>(operands[next].value);
    op.b = decoder.source(operands[next++], ptx::Type::u32);
    op.detail |= kCounted;
  }
  if (action >= Action::popc) op.c = decoder.source(operands[next], ptx::Type::pred);
  if (aligned) op.detail |= kAligned;
  if (constant) op.detail |= kConstant;
  Op& emitted = decoder.emit(control_handlers<run_barrier>, op.d, op.a, op.b, op.c);
  emitted.detail = op.detail;
  emitted.immediate = op.immediate;
}

Action logical(const Decoder& decoder) {
  return decoder.has(ptx::Mod::_and) ? Action::all : Action::any;
}
bool is_aligned(const Decoder& decoder) { return decoder.has(ptx::Mod::aligned); }

}  // namespace

void bind_bar_sync(Decoder& decoder) { bind(decoder, Action::sync, true); }
void bind_bar_arrive(Decoder& decoder) { bind(decoder, Action::arrive, true); }
void bind_bar_red_popc(Decoder& decoder) { bind(decoder, Action::popc, true); }
void bind_bar_red(Decoder& decoder) { bind(decoder, logical(decoder), true); }
void bind_barrier_sync(Decoder& decoder) { bind(decoder, Action::sync, is_aligned(decoder)); }
void bind_barrier_arrive(Decoder& decoder) { bind(decoder, Action::arrive, is_aligned(decoder)); }
void bind_barrier_red_popc(Decoder& decoder) { bind(decoder, Action::popc, is_aligned(decoder)); }
void bind_barrier_red(Decoder& decoder) { bind(decoder, logical(decoder), is_aligned(decoder)); }

void release_barriers_after_exit(Warp& warp) {
  Cta& cta = *warp.cta;
  for (uint32_t id = 0; id < kNamedBarrierCount; ++id) {
    NamedBarrier& barrier = cta.sync.named_barriers[id];
    if (!barrier.is_live()) continue;
    if (barrier.is_complete(cta.live_lanes))
      complete(cta, id);
    else if (barrier.has_whole_warp(warp.id, cta.live_lanes))
      warp.wake(Wait::Kind::named_barrier, id + kForOwnWarp);
  }
  complete_cluster_barrier(cta);
}

std::string describe_named_barrier(const Cta& cta, const Wait& wait) {
  const auto id = static_cast<uint32_t>(wait.object % kForOwnWarp);
  if (wait.object >= kForOwnWarp)
    return fmt::format("barrier {}: the other threads of its warp have not arrived", id);
  const NamedBarrier& barrier = cta.sync.named_barriers[id];
  std::string text = fmt::format("barrier {}, generation {}: {} of {} warps have arrived", id,
                                 barrier.generation(), barrier.participants().size(),
                                 barrier.warps_needed(cta.live_lanes));
  std::string missing;
  for (base::WarpId warp : barrier.missing(cta.live_lanes))
    missing += fmt::format("{}{}", missing.empty() ? "" : ", ", warp.value);
  return text + (missing.empty() ? "; no warp is left that could arrive"
                                 : fmt::format("; not arrived: warps {}", missing));
}

}  // namespace lw::machine
