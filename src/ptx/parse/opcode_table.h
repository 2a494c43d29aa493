#pragma once
// Interns full opcodes: the work of cutting one up and finding its form is done once per distinct
// text. Where several forms share the text, operands choose, once per distinct shape.

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/forms/match.h"
#include "ptx/module.h"

namespace lw::ptx {

class OpcodeTable {
 public:
  explicit OpcodeTable(Module& module) : module_(module), slots_(kFirstSize) {}

  struct Entry {
    std::string text;
    std::string_view base;
    std::vector<FormId> candidates;
    std::vector<OpcodeId> opcodes;  // of each candidate, once used
    std::vector<bool> used;
    std::vector<std::pair<uint64_t, size_t>> choices;  // operand shapes seen, and their candidate
  };

  // The entry of an opcode; its candidates are empty if no form matches.
  Entry& intern(std::string_view text, bool has_blanks);

  // The opcode that these operands make it; nothing if they fit no form.
  std::optional<OpcodeId> choose(Entry& entry, const Function& function,
                                 std::span<const Operand> operands);

 private:
  static constexpr size_t kFirstSize = 1024;

  struct Slot {
    std::string_view text;  // in the source
    Entry* entry = nullptr;
  };

  Entry& add(std::string_view text);
  void grow();
  std::optional<size_t> fitting_candidate(const Entry& entry, const Function& function,
                                          std::span<const Operand> operands) const;
  OpcodeId use(Entry& entry, size_t candidate);

  Module& module_;
  std::vector<Slot> slots_;
  std::deque<Entry> entries_;
};

}  // namespace lw::ptx
