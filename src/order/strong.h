#pragma once
// Words through which threads synchronise (rule book 10), and what a warp has in effect for them.

#include <array>
#include <memory>
#include <vector>

#include "order/facts.h"
#include "order/observed.h"
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
    uint64_t at = 0;         // the first of them: accesses of the run until then
    uint32_t execution = 0;  // of its instruction by the warp, if that is watched
    bool repeated = false;   // the same lanes did it before:
    uint32_t before = 0;     // their count then
  };
  // A read of lanes that poll (poll.cpp).
  struct Poll {
    Event read;
    uint32_t version = 0;        // of the word as it was read
    uint32_t lowest = 0;         // that one and all before it from here on were seen, and failed
    uint32_t first_version = 0;  // as the lanes came to the loop,
    uint32_t first_unknown = 0;  // and the writes until then that they knew nothing of
    uint32_t unknown = 0;        // the same when this was read: what the loop taught does not count
    Event write;                 // the last of those
    std::vector<Event> chain;    // all of those, if they come in this order in every schedule
    bool failed = false;         // the lanes went around again
    bool overtaken = false;      // a write came that knows nothing of the read
    Event overtaker;
  };
  using Neutral = std::array<ClockRef, kViews>;  // clocks of no CTA

  std::vector<Releases> by_cta;  // of any scope, for readers of the same CTA
  struct InCluster {
    uint32_t cluster;
    Neutral releases;
  };
  std::vector<InCluster> by_cluster;  // of its CTAs, at its scope or wider, for each other
  Neutral wide;                       // of scope gpu and sys, for readers of other CTAs
  Neutral always;                     // E and C of all, whatever the scopes
  Event last_writer{kNoCta, {}};
  std::vector<Event> writes;      // for D-5: the last of each warp and set of lanes
  std::vector<Event> live_reads;  // the same of reads whose value is used
  std::vector<Poll> polls;
  // The latest writes, each a release whose thread has acquired the one before it: in every
  // schedule the word takes their values in this order, and a reader of one has what those before
  // it release.
  std::vector<Event> chain;
  uint32_t version = 0;  // counts strong writes
  Observations observations;
};
using WordKey = std::pair<uint32_t, uint64_t>;  // owner (kNoCta: global) and address

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
  Word::Neutral cluster;
  Word::Neutral wide;
};

// Lanes whose last read by `op` may prove to be one that failed.
struct OpenPoll {
  WordKey word;
  OpId op;
  LaneMask lanes = 0;
};

struct WarpStrong {
  std::vector<FenceRecord> fences;
  std::vector<PendingAcquire> pending;
  std::vector<OpenPoll> polls;
};

struct Core;
WarpStrong& strong_of(Warp& warp);
// Is the event C-before what the lanes do now?
bool knows(const Core& core, const Warp& warp, LaneMask lanes, const Word::Event& event,
           View view = View::kControl);
Party party_of(const Word::Event& event, Kind kind);

// D-6 (poll.cpp). A read that polls; a write, before it counts as one of the word's; the end of a
// word's life.
void poll_read(const Core& core, Warp& warp, Word& word, const WordKey& key,
               const Word::Event& now);
// `release`: to all threads of the GPU.
void chain_written(const Core& core, const Warp& warp, Word& word, const Word::Event& now,
                   bool release);
void poll_written(const Core& core, const Warp& warp, Word& word, const Word::Event& now);
void settle_polls(Core& core, Word& word, const WordKey& key);

}  // namespace lw::order
