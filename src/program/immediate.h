#pragma once
// The bits that an immediate operand has when it is read as a type.

#include <cstdint>

#include "ptx/module.h"

namespace lw::program {

// Truncated to the type's width; a predicate becomes 0 or all ones. Decimal and hexadecimal floats
// are rounded to the type.
uint64_t immediate_bits(const ptx::Operand& operand, ptx::Type type);

}  // namespace lw::program
