// mbarrier.test_wait and mbarrier.try_wait, by state and by parity.
//
// A try_wait may wait as long as the hardware likes (rule MB-34): here it waits until the phase is
// complete and then returns true, so a loop around it runs once. It passes at the very moment the
// phase completes, not when the warp next runs: a waiter that the hardware lets sleep too long may
// miss its phase, and whether that can happen is the order engine's question (D-3), not an accident
// of our schedule. A test_wait never waits: it returns false, and the warp lets others run. A false
// result orders nothing (MB-10).

#include "machine/semantics/parallel_synchronization/mbarrier_wait.h"

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/telling.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

// Op: d predicate, a address, b its displacement, c state or parity.
constexpr uint16_t kByParity = 4;
constexpr uint16_t kBlocking = 8;

AddressOperand operand_of(const Op& op) {
  return {op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
}

// Whether the phase that the lane asks for is complete; reports a state that is of neither phase.
bool passes(const Op& op, Warp& warp, const MbarrierEntry& entry, int lane) {
  if (op.detail & kByParity) return entry.object.passes_parity(warp.lanes<uint32_t>(op.c)[lane]);
  const uint64_t state = warp.lanes<uint64_t>(op.c)[lane];
  const MbarrierFault fault = entry.object.check_state(state);
  if (fault != MbarrierFault::none)
    report(op, warp, *warp.cta, entry, 1u << lane, mbarrier_fault_text(fault),
           diagnose::RuleId::kE5);
  return entry.object.passes_state(state);
}

// The lanes that ask for one object. Returns those whose phase is not complete.
base::LaneMask wait_at(const Op& op, Warp& warp, const MbarrierEntry& entry, base::LaneMask lanes) {
  warp.machine->used_schedule_value(op.instruction);
  const base::LaneMask doubting =
      warp.machine->doubt(warp, op, entry.offset, entry.object.phase(), lanes);
  warp.set_predicate(op.d, doubting, 0);
  lanes &= ~doubting;
  base::LaneMask passing = 0;
  for_each_lane(lanes, [&](int lane) {
    if (passes(op, warp, entry, lane)) passing |= 1u << lane;
  });
  if (warp.machine->has_ended()) return 0;
  if (passing != 0) pass_wait(op, warp, passing, entry);
  const base::LaneMask failing = lanes & ~passing;
  if (failing != 0 && (op.detail & kBlocking))
    warp.block_lanes(failing, &op,
                     {Wait::Kind::mbarrier, entry.offset,
                      static_cast<uint64_t>(entry.object.phase()), op.instruction});
  return failing;
}

const Op* run_wait(const Op& op, Warp& warp) {
  const AddressOperand operand = operand_of(op);
  base::LaneMask failing = 0;
  for_each_value(
      warp.active, [&](int lane) { return address_of_lane(warp, operand, lane); },
      [&](uint64_t, base::LaneMask lanes) {
        if (warp.machine->has_ended()) return;
        const MbarrierEntry* entry = object_at(op, warp, operand, std::countr_zero(lanes));
        if (entry != nullptr) failing |= wait_at(op, warp, *entry, lanes);
      });
  if (warp.machine->has_ended() || warp.active == 0) return nullptr;
  if (failing == 0 || (op.detail & kBlocking)) return &op + 1;
  warp.set_predicate(op.d, failing, 0);
  warp.yield(&op + 1, TurnEnd::polled);
  return nullptr;
}

void bind(Decoder& decoder, bool by_parity, bool blocking) {
  const Slot result = decoder.result(decoder.operand(0), ptx::Type::pred);
  const AddressOperand address = address_operand(decoder, decoder.operand(1));
  const Slot phase =
      decoder.source(decoder.operand(2), by_parity ? ptx::Type::u32 : ptx::Type::b64);
  Op& op =
      decoder.emit(control_handlers<run_wait>, result, address.base, address.displacement, phase);
  op.detail = static_cast<uint16_t>(address_bits(address) | (by_parity ? kByParity : 0) |
                                    (blocking ? kBlocking : 0) |
                                    ordering_bits(decoder, order::Strength::kAcquire));
}

}  // namespace

void pass_wait(const Op& op, Warp& warp, base::LaneMask lanes, const MbarrierEntry& entry) {
  warp.set_predicate(op.d, lanes, lanes);
  const Ordering ordering = ordering_of(op);
  const Telling telling(op, warp);
  if (warp.order)
    warp.order->mbarrier_wait(*warp.order_warp, op.instruction, lanes, place_of(*warp.cta, entry),
                              ordering.strength, ordering.scope);
}

void bind_mbarrier_test_wait(Decoder& decoder) { bind(decoder, false, false); }
void bind_mbarrier_test_wait_parity(Decoder& decoder) { bind(decoder, true, false); }
void bind_mbarrier_try_wait(Decoder& decoder) { bind(decoder, false, true); }
void bind_mbarrier_try_wait_parity(Decoder& decoder) { bind(decoder, true, true); }

}  // namespace lw::machine
