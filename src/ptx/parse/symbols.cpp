#include "ptx/parse/symbols.h"

#include <cstring>

namespace lw::ptx {
namespace {

constexpr uint64_t kMultiplier = 0x9e3779b97f4a7c15u;

uint64_t load(const char* at, size_t bytes) {
  uint64_t word = 0;
  std::memcpy(&word, at, bytes);
  return word;
}

uint64_t mix(uint64_t hash, uint64_t word) {
  hash = (hash ^ word) * kMultiplier;
  return hash ^ (hash >> 32);
}

}  // namespace

uint64_t hash_text(std::string_view text) {
  const char* at = text.data();
  size_t left = text.size();
  uint64_t hash = left;
  for (; left > 8; at += 8, left -= 8) hash = mix(hash, load(at, 8));
  return mix(hash, load(at, left));
}

size_t SymbolTable::slot_of(std::string_view name) const {
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_text(name) & mask;
  while (slots_[slot].generation == generation_ && slots_[slot].name != name) {
    slot = (slot + 1) & mask;
  }
  return slot;
}

void SymbolTable::put(std::string_view name, Symbol symbol) {
  Slot& slot = slots_[slot_of(name)];
  if (slot.generation != generation_) ++used_;
  slot = {name, generation_, symbol};
  if (used_ * 2 > slots_.size()) grow();
}

void SymbolTable::bind(std::string_view name, SymbolKind kind, uint32_t id, uint32_t scope) {
  if (scope > 0) scopes_[scope - 1].push_back({name, find(name)});
  put(name, {kind, id, scope});
}

void SymbolTable::close() {
  for (auto hidden = scopes_.back().rbegin(); hidden != scopes_.back().rend(); ++hidden) {
    put(hidden->name, hidden->before);
  }
  scopes_.pop_back();
}

void SymbolTable::clear() {
  scopes_.clear();
  ++generation_;
  used_ = 0;
}

void SymbolTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  for (const Slot& slot : old) {
    if (slot.generation == generation_) slots_[slot_of(slot.name)] = slot;
  }
}

}  // namespace lw::ptx
