#pragma once

#include "machine/semantics/parallel_synchronization/mbarrier_site.h"

namespace lw::machine {

// `lanes` have executed the wait `op` and it returned true.
void pass_wait(const Op& op, Warp& warp, base::LaneMask lanes, const MbarrierEntry& entry);

}  // namespace lw::machine
