#pragma once
// What the machine asks the synchronisation families, outside their instructions.

#include <string>

#include "machine/warp.h"

namespace lw::machine {

// Lanes of `warp` have exited (Cta::live_lanes knows): barriers that waited only for them complete.
void release_barriers_after_exit(Warp& warp);

// What a group waits for and what is missing, in words, for the report of a deadlock.
std::string describe_named_barrier(const Cta& cta, const Wait& wait);
std::string describe_mbarrier(const Cta& cta, const Wait& wait);
std::string describe_async_group(const Warp& warp, const Group& group);
std::string describe_wait(const Cta& cta, const Warp& warp, const Group& group);

}  // namespace lw::machine
