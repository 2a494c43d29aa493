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

bool is_free_of_objects(const Op& op, Warp& warp, const Cta& owner, uint32_t offset, uint32_t bytes,
                        int lane) {
  const auto* object = owner.sync.mbarriers.overlapping(offset, bytes);
  if (object != nullptr)
    report(op, warp, owner, *object, 1u << lane, "a bulk copy touches it", diagnose::RuleId::kE3);
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
  Cta* const cta = machine.cta(signal_in_);
  Cta* const target = machine.cta(to_);
  if (cta == nullptr || target == nullptr)
    return warp_.fail(op_, FaultKind::peer_ended,
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

void start_load(const Op& op, Warp& warp, int lane, const LoadTarget& target,
                const LoadAccess& access, std::unique_ptr<SignalledLoad> operation) {
  const Telling telling(op, warp);
  order::AsyncAccess accesses[] = {access.from,
                                   shared_access(*target.to, access.kind, access.ranges)};
  accesses[1].element_bytes = static_cast<uint8_t>(access.element_bytes);
  if (warp.order)
    operation->order_id =
        warp.order->bulk_load(*warp.order_warp, op.instruction, LaneId(static_cast<uint8_t>(lane)),
                              place_of(*target.signal.cta, *target.signal.entry), accesses);
  ++target.signal.entry->signals_pending;
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

namespace {

// What the opcode means by an element type.
std::optional<ReduceType> reduce_type(ptx::Type type) {
  switch (type) {
    case ptx::Type::b32:
    case ptx::Type::u32:
      return ReduceType::u32;
    case ptx::Type::s32:
      return ReduceType::s32;
    case ptx::Type::b64:
    case ptx::Type::u64:
      return ReduceType::u64;
    case ptx::Type::s64:
      return ReduceType::s64;
    case ptx::Type::f16:
      return ReduceType::f16;
    case ptx::Type::bf16:
      return ReduceType::bf16;
    case ptx::Type::f32:
      return ReduceType::f32;
    case ptx::Type::f64:
      return ReduceType::f64;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::optional<Reduction> reduction_of(program::Decoder& decoder) {
  const auto op = reduce_op_of(decoder);
  const auto type = reduce_type(decoder.type());
  if (op && type && reduces(*op, *type)) return Reduction{*op, *type};
  decoder.not_modelled("a reduction that its type does not have");
  return std::nullopt;
}

std::optional<ClusterPlace> load_place(const Op& op, Warp& warp, int lane,
                                       const LoadOperands& operands, uint32_t size,
                                       uint32_t alignment) {
  if (operands.in_cluster) return place_in_cluster(op, warp, operands.to, lane, size, alignment);
  const auto offset = shared_offset(op, warp, operands.to, lane, size, alignment);
  return offset ? std::optional(ClusterPlace{warp.cta, *offset}) : std::nullopt;
}

namespace {

// Each CTA of the mask, and the object there at the place of the one that is named.
std::vector<LoadTarget> multicast_targets(const Op& op, Warp& warp, int lane, Slot mask,
                                          uint32_t offset) {
  const uint32_t ranks = warp.lanes<uint32_t>(mask)[lane] & 0xffff;
  if (ranks == 0)
    warp.fail(op, FaultKind::bulk_misuse, "the mask of destination CTAs is empty", 1u << lane);
  std::vector<LoadTarget> targets;
  for_each_rank(op, warp, ranks, offset, lane, [&](const ClusterObject& object) {
    targets.push_back({object.cta, object});
  });
  if (warp.machine->has_ended()) targets.clear();
  return targets;
}

}  // namespace

std::vector<LoadTarget> load_targets(const Op& op, Warp& warp, int lane,
                                     const LoadOperands& operands, Cta& to) {
  const ClusterObject signal =
      operands.in_cluster ? object_in_cluster(op, warp, operands.signal, lane)
                          : ClusterObject{warp.cta, object_at(op, warp, operands.signal, lane)};
  if (!signal) return {};
  if (operands.multicast)
    return multicast_targets(op, warp, lane, operands.ranks, signal.entry->offset);
  if (signal.cta == &to || operands.signals_pair) return {{&to, signal}};
  warp.fail(op, FaultKind::bulk_misuse,
            "the mbarrier object is in another CTA than the destination", 1u << lane);
  return {};
}

}  // namespace lw::machine
