#pragma once
// Loads and stores of common shapes (weak, shared or global, 2 to 16 bytes a lane).

#include "machine/semantics/data_movement/access.h"
#include "machine/semantics/levels.h"

namespace lw::machine {

// Handlers of an access of this shape; null ones if only the general path does it.
LW_LEVELS(hot_load, (const AccessShape& shape), (shape))
LW_LEVELS(hot_store, (const AccessShape& shape), (shape))

}  // namespace lw::machine
