#pragma once
// Words through which threads synchronise (rule book 10), and what a warp has in effect for them.

#include <array>
#include <memory>
#include <vector>

#include "order/publish.h"

namespace lw::order {

// What a reader of a word gets: the releases of the writes it observes, which are the last plain
// write and the atomics since (PTX ISA 8.9.2).
struct Word {
  struct Releases {
    uint32_t cta;
    BundleRef bundle;  // in the clocks of that CTA; relaxed writes are in its C alone
  };
  struct Event {
    uint32_t cta;
    ControlEvent event;
  };
  using Neutral = std::array<ClockRef, kViews>;  // clocks of no CTA

  std::vector<Releases> by_cta;  // of any scope, for readers of the same CTA
  Neutral wide;                  // of scope gpu and sys, for readers of other CTAs
  Neutral always;                // E and C of all, whatever the scopes
  Event last_writer{kNoCta, {}};
  std::vector<Event> writes;      // for D-5: the last of each warp and set of lanes
  std::vector<Event> live_reads;  // the same of reads whose value is used
};

// A fence that can release takes effect with the lane's later strong writes (M-10): it covers what
// the lane had done and knew at the fence.
struct FenceRecord {
  LaneMask lanes = 0;
  Scope scope = Scope::kCta;
  uint32_t count = 0;
  Standing standing;
};

// What relaxed reads have observed, until a fence that can acquire (M-11).
struct PendingAcquire {
  LaneMask lanes = 0;
  BundleRef same_cta;
  Word::Neutral wide;
};

struct WarpStrong {
  std::vector<FenceRecord> fences;
  std::vector<PendingAcquire> pending;
};

}  // namespace lw::order
