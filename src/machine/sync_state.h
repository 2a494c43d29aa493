#pragma once
// What the synchronisation instructions keep beside a CTA and beside a warp.

#include <array>

#include "machine/async_groups.h"
#include "machine/mbarrier.h"
#include "machine/named_barrier.h"

namespace lw::machine {

struct CtaSyncState {
  std::array<NamedBarrier, kNamedBarrierCount> named_barriers;
  MbarrierTable mbarriers;
  uint32_t free_registers = 0;  // given up by setmaxnreg.dec, in registers of one thread times 32
};

struct WarpSyncState {
  AsyncGroups copies;       // cp.async
  AsyncGroups bulk_copies;  // cp.async.bulk, cp.reduce.async.bulk with .bulk_group
  uint32_t registers = 0;   // per thread, once setmaxnreg has changed it
};

}  // namespace lw::machine
