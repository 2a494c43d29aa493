#include "machine/tensor_memory.h"

#include <fmt/format.h>

#include <algorithm>

#include "machine/machine.h"

namespace lw::machine {

TensorMemory::TensorMemory(uint8_t poison)
    : cells_(size_t{kTensorColumns} * kTensorLanes, poison * 0x01010101u) {}

bool TensorMemory::is_free(uint32_t first, uint32_t columns) const {
  return std::ranges::none_of(allocations_, [&](const Allocation& a) {
    return a.is_live() && a.first < first + columns && first < a.end();
  });
}

std::optional<uint32_t> TensorMemory::allocate(base::CtaId cta, uint32_t columns, base::OpId by) {
  for (uint32_t first = 0; first + columns <= kTensorColumns; first += columns) {
    if (!is_free(first, columns)) continue;
    allocations_.push_back({first, columns, cta, by, {}, {}});
    return first;
  }
  return std::nullopt;
}

std::optional<uint32_t> TensorMemory::allocate_in_both(TensorMemory& one, base::CtaId cta,
                                                       TensorMemory& other, base::CtaId peer,
                                                       uint32_t columns, base::OpId by) {
  for (uint32_t first = 0; first + columns <= kTensorColumns; first += columns) {
    if (!one.is_free(first, columns) || !other.is_free(first, columns)) continue;
    one.allocations_.push_back({first, columns, cta, by, {}, {}});
    other.allocations_.push_back({first, columns, peer, by, {}, {}});
    return first;
  }
  return std::nullopt;
}

TensorMemory::Allocation* TensorMemory::find(base::CtaId cta, uint32_t first) {
  Allocation* found = nullptr;
  for (Allocation& allocation : allocations_) {
    if (allocation.cta != cta || allocation.first != first) continue;
    if (found == nullptr || !found->is_live()) found = &allocation;
  }
  return found;
}

const TensorMemory::Allocation* TensorMemory::any(base::CtaId cta) const {
  for (const Allocation& allocation : allocations_)
    if (allocation.cta == cta && allocation.is_live()) return &allocation;
  return nullptr;
}

void TensorMemory::forget(base::CtaId cta) {
  std::erase_if(allocations_, [&](const Allocation& a) { return a.cta == cta; });
}

const TensorMemory::Allocation* TensorMemory::covering(base::CtaId cta, uint32_t column) const {
  const Allocation* found = nullptr;
  for (const Allocation& allocation : allocations_) {
    if (allocation.cta != cta || column < allocation.first || column >= allocation.end()) continue;
    if (found == nullptr || !found->is_live()) found = &allocation;
  }
  return found;
}

TensorMemory::Held TensorMemory::held(base::CtaId cta, uint32_t first, uint32_t count) const {
  Held held;
  for (uint32_t column = first; column < first + count;) {
    const Allocation* allocation = covering(cta, column);
    if (allocation == nullptr) return {Holding::never, nullptr, column};
    if (!allocation->is_live() && held.freed == nullptr)
      held = {Holding::freed, allocation, column};
    // A freed run may be covered again from any column on.
    column = allocation->is_live() ? allocation->end() : column + 1;
  }
  return held;
}

uint32_t TensorMemory::free_columns() const {
  uint32_t taken = 0;
  for (const Allocation& allocation : allocations_)
    if (allocation.is_live()) taken += allocation.columns;
  return kTensorColumns - taken;
}

TensorMemory& TensorMemories::of(uint32_t sm, uint8_t poison) {
  if (sm >= by_sm_.size()) by_sm_.resize(sm + 1);
  if (by_sm_[sm] == nullptr) by_sm_[sm] = std::make_unique<TensorMemory>(poison);
  return *by_sm_[sm];
}

bool give_back_tensor_memory(Cta& cta) {
  if (!cta.sync.uses_tensor_memory) return true;
  TensorMemory& memory = cta.machine->tensor_memory(cta.sm);
  const TensorMemory::Allocation* left = memory.any(cta.id);
  if (left == nullptr) {
    memory.forget(cta.id);
    return true;
  }
  Fault fault;
  fault.kind = FaultKind::tensor_memory_misuse;
  fault.rule = diagnose::RuleId::kT5_6;
  fault.instruction = left->allocated_by;
  fault.cta = cta.id;
  fault.lanes = base::kAllLanes;
  fault.text = fmt::format("the {} columns at {} that it allocates are not freed when the CTA ends",
                           left->columns, left->first);
  cta.machine->fail(std::move(fault));
  return false;
}

}  // namespace lw::machine
