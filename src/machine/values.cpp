#include "machine/values.h"

#include <algorithm>

#include "machine/cta.h"
#include "machine/each_lane.h"
#include "machine/machine.h"
#include "machine/semantics/data_movement/access.h"
#include "ptx/forms.h"

namespace lw::machine {

bool StoreValues::is_store() const {
  if (op_ == nullptr || !is_ordinary_) return false;
  const ptx::Instruction& instruction = warp_->machine->place(op_->instruction).get();
  return ptx::row_of(warp_->program->module->opcode_of(instruction).form).effect ==
         ptx::Effect::store;
}

std::optional<std::byte> StoreValues::stored(int lane, uint64_t address) const {
  AccessShape shape = AccessShape::decode(op_->detail);
  uint64_t offset = address - place(lane);
  if (offset >= shape.bytes()) return std::nullopt;
  uint32_t step = std::min(shape.element_bytes(), 8u);
  Slot slot = element_slots(*op_, *warp_)[offset / step];
  bool wide = shape.wide_register || step == 8;
  uint64_t value = wide ? warp_->lanes<uint64_t>(slot)[lane] : warp_->lanes<uint32_t>(slot)[lane];
  return static_cast<std::byte>(value >> (8 * (offset % step)));
}

std::optional<std::byte> StoreValues::present(uint64_t address) const {
  bool shared = address < Memory::kRegionBytes;
  Cta* const owner = owner_ != nullptr ? owner_ : warp_->cta;
  const std::byte* at =
      shared ? owner->shared_bytes(address, 1) : warp_->machine->memory().resolve(address, 1);
  return at ? std::optional(*at) : std::nullopt;
}

bool StoreValues::store_keeps(uint64_t address, uint32_t bytes) const {
  if (!is_store()) return false;
  bool keeps = true;
  for (uint64_t at = address; at < address + bytes; ++at) {
    std::optional<std::byte> now = present(at);
    for_each_lane(warp_->active, [&](int lane) {
      std::optional<std::byte> then = stored(lane, at);
      if (then && then != now) keeps = false;
    });
  }
  return keeps;
}

bool StoreValues::lanes_agree(uint64_t address, uint32_t bytes) const {
  if (!is_store()) return false;
  bool agree = true;
  for (uint64_t at = address; at < address + bytes; ++at) {
    std::optional<std::byte> first;
    for_each_lane(warp_->active, [&](int lane) {
      std::optional<std::byte> value = stored(lane, at);
      if (!value) return;
      if (first && value != first) agree = false;
      first = value;
    });
  }
  return agree;
}

uint32_t StoreValues::execution() const {
  if (op_ == nullptr && watching_ == nullptr) return 0;
  const Warp& warp = op_ != nullptr ? *warp_ : *watching_;
  auto found = warp.executions.find(op_ != nullptr ? op_->instruction : watched_);
  return found == warp.executions.end() ? 0 : static_cast<uint32_t>(found->second);
}

}  // namespace lw::machine
