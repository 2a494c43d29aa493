// mbarrier.init, inval, arrive, arrive_drop, expect_tx, complete_tx, pending_count.
//
// Every lane is an arrival of its own, in order of the lanes; the order engine hears of those that
// fall into one phase together.

#include <fmt/format.h>

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/cluster_site.h"
#include "machine/semantics/parallel_synchronization/mbarrier_site.h"
#include "machine/semantics/telling.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using base::LaneMask;
using ptx::Type;

// Op: d state, a address, b its displacement, c count or bytes.
constexpr uint16_t kDrop = 4;
constexpr uint16_t kNoComplete = 8;
constexpr uint16_t kExpect = 16;   // `c` is bytes, the count is 1
constexpr uint16_t kCounted = 32;  // `c` is the count
constexpr uint16_t kCluster = 64;  // the object may be another CTA's

AddressOperand operand_of(const Op& op) {
  return {op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
}

// Calls `body(object, lanes)` for the lanes at each object, until the run ends.
template <class Body>
void for_each_object(const Op& op, Warp& warp, Body body) {
  const AddressOperand operand = operand_of(op);
  for_each_value(
      warp.active, [&](int lane) { return address_of_lane(warp, operand, lane); },
      [&](uint64_t, LaneMask lanes) {
        if (warp.machine->has_ended()) return;
        const int first = std::countr_zero(lanes);
        const ClusterObject object =
            op.detail & kCluster ? object_in_cluster(op, warp, operand, first)
                                 : ClusterObject{warp.cta, object_at(op, warp, operand, first)};
        if (object) body(object, lanes);
      });
}

// Tells the engine of arrivals that it has not heard of.
void tell_arrivals(const Op& op, Warp& warp, const ClusterObject& at, LaneMask lanes) {
  if (!warp.order || lanes == 0) return;
  const Telling telling(op, warp);
  const order::Mbarrier place = place_of(*at.cta, *at.entry);
  const Ordering ordering = ordering_of(op);
  if (op.detail & kExpect)
    warp.order->mbarrier_expect(*warp.order_warp, op.instruction, lanes, place);
  warp.order->mbarrier_arrive(*warp.order_warp, op.instruction, lanes, place, ordering.strength,
                              ordering.scope);
}

Mbarrier::Outcome arrive_one(const Op& op, const Warp& warp, Mbarrier& object, int lane) {
  const uint32_t operand = warp.lanes<uint32_t>(op.c)[lane];
  Mbarrier::Arrive arrive;
  arrive.drop = op.detail & kDrop;
  arrive.no_complete = op.detail & kNoComplete;
  if (op.detail & kCounted) arrive.count = operand;
  return object.arrive_expect(op.detail & kExpect ? operand : 0, arrive);
}

void arrive_at(const Op& op, Warp& warp, const ClusterObject& at, LaneMask lanes) {
  MbarrierEntry& entry = *at.entry;
  LaneMask untold = 0;
  for_each_lane(lanes, [&](int lane) {
    if (warp.machine->has_ended()) return;
    const uint64_t state = entry.object.state();
    const Mbarrier::Outcome outcome = arrive_one(op, warp, entry.object, lane);
    if (outcome.fault != MbarrierFault::none)
      return report(op, warp, *at.cta, entry, 1u << lane, mbarrier_fault_text(outcome.fault));
    warp.lanes<uint64_t>(op.d)[lane] = state;
    untold |= 1u << lane;
    if (!outcome.completed) return;
    tell_arrivals(op, warp, at, untold);
    untold = 0;
    phase_completed(*at.cta, entry);
  });
  if (warp.machine->has_ended()) return;
  tell_arrivals(op, warp, at, untold);
  draw(*at.cta, entry);
}

void run_arrive(const Op& op, Warp& warp) {
  for_each_object(op, warp, [&](const ClusterObject& object, LaneMask lanes) {
    arrive_at(op, warp, object, lanes);
  });
}

template <bool complete>
void change_bytes_at(const Op& op, Warp& warp, const ClusterObject& at, LaneMask lanes) {
  MbarrierEntry& entry = *at.entry;
  const order::Mbarrier place = place_of(*at.cta, entry);
  for_each_lane(lanes, [&](int lane) {
    if (warp.machine->has_ended()) return;
    const int64_t bytes = warp.lanes<uint32_t>(op.c)[lane];
    const Mbarrier::Outcome outcome = entry.object.expect(complete ? -bytes : bytes);
    if (outcome.fault != MbarrierFault::none)
      return report(op, warp, *at.cta, entry, 1u << lane, mbarrier_fault_text(outcome.fault));
    if (warp.order && complete)
      warp.order->mbarrier_complete_tx(*warp.order_warp, op.instruction, 1u << lane, place);
    if (warp.order && !complete)
      warp.order->mbarrier_expect(*warp.order_warp, op.instruction, 1u << lane, place);
    if (outcome.completed) phase_completed(*at.cta, entry);
  });
  draw(*at.cta, entry);
}

template <bool complete>
void run_bytes(const Op& op, Warp& warp) {
  for_each_object(op, warp, [&](const ClusterObject& object, LaneMask lanes) {
    change_bytes_at<complete>(op, warp, object, lanes);
  });
}

// An object that nobody is in the middle of using may be initialised again without inval: common
// code does (rule MB-5).
bool is_idle(const Cta& cta, const MbarrierEntry& entry) {
  const Mbarrier& object = entry.object;
  return object.pending() == object.expected() && object.tx() == 0 && entry.signals_pending == 0 &&
         !is_waited_for(cta, entry);
}

// Whether an object can begin at `offset`; reports why not.
bool place_is_free(const Op& op, Warp& warp, uint32_t offset, int lane) {
  MbarrierTable& table = warp.cta->sync.mbarriers;
  const MbarrierEntry* there = table.overlapping(offset, MbarrierTable::kObjectBytes);
  if (there == nullptr) return true;
  if (there->offset == offset && is_idle(*warp.cta, *there)) {
    table.remove(offset);
    return true;
  }
  report(op, warp, *warp.cta, *there, 1u << lane, "initialised while it is valid and in use",
         diagnose::RuleId::kE2);
  return false;
}

// Tells the warps where live objects lie, for the fast paths of loads and stores.
void note_objects(Cta& cta) {
  for (Warp& warp : cta.warps) {
    warp.objects_begin = cta.sync.mbarriers.begin();
    warp.objects_end = cta.sync.mbarriers.end();
  }
}

void init_one(const Op& op, Warp& warp, int lane) {
  const auto offset = shared_offset(op, warp, operand_of(op), lane, MbarrierTable::kObjectBytes,
                                    MbarrierTable::kObjectBytes);
  if (!offset) return;
  const uint32_t count = warp.lanes<uint32_t>(op.c)[lane];
  if (Mbarrier::check_count(count) != MbarrierFault::none)
    return warp.fail(op, FaultKind::mbarrier_misuse,
                     fmt::format("the count {} is outside 1..{}", count, Mbarrier::kMaxCount),
                     1u << lane, diagnose::RuleId::kE2);
  if (!place_is_free(op, warp, *offset, lane)) return;
  const Telling telling(op, warp);
  const MbarrierEntry& entry = warp.cta->sync.mbarriers.add(*offset, count, op.instruction);
  if (warp.order)
    warp.order->mbarrier_init(*warp.order_warp, op.instruction, 1u << lane,
                              place_of(*warp.cta, entry));
  draw(*warp.cta, entry);
  note_objects(*warp.cta);
}

void run_init(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if (!warp.machine->has_ended()) init_one(op, warp, lane);
  });
}

void run_inval(const Op& op, Warp& warp) {
  for_each_object(op, warp, [&](const ClusterObject& object, LaneMask lanes) {
    MbarrierEntry& entry = *object.entry;
    if (!is_idle(*warp.cta, entry))
      return report(op, warp, *warp.cta, entry, lanes, "invalidated while it is in use",
                    diagnose::RuleId::kE8);
    if (lanes & (lanes - 1))
      return report(op, warp, *warp.cta, entry, lanes, "invalidated by several lanes",
                    diagnose::RuleId::kE8);
    if (warp.order)
      warp.order->mbarrier_inval(*warp.order_warp, op.instruction, lanes,
                                 place_of(*warp.cta, entry));
    warp.cta->sync.mbarriers.remove(entry.offset);
    note_objects(*warp.cta);
  });
}

void run_pending_count(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    warp.lanes<uint32_t>(op.d)[lane] = Mbarrier::pending_of(warp.lanes<uint64_t>(op.a)[lane]);
  });
}

// Binds `[d,] [a] [, c]`.
Op& bind(Decoder& decoder, program::Handlers handlers, uint16_t bits) {
  size_t next = 0;
  Slot state = decoder.temporary(Type::b64);
  if (decoder.operand(0).kind != ptx::OperandKind::address)
    state = decoder.result(decoder.operand(next++), Type::b64);
  const AddressOperand address = address_operand(decoder, decoder.operand(next++));
  const bool has_operand = next < decoder.operands().size();
  const Slot operand = has_operand ? decoder.source(decoder.operand(next), Type::u32)
                                   : decoder.constant(1, Type::u32);
  if (has_operand && !(bits & kExpect)) bits |= kCounted;
  if (decoder.has(ptx::Mod::shared_cluster)) bits |= kCluster;
  Op& op = decoder.emit(handlers, state, address.base, address.displacement, operand);
  op.detail = static_cast<uint16_t>(bits | address_bits(address) |
                                    ordering_bits(decoder, order::Strength::kRelease));
  return op;
}

void bind_arrive(Decoder& decoder, uint16_t bits) {
  bind(decoder, plain_handlers<run_arrive>, bits);
}

}  // namespace

void bind_mbarrier_init(Decoder& decoder) { bind(decoder, plain_handlers<run_init>, 0); }
void bind_mbarrier_inval(Decoder& decoder) { bind(decoder, plain_handlers<run_inval>, 0); }
void bind_mbarrier_expect_tx(Decoder& decoder) {
  bind(decoder, plain_handlers<run_bytes<false>>, 0);
}
void bind_mbarrier_complete_tx(Decoder& decoder) {
  bind(decoder, plain_handlers<run_bytes<true>>, 0);
}
void bind_mbarrier_arrive(Decoder& decoder) { bind_arrive(decoder, 0); }
void bind_mbarrier_arrive_expect_tx(Decoder& decoder) { bind_arrive(decoder, kExpect); }
void bind_mbarrier_arrive_noComplete(Decoder& decoder) { bind_arrive(decoder, kNoComplete); }
void bind_mbarrier_arrive_drop(Decoder& decoder) { bind_arrive(decoder, kDrop); }
void bind_mbarrier_arrive_drop_expect_tx(Decoder& decoder) {
  bind_arrive(decoder, kDrop | kExpect);
}
void bind_mbarrier_arrive_drop_noComplete(Decoder& decoder) {
  bind_arrive(decoder, kDrop | kNoComplete);
}
void bind_mbarrier_pending_count(Decoder& decoder) {
  decoder.emit(plain_handlers<run_pending_count>, decoder.result(decoder.operand(0), Type::u32),
               decoder.source(decoder.operand(1), Type::b64));
}

}  // namespace lw::machine
