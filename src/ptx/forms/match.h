#pragma once
// Which row of forms.def an opcode is, and which of several rows with one opcode the operands fit.
// This runs once per distinct opcode of a module, so it is written plainly.

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ptx/forms.h"
#include "ptx/module.h"

namespace lw::ptx {

// An opcode cut at its dots.
struct SplitOpcode {
  std::string_view base;
  std::vector<std::string_view> tokens;  // the dot-words
  std::vector<Mod> mods;
  std::vector<Type> types;
  std::optional<std::string_view> unknown;  // the first dot-word that PTX does not have
};
SplitOpcode split_opcode(std::string_view text);
// The opcode of this text as one of `form`.
Opcode make_opcode(std::string_view text, FormId form);

// The rows with this base, in table order.
std::span<const FormId> forms_of_base(std::string_view base);

// Whether the dot-words fill the pattern's opcode exactly.
bool matches_opcode(const Pattern& pattern, std::span<const Mod> mods, std::span<const Type> types);

std::vector<FormId> forms_matching(const SplitOpcode& opcode);

// Whether the modifiers of `opcode` fill element `index` of the pattern.
bool has_element(const Pattern& pattern, const Opcode& opcode, int index);

// Why no row matches, and the row nearest to what was written.
struct Mismatch {
  std::string message;
  std::string hint;
};
Mismatch explain_mismatch(const SplitOpcode& opcode);

}  // namespace lw::ptx
