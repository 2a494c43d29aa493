#pragma once

#include "machine/machine.h"
#include "program/flat.h"

namespace lw::prove {

// The code that a launch ran, with the ids that the machine gave its instructions when it decoded
// them.
program::FlatCode flat_code(const machine::Machine& machine, const machine::Launch& launch);

}  // namespace lw::prove
