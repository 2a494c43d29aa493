#include "program/slots.h"

#include "program/layout.h"

namespace lw::program {
namespace {

constexpr uint32_t kLine = 64;

uint32_t bytes_of(SlotClass kind) {
  if (kind == SlotClass::predicate) return 4;
  return kind == SlotClass::word ? 4 * base::kWarpSize : 8 * base::kWarpSize;
}

}  // namespace

SlotMap::SlotMap(const FlatCode& code, SlotAssignment assignment)
    : code_(code), assignment_(std::move(assignment)) {
  words_at_ = static_cast<uint32_t>(align_up(assignment_.predicates * 4ull, kLine));
  wides_at_ = words_at_ + assignment_.words * bytes_of(SlotClass::word);
  end_ = wides_at_ + assignment_.wides * bytes_of(SlotClass::wide);
}

Slot SlotMap::of(uint32_t virtual_register) const {
  uint32_t slot = assignment_.slot[virtual_register];
  switch (code_.registers[virtual_register]) {
    case SlotClass::predicate:
      return {slot * bytes_of(SlotClass::predicate)};
    case SlotClass::word:
      return {words_at_ + slot * bytes_of(SlotClass::word)};
    case SlotClass::wide:
      return {wides_at_ + slot * bytes_of(SlotClass::wide)};
  }
  return {};
}

Slot SlotMap::grow(SlotClass kind) {
  Slot slot{end_};
  end_ += static_cast<uint32_t>(align_up(bytes_of(kind), kLine));
  return slot;
}

Slot SlotMap::constant(const Constant& constant) {
  auto [found, is_new] = constants_.try_emplace(constant);
  if (is_new) found->second = grow(constant.kind);
  return found->second;
}

Slot SlotMap::special(ptx::SpecialRegister special, SlotClass kind) {
  auto [found, is_new] = specials_.try_emplace({special, kind});
  if (is_new) found->second = grow(kind);
  return found->second;
}

Slot SlotMap::temporary(SlotClass kind) {
  std::vector<Slot>& slots = temporaries_[static_cast<size_t>(kind)];
  size_t& used = temporaries_used_[static_cast<size_t>(kind)];
  if (used == slots.size()) slots.push_back(grow(kind));
  return slots[used++];
}

void SlotMap::end_instruction() {
  for (size_t& used : temporaries_used_) used = 0;
}

Slot SlotMap::carry() {
  if (!carry_) carry_ = grow(SlotClass::predicate);
  return *carry_;
}

Slot SlotMap::stack_pointer() {
  if (!stack_pointer_) stack_pointer_ = grow(SlotClass::word);
  return *stack_pointer_;
}

Slot SlotMap::frame_pointer() {
  if (!frame_pointer_) frame_pointer_ = grow(SlotClass::word);
  return *frame_pointer_;
}

void SlotMap::finish(Program& program) const {
  program.register_bytes = static_cast<uint32_t>(align_up(end_, kLine));
  auto bytes = [](SlotClass kind) -> uint8_t {
    return kind == SlotClass::predicate ? 1 : kind == SlotClass::word ? 4 : 8;
  };
  for (const auto& [key, slot] : constants_)
    program.constants.push_back({slot, bytes(key.kind), key.bits, key.is_shared_address});
  if (stack_pointer_) program.constants.push_back({*stack_pointer_, 4, code_.local_bytes});
  if (frame_pointer_) program.constants.push_back({*frame_pointer_, 4, code_.local_bytes});
  for (const auto& [key, slot] : specials_)
    program.specials.push_back({slot, bytes(key.second), key.first});
}

}  // namespace lw::program
