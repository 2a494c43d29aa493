#pragma once
// Integer, logic and move instructions that every kernel runs all the time.

#include "machine/semantics/levels.h"
#include "ptx/tokens.h"

namespace lw::machine {

enum class HotInteger : uint8_t {
  add,
  sub,
  mul_lo,
  mul_wide,
  mad_lo,
  mad_wide,
  min,
  max,
  bit_and,
  bit_or,
  bit_xor,
  bit_not,
  shl,
  shr,
  mov,
  selp,  // c is a predicate
};

// d, a, b, c of this type (mul_wide, mad_wide: d, and c, twice as wide).
LW_LEVELS(hot_integer, (HotInteger what, ptx::Type type), (what, type))

}  // namespace lw::machine
