#pragma once
// Numbers as PTX spells them: 12, 0x1F, 0b11, 017, each with an optional U; 1.5, 1., 2e-3;
// 0f3F800000 and 0d3FF0000000000000, the bits of a float. PTX ISA, section Constants.

#include <cstdint>
#include <optional>
#include <string_view>

#include "ptx/module.h"

namespace lw::ptx {

struct Number {
  Literal literal = Literal::integer;
  uint64_t bits = 0;  // of a decimal: those of the double
};

// Nothing if the text is not a number, or does not fit 64 bits.
std::optional<Number> parse_number(std::string_view text);

}  // namespace lw::ptx
