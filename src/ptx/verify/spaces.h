#pragma once
// The state spaces that an opcode names.

#include <optional>
#include <string_view>

#include "ptx/module.h"

namespace lw::ptx {

// The space of all addresses of the instruction, if its opcode names exactly one.
std::optional<Space> only_space(const Opcode& opcode);

bool names_space(const Opcode& opcode);

// Instructions whose addresses have 32 bits though no space is named: tensor memory, and the
// matrix moves, where ptxas takes a shared address as it is.
bool takes_narrow_addresses(const Opcode& opcode);

std::string_view word_for(Space space);

}  // namespace lw::ptx
