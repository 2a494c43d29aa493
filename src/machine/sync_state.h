#pragma once
// What the synchronisation instructions keep beside a CTA and beside a warp.

#include <array>

#include "machine/mbarrier.h"
#include "machine/named_barrier.h"

namespace lw::machine {

struct CtaSyncState {
  std::array<NamedBarrier, kNamedBarrierCount> named_barriers;
  MbarrierTable mbarriers;
};

struct WarpSyncState {};

}  // namespace lw::machine
