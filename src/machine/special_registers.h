#pragma once
// The values of special registers (PTX: Special Registers).

#include <array>
#include <cstdint>

#include "machine/warp.h"
#include "ptx/module.h"

namespace lw::machine {

// Of a lane, as the warp starts. `warp.cta` is complete but for its cluster: rank and size are
// there.
uint64_t read_special(const Warp& warp, ptx::SpecialRegister special, uint32_t lane);
// Of all its lanes.
using LaneValues = std::array<uint64_t, base::kWarpSize>;
LaneValues read_special(const Warp& warp, ptx::SpecialRegister special);

// Clocks and what the scheduler decides: of this moment.
uint64_t read_dynamic_special(Warp& warp, ptx::SpecialRegister special);

}  // namespace lw::machine
