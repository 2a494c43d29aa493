#pragma once
// A CTA that is resident on an SM: its warps, its shared memory, its barriers.

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/ids.h"
#include "machine/sync_state.h"
#include "machine/warp.h"
#include "program/program.h"

namespace lw::machine {

struct Launch;

struct Dim3 {
  uint32_t x = 1, y = 1, z = 1;
  uint64_t count() const { return uint64_t{x} * y * z; }
  friend bool operator==(Dim3, Dim3) = default;
};

class Cta {
 public:
  Machine* machine = nullptr;
  Launch* launch = nullptr;
  const program::Program* program = nullptr;
  base::CtaId id;              // over the whole run
  uint32_t index_in_grid = 0;  // linear
  Dim3 position;               // %ctaid
  uint32_t sm = 0;
  uint32_t cluster_rank = 0;
  std::span<Cta* const> cluster;  // all CTAs of its cluster by rank, itself too

  std::vector<Warp> warps;
  // Poison at the start.
  std::span<std::byte> shared;
  // The live lanes of each warp, in one row: what the named barriers ask for.
  std::vector<base::LaneMask> live_lanes;

  uint32_t ready = 0;       // bit w: warp w has a group that can run
  uint32_t warps_left = 0;  // that have not exited
  uint32_t operations_pending =
      0;                   // asynchronous ones that it issued; it stays until they are done
  bool triggered = false;  // griddepcontrol.launch_dependents
  CtaSyncState sync;

  Warp& warp(base::WarpId id) { return warps[id.value]; }
  void set_ready(base::WarpId warp);
  void clear_ready(base::WarpId warp);

  // Makes every group of the CTA runnable that waits for this. Returns whether there were any.
  bool wake(Wait::Kind kind, uint64_t object);
  // The `.shared::cluster` address of the first byte: kSharedBase, and the rank above it.
  uint32_t shared_base() const {
    return program::kSharedBase + (cluster_rank << program::kRankShift);
  }
  // The bytes at an offset in it, null if outside.
  std::byte* shared_bytes(uint64_t offset, uint64_t size) {
    if (offset >= shared.size() || size > shared.size() - offset) return nullptr;
    return shared.data() + offset;
  }
};

}  // namespace lw::machine
