// tcgen05.alloc, dealloc, relinquish_alloc_permit (PTX: TensorCore 5th Generation Instructions,
// tcgen05.alloc).
//
// One warp allocates whole columns of its SM's tensor memory, and waits while there are too few in
// a row; the address is stored to shared memory as an ordinary store would do it. Columns are freed
// as they were allocated. Neither touches the cells. A pair of CTAs (cta_group::2) allocates
// together: the first waits for the other, and both get the same columns of their SMs, each its
// own word; each frees its own.

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

#include "machine/dispatch.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/cluster_site.h"
#include "machine/semantics/telling.h"
#include "machine/semantics/tensor_memory/tensor_site.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using diagnose::RuleId;

// alloc: a address, b displacement, c columns; dealloc: a address, c columns.
constexpr uint32_t kLeastColumns = 32;
constexpr uint32_t kWordBytes = 4;

std::optional<uint32_t> columns_of(const Op& op, Warp& warp) {
  const auto columns = uniform_value(op, warp, "number of columns", op.c);
  if (!columns) return std::nullopt;
  if (std::has_single_bit(*columns) && *columns >= kLeastColumns && *columns <= kTensorColumns)
    return columns;
  misuse_tensor_memory(op, warp,
                       fmt::format("{} columns: not a power of two from {} to {}", *columns,
                                   kLeastColumns, kTensorColumns),
                       RuleId::kT5_1);
  return std::nullopt;
}

bool may_allocate(const Op& op, Warp& warp, uint32_t columns) {
  const CtaSyncState& sync = warp.cta->sync;
  if (sync.relinquished_tensor_memory) {
    misuse_tensor_memory(op, warp, "the CTA has relinquished its right to allocate", RuleId::kT5_5);
    return false;
  }
  if (sync.tensor_columns == 0 || columns <= sync.tensor_columns) return true;
  misuse_tensor_memory(
      op, warp, fmt::format("{} columns after an allocation of {}", columns, sync.tensor_columns),
      RuleId::kT5_1);
  return false;
}

// Where the address goes: an offset in shared memory that no mbarrier object has.
std::optional<uint32_t> place_of_address(const Op& op, Warp& warp) {
  const AddressOperand operand{op.a, op.b, (op.detail & kWide) != 0, (op.detail & kGeneric) != 0};
  const auto offset = shared_offset(op, warp, operand, 0, kWordBytes, kWordBytes);
  if (!offset) return std::nullopt;
  const MbarrierEntry* object = warp.cta->sync.mbarriers.overlapping(*offset, kWordBytes);
  if (object == nullptr) return offset;
  report(op, warp, *warp.cta, *object, warp.active,
         "the address of tensor memory is written over it", RuleId::kE3);
  return std::nullopt;
}

// Whether what another CTA does with the columns of the SM can make it wait (rule book 17, D-8).
bool shares_sm(const Warp& warp) {
  return std::ranges::any_of(warp.machine->resident(), [&](const Cta* cta) {
    return cta != warp.cta && cta->sm == warp.cta->sm;
  });
}

// The columns are the CTA's: where they begin is stored.
const Op* take(const Op& op, Warp& warp, uint32_t first, uint32_t columns, uint32_t place) {
  warp.cta->sync.uses_tensor_memory = true;
  warp.cta->sync.tensor_columns = columns;
  if (warp.order) {
    const Telling telling(op, warp);
    warp.order->tensor_alloc(*warp.order_warp, op.instruction, warp.active, first, columns, place);
  }
  std::memcpy(warp.shared + place, &first, kWordBytes);
  return &op + 1;
}

// Columns that both CTAs of the pair get; without any the warp waits, or the fault has been
// reported.
std::optional<uint32_t> allocate_as_pair(const Op& op, Warp& warp, uint32_t columns) {
  Cta* const peer = peer_of(op, warp, warp.active);
  if (peer == nullptr) return std::nullopt;
  CtaSyncState& own = warp.cta->sync;
  CtaSyncState& other = peer->sync;
  if (!own.pair_given) {
    own.pair_asks = columns;
    if (other.pair_asks != 0 && !other.pair_given && other.pair_asks != columns) {
      misuse_tensor_memory(op, warp,
                           fmt::format("{} columns, and its peer {}", columns, other.pair_asks));
      return std::nullopt;
    }
    if (other.pair_asks == columns && !other.pair_given)
      own.pair_given = other.pair_given = TensorMemory::allocate_in_both(
          tensor_memory_of(warp), warp.cta->id, warp.machine->tensor_memory(peer->sm), peer->id,
          columns, op.instruction);
  }
  if (!own.pair_given) {
    warp.block(&op, {Wait::Kind::tensor_columns, 0, columns, op.instruction});
    return std::nullopt;
  }
  own.pair_asks = 0;
  peer->wake(Wait::Kind::tensor_columns, 0);
  return std::exchange(own.pair_given, std::nullopt);
}

const Op* run_alloc_pair(const Op& op, Warp& warp) {
  if (!require_whole_warp(op, warp)) return nullptr;
  const auto columns = columns_of(op, warp);
  if (!columns || !may_allocate(op, warp, *columns)) return nullptr;
  const auto place = place_of_address(op, warp);
  if (!place) return nullptr;
  const auto first = allocate_as_pair(op, warp, *columns);
  if (!first) return nullptr;
  return take(op, warp, *first, *columns, *place);
}

const Op* run_alloc(const Op& op, Warp& warp) {
  if (!require_whole_warp(op, warp)) return nullptr;
  const auto columns = columns_of(op, warp);
  if (!columns || !may_allocate(op, warp, *columns)) return nullptr;
  const auto place = place_of_address(op, warp);
  if (!place) return nullptr;
  if (shares_sm(warp)) warp.machine->used_schedule_value(op.instruction);
  const auto first = tensor_memory_of(warp).allocate(warp.cta->id, *columns, op.instruction);
  if (!first) {
    warp.block(&op, {Wait::Kind::tensor_columns, 0, *columns, op.instruction});
    return nullptr;
  }
  return take(op, warp, *first, *columns, *place);
}

std::string not_allocated(uint32_t address, const TensorMemory::Allocation* freed) {
  const auto [lane, column] = tensor_address(address);
  if (lane != 0) return fmt::format("address {:#x} has lane {}", address, lane);
  if (freed != nullptr) return fmt::format("the columns at {} have been freed before", column);
  return fmt::format("no allocation of the CTA begins at column {}", column);
}

void wake_waiting(Machine& machine, uint32_t sm) {
  for (Cta* cta : machine.resident())
    if (cta->sm == sm) cta->wake(Wait::Kind::tensor_columns, 0);
}

void run_dealloc(const Op& op, Warp& warp) {
  if (!require_whole_warp(op, warp)) return;
  const auto address = uniform_value(op, warp, "address", op.a);
  if (!address) return;
  const auto columns = columns_of(op, warp);
  if (!columns) return;
  const auto [lane, column] = tensor_address(*address);
  auto* allocation = tensor_memory_of(warp).find(warp.cta->id, column);
  if (lane != 0 || allocation == nullptr || !allocation->is_live())
    return misuse_tensor_memory(op, warp, not_allocated(*address, allocation), RuleId::kT5_3);
  if (allocation->columns != *columns)
    return misuse_tensor_memory(op, warp,
                                fmt::format("{} columns of the {} allocated at column {}", *columns,
                                            allocation->columns, column),
                                RuleId::kT5_3);
  if (warp.order) {
    const Telling telling(op, warp);
    warp.order->tensor_free(*warp.order_warp, op.instruction, warp.active, column, *columns);
  }
  allocation->freed_by = op.instruction;
  allocation->freed_in = warp.id;
  wake_waiting(*warp.machine, warp.cta->sm);
}

void run_relinquish(const Op& op, Warp& warp) {
  if (!require_whole_warp(op, warp)) return;
  warp.cta->sync.relinquished_tensor_memory = true;
}

}  // namespace

void bind_tcgen05_alloc(Decoder& decoder) {
  const AddressOperand place = address_operand(decoder, decoder.operand(0));
  const Slot columns = decoder.source(decoder.operand(1), ptx::Type::u32);
  const bool pair = decoder.has(ptx::Mod::cta_group_2);
  decoder
      .emit(pair ? control_handlers<run_alloc_pair> : control_handlers<run_alloc>, Slot{},
            place.base, place.displacement, columns)
      .detail = address_bits(place);
}

void bind_tcgen05_dealloc(Decoder& decoder) {
  const Slot address = decoder.source(decoder.operand(0), ptx::Type::b32);
  const Slot columns = decoder.source(decoder.operand(1), ptx::Type::u32);
  decoder.emit(aligned_handlers<run_dealloc>, Slot{}, address, Slot{}, columns);
}

void bind_tcgen05_relinquish_alloc_permit(Decoder& decoder) {
  decoder.emit(aligned_handlers<run_relinquish>);
}

}  // namespace lw::machine
