#include "machine/semantics/asynchronous_copy/bulk_sites.h"

#include <fmt/format.h>

#include "machine/semantics/asynchronous_copy/group_wait.h"
#include "machine/semantics/telling.h"
#include "order/engine.h"

namespace lw::machine {

using base::LaneId;
using ptx::Mod;

AddressOperand attached_address(const Op& op, const Warp& warp, uint32_t first_slot, int shift) {
  const Slot* slots = warp.program->more(op) + first_slot;
  return {slots[0], slots[1], (op.detail >> shift & kWide) != 0,
          (op.detail >> shift & kGeneric) != 0};
}

bool is_free_of_objects(const Op& op, Warp& warp, uint32_t offset, uint32_t bytes, int lane) {
  const auto* object = warp.cta->sync.mbarriers.overlapping(offset, bytes);
  if (object != nullptr)
    report(op, warp, *object, 1u << lane, "a bulk copy touches it", diagnose::RuleId::kE3);
  return object == nullptr;
}

std::byte* global_bytes(const Op& op, Warp& warp, uint64_t address, uint64_t bytes, int lane) {
  constexpr uint64_t kAlignment = 16;
  if (address % kAlignment != 0) {
    warp.fail_at(op, FaultKind::misaligned, "not a multiple of 16", 1u << lane, address,
                 static_cast<uint32_t>(bytes));
    return nullptr;
  }
  std::byte* data = warp.machine->memory().resolve(address, bytes);
  if (data == nullptr)
    warp.fail_at(op, FaultKind::out_of_bounds, "outside every buffer", 1u << lane, address,
                 static_cast<uint32_t>(bytes));
  return data;
}

void SignalledLoad::perform_write(Machine& machine) {
  Cta* const cta = machine.cta(signal_in);
  Cta* const target = machine.cta(to);
  if (cta == nullptr || target == nullptr)
    return warp_.fail(op_, FaultKind::peer_misuse,
                      "a CTA that the copy writes to or signals has ended before it is done",
                      lanes);
  write_shared(target->shared.data());
  MbarrierEntry* entry =
      signalled_object(op_, warp_, *cta, signal_offset_, lanes, "the copy is done");
  if (entry == nullptr) return;
  if (machine.order()) machine.order()->bulk_complete(order_id);
  take_signal(op_, warp_, *cta, *entry, lanes, entry->object.complete(bytes_));
}

void GroupedStore::perform_read(Machine&) {
  read_shared();
  bulk_copies_done(warp_, this, CopyPart::reads);
}

void GroupedStore::perform_write(Machine&) {
  write_global();
  bulk_copies_done(warp_, this, CopyPart::writes);
}

void start_load(const Op& op, Warp& warp, int lane, MbarrierEntry& signal,
                std::span<const order::AsyncAccess> accesses,
                std::unique_ptr<SignalledLoad> operation) {
  const Telling telling(op, warp);
  if (warp.order)
    operation->order_id =
        warp.order->bulk_load(*warp.order_warp, op.instruction, LaneId(static_cast<uint8_t>(lane)),
                              place_of(*warp.cta, signal), accesses);
  ++signal.signals_pending;
  warp.machine->start(std::move(operation), warp, op).lanes = 1u << lane;
}

void start_store(const Op& op, Warp& warp, int lane, std::span<const order::AsyncAccess> accesses,
                 std::unique_ptr<GroupedStore> operation) {
  const Telling telling(op, warp);
  if (warp.order)
    warp.order->bulk_store(*warp.order_warp, op.instruction, LaneId(static_cast<uint8_t>(lane)),
                           accesses);
  warp.sync.bulk_copies.issue(1u << lane, operation.get());
  warp.machine->start(std::move(operation), warp, op).lanes = 1u << lane;
}

order::AsyncAccess shared_access(const Cta& cta, order::Kind kind,
                                 std::span<const order::Range> ranges) {
  order::AsyncAccess access;
  access.space = order::Space::kShared;
  access.kind = kind;
  access.cta = cta.id;
  access.ranges = ranges;
  return access;
}

order::AsyncAccess global_access(order::Kind kind, std::span<const order::Range> ranges,
                                 uint32_t element_bytes) {
  order::AsyncAccess access;
  access.space = order::Space::kGlobal;
  access.kind = kind;
  access.ranges = ranges;
  access.element_bytes = static_cast<uint8_t>(element_bytes);
  return access;
}

std::optional<ReduceOp> reduce_op_of(const program::Decoder& decoder) {
  constexpr std::pair<Mod, ReduceOp> kNames[] = {
      {Mod::add, ReduceOp::add},     {Mod::min, ReduceOp::min},
      {Mod::max, ReduceOp::max},     {Mod::inc, ReduceOp::inc},
      {Mod::dec, ReduceOp::dec},     {Mod::_and, ReduceOp::and_bits},
      {Mod::_or, ReduceOp::or_bits}, {Mod::_xor, ReduceOp::xor_bits}};
  for (auto [mod, op] : kNames)
    if (decoder.has(mod)) return op;
  return std::nullopt;
}

bool find_ranks(const Op& op, Warp& warp, Slot mask, int lane, uint32_t& ranks) {
  ranks = warp.lanes<uint32_t>(mask)[lane] & 0xffff;
  if (ranks == 0) {
    warp.fail(op, FaultKind::bulk_misuse, "the mask of destination CTAs is empty", 1u << lane);
    return false;
  }
  if (ranks == 1u << warp.cta->cluster_rank) ranks = 0;
  return true;
}

}  // namespace lw::machine
