#pragma once
// What the synchronisation instructions keep beside a CTA and beside a warp.

#include <array>
#include <optional>

#include "machine/async_groups.h"
#include "machine/mbarrier.h"
#include "machine/named_barrier.h"

namespace lw::machine {

struct CtaSyncState {
  std::array<NamedBarrier, kNamedBarrierCount> named_barriers;
  MbarrierTable mbarriers;
  uint32_t free_registers = 0;   // given up by setmaxnreg.dec, in registers of one thread times 32
  bool is_told_cluster = false;  // a cluster of itself alone, told to the order engine
  bool uses_tensor_memory = false;  // has allocated
  bool relinquished_tensor_memory = false;
  uint32_t tensor_columns = 0;  // of the last tcgen05.alloc
  // tcgen05.alloc of a pair of CTAs: columns that this one asks for (0: none), and the first of
  // those that both have got.
  uint32_t pair_asks = 0;
  std::optional<uint32_t> pair_given;
};

struct WarpSyncState {
  AsyncGroups copies;       // cp.async
  AsyncGroups bulk_copies;  // cp.async.bulk, cp.reduce.async.bulk with .bulk_group
  AsyncGroups products;     // tcgen05.mma and tcgen05.cp, in order of issue; never committed
  base::LaneMask at_cluster_barrier = 0;  // lanes that have arrived in its present phase
  base::LaneMask owes_cluster_wait = 0;   // that have arrived and not waited
  uint32_t registers = 0;                 // per thread, once setmaxnreg has changed it
};

}  // namespace lw::machine
