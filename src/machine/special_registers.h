#pragma once
// The values of special registers (PTX: Special Registers).

#include <cstdint>

#include "machine/warp.h"
#include "ptx/module.h"

namespace lw::machine {

// Of a lane, as the warp starts. `warp.cta` is complete but for its cluster: rank and size are
// there.
uint64_t read_special(const Warp& warp, ptx::SpecialRegister special, uint32_t lane);

// Lanes of a warp may see different values.
bool differs_by_lane(ptx::SpecialRegister special);

// Clocks and what the scheduler decides: of this moment.
uint64_t read_dynamic_special(Warp& warp, ptx::SpecialRegister special);

}  // namespace lw::machine
