#pragma once
// One of the sixteen named barriers of a CTA (`bar`, `barrier`; PTX: Parallel Synchronization and
// Communication Instructions), as a state machine without threads, memory or time.
//
// A barrier that somebody has arrived at is *live*: it has a count of threads, given by its first
// arrival, and the warps that arrived. A warp counts as a whole, 32 threads, once all of its lanes
// that have not exited have arrived; lanes of a divergent warp may arrive one after another
// (`barrier.*`), and all of them wait for each other, those of an `arrive` too. When enough warps
// have counted the generation is complete: `finish` hands out who took part and the barrier is idle
// again, so its number can be used at once.
//
// Without a count all threads of the CTA take part, and then those that exit drop out. With a count
// a warp that has exited is not replaced (rule B-11), which is a deadlock that the caller reports.
// Only the faults that the barrier itself can see are told here (rules B-6, B-8, B-10); whether the
// lanes were together, as `.aligned` asks, is the caller's.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace lw::machine {

inline constexpr uint32_t kNamedBarrierCount = 16;

enum class BarrierUse : uint8_t { sync, arrive, reduce };

enum class BarrierFault : uint8_t {
  none,
  count_zero,          // an arrive, or a sync, that states a count of 0
  count_not_in_warps,  // not a multiple of 32
  count_above_cta,     // more threads than the CTA has
  count_differs,       // from the count of the arrival that made the barrier live
  too_many_arrivals,   // a lane for the second time, or more warps than the count
  reduction_mixed,     // `.red` beside `.sync` or `.arrive` on one live barrier
};
std::string_view barrier_fault_text(BarrierFault fault);
// Whatever the state of the barrier.
constexpr bool is_alone_wrong(BarrierFault fault) {
  return fault == BarrierFault::count_zero || fault == BarrierFault::count_not_in_warps ||
         fault == BarrierFault::count_above_cta;
}

struct BarrierArrival {
  base::WarpId warp;
  base::LaneMask lanes = 0;
  BarrierUse use = BarrierUse::sync;
  std::optional<uint32_t> threads;  // the count operand, if there is one
  base::LaneMask predicate = 0;     // `.red`: the lanes whose predicate is true
  base::OpId op;
  base::Step step;
};

// What one warp has done at a live barrier.
struct BarrierParticipant {
  base::WarpId warp;
  base::LaneMask waiting = 0;  // lanes held until the generation is complete
  base::LaneMask arrived = 0;  // lanes that only signalled
  base::OpId op;               // of its latest arrival
  base::Step step;             // of its latest arrival

  base::LaneMask lanes() const { return waiting | arrived; }
};

struct BarrierGeneration {
  uint64_t number = 0;        // from 0, per barrier
  uint32_t threads_true = 0;  // `.red`: lanes whose predicate was true
  uint32_t threads_taking_part = 0;
  std::vector<BarrierParticipant> participants;  // in order of first arrival
};

class NamedBarrier {
 public:
  // `live` holds the lanes of each warp of the CTA that have not exited. Nothing changes on a
  // fault.
  BarrierFault arrive(const BarrierArrival& arrival, std::span<const base::LaneMask> live);

  bool is_live() const { return !participants_.empty(); }
  bool is_complete(std::span<const base::LaneMask> live) const;
  // All lanes of `warp` that have not exited are here: its `arrive`s need not wait any longer.
  bool has_whole_warp(base::WarpId warp, std::span<const base::LaneMask> live) const;

  // Ends the complete generation; the barrier is idle afterwards.
  BarrierGeneration finish();

  uint64_t generation() const { return generation_; }
  const std::vector<BarrierParticipant>& participants() const { return participants_; }
  // Warps whose arrival is still needed and may come, for the report of a deadlock.
  std::vector<base::WarpId> missing(std::span<const base::LaneMask> live) const;
  uint32_t warps_needed(std::span<const base::LaneMask> live) const;

 private:
  const BarrierParticipant* find(base::WarpId warp) const;
  uint32_t whole_warps(std::span<const base::LaneMask> live) const;
  BarrierFault check(const BarrierArrival& arrival, std::span<const base::LaneMask> live) const;

  static constexpr size_t kMaxWarps = 32;  // of a CTA

  uint64_t generation_ = 0;
  uint32_t warps_ = 0;    // counted: the count in warps
  bool counted_ = false;  // every arrival stated a count
  bool reduction_ = false;
  uint32_t threads_true_ = 0;
  uint32_t came_ = 0;                       // bit w: warp w takes part
  std::array<uint8_t, kMaxWarps> place_{};  // of a warp that takes part, in participants_
  std::vector<BarrierParticipant> participants_;
};

}  // namespace lw::machine
