#pragma once
// f32 arithmetic that every kernel runs all the time: round to nearest, with or without .ftz.

#include "machine/semantics/levels.h"

namespace lw::machine {

enum class HotFloat : uint8_t { add, sub, mul, fma, min, max, neg, abs };

LW_LEVELS(hot_f32, (HotFloat what, bool ftz), (what, ftz))

}  // namespace lw::machine
