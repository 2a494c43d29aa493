#include <fmt/format.h>

#include "machine/machine.h"
#include "machine/semantics/parallel_synchronization/warp_meeting.h"
#include "machine/sync_hooks.h"

namespace lw::machine {

std::string describe_wait(const Cta& cta, const Warp& warp, const Group& group) {
  const Wait& wait = group.wait;
  switch (wait.kind) {
    case Wait::Kind::named_barrier:
      return describe_named_barrier(cta, wait);
    case Wait::Kind::mbarrier:
      return describe_mbarrier(cta, wait);
    case Wait::Kind::async_group:
      return describe_async_group(warp, group);
    case Wait::Kind::warp_collective:
      return describe_meeting(warp, group);
    case Wait::Kind::cluster_barrier:
      return "the barrier of its cluster";
    case Wait::Kind::register_pool:
      return fmt::format("{} registers a thread more, of which its CTA has {} free", wait.phase,
                         cta.sync.free_registers);
    case Wait::Kind::tensor_columns:
      return fmt::format("{} columns of tensor memory, of which its SM has {} free", wait.phase,
                         cta.machine->tensor_memory(cta.sm).free_columns());
    case Wait::Kind::grid_dependency:
      return "the launches before its own";
    case Wait::Kind::error:
      return "nothing: it has met an error";
    case Wait::Kind::hold:
      return "being held by the schedule";
    case Wait::Kind::none:
      return "its turn";
  }
  return "";
}

}  // namespace lw::machine
