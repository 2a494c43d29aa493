#pragma once
// Waiting for async-groups: what the waits of cp.async and of bulk copies share.

#include "machine/sync_state.h"
#include "machine/warp.h"

namespace lw::machine {

// Wait::object of Wait::Kind::async_group.
enum class GroupWait : uint64_t { copies, bulk_reads, bulk_writes };

// Wait::phase of cp.async.wait_all.
inline constexpr uint64_t kWaitForAll = ~uint64_t{0};

// The operation of `warp` has come this far: notes it and lets go whom it suffices. `group.at` of a
// waiting group is its wait instruction; it goes on behind it.
void copies_done(Warp& warp, const void* operation, CopyPart part);
void bulk_copies_done(Warp& warp, const void* operation, CopyPart part);

}  // namespace lw::machine
