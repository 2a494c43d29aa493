#pragma once
// Comparisons of two lanes, as masks. A comparison operator becomes one of a few tests, possibly
// with its operands swapped and its answer turned: `ge` of integers is not `lt`, `gtu` of floats
// (greater or unordered) is not `le`.

#include "machine/semantics/levels.h"
#include "program/decoder.h"
#include "ptx/module.h"

namespace lw::machine {

enum class Test : uint8_t {
  equal,
  less,
  less_or_equal,
  ordered,    // neither is NaN
  not_equal,  // and neither is NaN
};

struct Comparison {
  Test test = Test::equal;
  bool swapped = false;
  bool turned = false;
};

Comparison comparison_of(ptx::Mod op, bool is_float);
// The comparison operator among the modifiers.
Comparison comparison_of(const ptx::Opcode& opcode, ptx::Type type);

// `detail` of a setp Op: how the answer p is made from the test t and the predicate c, and whether
// the complement is wanted as well, in the slot at `immediate`.
inline constexpr uint16_t kTurned = 1;
inline constexpr uint16_t kAnd = 2;
inline constexpr uint16_t kOr = 4;
inline constexpr uint16_t kXor = 8;
inline constexpr uint16_t kComplement = 16;

// Predicate d from a, b and predicate c. Type: an integer type, f32, f64 (`flush`: .ftz).
LW_LEVELS(hot_setp, (Test test, ptx::Type type, bool flush), (test, type, flush))

}  // namespace lw::machine
