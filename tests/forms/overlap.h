#pragma once
// Searches an opcode that two forms both match. A form's opcodes are a set of modifiers and a
// sequence of types with alternatives, so the search walks the choices of one form and drops what
// the other cannot take.

#include <optional>
#include <string>

#include "ptx/forms.h"

namespace lw::ptx {

struct Overlap {
  std::optional<std::string> opcode;  // one that both match
  bool gave_up = false;               // after too many steps
};
Overlap find_overlap(const Pattern& a, const Pattern& b);

}  // namespace lw::ptx
