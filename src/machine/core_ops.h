#pragma once
// The Ops that are no PTX instruction of their own: labels, branches, guards, exits, watches.

#include <string_view>

#include "machine/warp.h"
#include "program/decode.h"

namespace lw::machine {

const program::CoreHandlers& core_handlers();

// Lanes part from the others here (rule W-10).
void note_way(Warp& warp, LaneMask lanes, const Op* target);

inline constexpr std::string_view kStackIsFull = "the stack of a thread is full, at 16 KiB";

}  // namespace lw::machine
