#include "ptx/parse/opcode_table.h"

#include <algorithm>

#include "ptx/forms/operands.h"
#include "ptx/parse/symbols.h"

namespace lw::ptx {
namespace {

std::string without_blanks(std::string_view text) {
  std::string joined;
  for (size_t i = 0; i < text.size(); ++i) {
    const bool comment = text[i] == '/' && i + 1 < text.size();
    if (comment && text[i + 1] == '/') i = text.find('\n', i);
    if (comment && text[i + 1] == '*') i = text.find("*/", i + 2) + 1;
    if (!comment && std::string_view(" \t\r\n\v\f").find(text[i]) == std::string_view::npos) {
      joined += text[i];
    }
  }
  return joined;
}

// All that shape_fits looks at, in one number.
uint64_t shape_of(const Function& function, const Operand& operand) {
  uint64_t shape = static_cast<uint64_t>(operand.kind) | uint64_t{operand.count} << 8;
  if (operand.negated) shape |= 1u << 5;
  if (operand.component != 0) shape |= 1u << 6;
  if (operand.kind != OperandKind::reg) return shape;
  const Register& reg = function.registers[operand.id];
  if (reg.type == Type::pred) shape |= 1u << 4;
  return shape | uint64_t{reg.vector} << 40;
}

uint64_t shape_of(const Function& function, std::span<const Operand> operands) {
  uint64_t hash = operands.size();
  const auto add = [&](const Operand& operand) {
    hash = (hash ^ shape_of(function, operand)) * 0x9e3779b97f4a7c15u;
    hash ^= hash >> 29;
  };
  for (const Operand& operand : operands) {
    add(operand);
    const bool compound = operand.count != 0;
    if (!compound) continue;
    for (const Operand& element : function.elements_of(operand)) add(element);
  }
  return hash;
}

}  // namespace

OpcodeTable::Entry& OpcodeTable::intern(std::string_view text, bool has_blanks) {
  if (has_blanks) {
    const std::string joined = without_blanks(text);
    for (Entry& entry : entries_) {
      if (entry.text == joined) return entry;
    }
    return add(joined);
  }
  const size_t mask = slots_.size() - 1;
  size_t slot = hash_text(text) & mask;
  while (slots_[slot].entry != nullptr && slots_[slot].text != text) slot = (slot + 1) & mask;
  if (slots_[slot].entry != nullptr) return *slots_[slot].entry;
  Entry& entry = add(text);
  slots_[slot] = {text, &entry};
  if (entries_.size() * 2 > slots_.size()) grow();
  return entry;
}

OpcodeTable::Entry& OpcodeTable::add(std::string_view text) {
  for (Entry& entry : entries_) {
    if (entry.text == text) return entry;
  }
  Entry& entry = entries_.emplace_back();
  entry.text = text;
  entry.base = std::string_view(entry.text).substr(0, entry.text.find('.'));
  entry.candidates = forms_matching(split_opcode(entry.text));
  entry.opcodes.resize(entry.candidates.size());
  entry.used.resize(entry.candidates.size());
  return entry;
}

void OpcodeTable::grow() {
  std::vector<Slot> old(slots_.size() * 2);
  old.swap(slots_);
  const size_t mask = slots_.size() - 1;
  for (const Slot& each : old) {
    if (each.entry == nullptr) continue;
    size_t slot = hash_text(each.text) & mask;
    while (slots_[slot].entry != nullptr) slot = (slot + 1) & mask;
    slots_[slot] = each;
  }
}

std::optional<OpcodeId> OpcodeTable::choose(Entry& entry, const Function& function,
                                            std::span<const Operand> operands) {
  if (entry.candidates.size() == 1) return use(entry, 0);
  const uint64_t shape = shape_of(function, operands);
  for (const auto& [seen, candidate] : entry.choices) {
    if (seen == shape) return use(entry, candidate);
  }
  const auto candidate = fitting_candidate(entry, function, operands);
  if (!candidate) return std::nullopt;
  entry.choices.emplace_back(shape, *candidate);
  return use(entry, *candidate);
}

std::optional<size_t> OpcodeTable::fitting_candidate(const Entry& entry, const Function& function,
                                                     std::span<const Operand> operands) const {
  for (size_t i = 0; i < entry.candidates.size(); ++i) {
    const Opcode opcode = make_opcode(entry.text, entry.candidates[i]);
    if (bind_operands(pattern_of(entry.candidates[i]), opcode, function, operands)) return i;
  }
  return std::nullopt;
}

OpcodeId OpcodeTable::use(Entry& entry, size_t candidate) {
  if (!entry.used[candidate]) {
    entry.used[candidate] = true;
    entry.opcodes[candidate] = OpcodeId(static_cast<uint32_t>(module_.opcodes.size()));
    module_.opcodes.push_back(make_opcode(entry.text, entry.candidates[candidate]));
  }
  return entry.opcodes[candidate];
}

}  // namespace lw::ptx
