#pragma once
// Why a group of lanes cannot run. It is kept with the group, so that whoever makes the reason go
// away can find it, and so that a deadlock can be reported: who waits for what, since which line.

#include <cstdint>

#include "base/ids.h"

namespace lw::machine {

struct Wait {
  enum class Kind : uint8_t {
    none,             // can run
    named_barrier,    // object: number, phase: generation
    cluster_barrier,  // phase: generation
    warp_collective,  // object: member mask; waits for the lanes of it that are elsewhere
    mbarrier,         // object: offset in the CTA's shared memory, phase: the one waited for
    async_group,  // object: 0 cp.async, 1 bulk reads, 2 bulk writes; phase: groups that may be left
    register_pool,    // setmaxnreg.inc; object: registers asked for
    tensor_columns,   // tcgen05.alloc; phase: columns asked for
    grid_dependency,  // griddepcontrol.wait; object: the grid waited for
    hold,             // a policy's; object: its own number
    error,            // stays where it met one (Options::park_faults)
  };
  Kind kind = Kind::none;
  uint64_t object = 0;
  uint64_t phase = 0;
  base::OpId instruction;   // that waits
  uint64_t since_step = 0;  // Machine::steps() when it began
};

}  // namespace lw::machine
