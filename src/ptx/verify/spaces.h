#pragma once
// The state spaces that an opcode names.

#include <optional>
#include <string_view>

#include "ptx/module.h"

namespace lw::ptx {

// The space of all addresses of the instruction, if its opcode names exactly one.
std::optional<Space> only_space(const Opcode& opcode);

bool names_space(const Opcode& opcode);

// Instructions whose addresses are tensor memory, or a matrix in it: registers of 32 bits.
bool is_tensor_memory(const Opcode& opcode);

std::string_view word_for(Space space);

}  // namespace lw::ptx
