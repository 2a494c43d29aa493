#include "machine/named_barrier.h"

#include <algorithm>
#include <bit>

#include "base/check.h"

namespace lw::machine {

using base::kWarpSize;
using base::LaneMask;
using base::WarpId;

namespace {

// Bit w: warp w has a lane that has not exited.
uint32_t live_warps(std::span<const LaneMask> live) {
  uint32_t warps = 0;
  for (size_t warp = 0; warp < live.size(); ++warp) warps |= uint32_t{live[warp] != 0} << warp;
  return warps;
}

}  // namespace

std::string_view barrier_fault_text(BarrierFault fault) {
  switch (fault) {
    case BarrierFault::none:
      return "none";
    case BarrierFault::count_zero:
      return "the thread count is 0";
    case BarrierFault::count_not_in_warps:
      return "the thread count is not a multiple of 32";
    case BarrierFault::count_above_cta:
      return "the thread count is more than the CTA has";
    case BarrierFault::count_differs:
      return "the thread count differs from the one the barrier is live with";
    case BarrierFault::too_many_arrivals:
      return "more arrivals than the thread count allows";
    case BarrierFault::reduction_mixed:
      return "`.red` is mixed with `.sync` or `.arrive`";
  }
  return "";
}

const BarrierParticipant* NamedBarrier::find(WarpId warp) const {
  return came_ >> warp.value & 1 ? &participants_[place_[warp.value]] : nullptr;
}

BarrierFault NamedBarrier::check(const BarrierArrival& arrival,
                                 std::span<const LaneMask> live) const {
  const uint32_t cta_threads = static_cast<uint32_t>(live.size()) * kWarpSize;
  const uint32_t threads = arrival.threads.value_or(cta_threads);
  if (threads == 0) return BarrierFault::count_zero;
  if (threads % kWarpSize != 0) return BarrierFault::count_not_in_warps;
  if (threads > cta_threads) return BarrierFault::count_above_cta;
  if (!is_live()) return BarrierFault::none;
  if (threads != warps_ * kWarpSize) return BarrierFault::count_differs;
  if (reduction_ != (arrival.use == BarrierUse::reduce)) return BarrierFault::reduction_mixed;
  const BarrierParticipant* own = find(arrival.warp);
  const bool again = own != nullptr && (own->lanes() & arrival.lanes) != 0;
  // Without a count every live warp is needed, so also one that has not come yet.
  const bool full = own == nullptr && counted_ && participants_.size() == warps_;
  if (again || full) return BarrierFault::too_many_arrivals;
  return BarrierFault::none;
}

BarrierFault NamedBarrier::arrive(const BarrierArrival& arrival, std::span<const LaneMask> live) {
  if (BarrierFault fault = check(arrival, live); fault != BarrierFault::none) return fault;
  if (!is_live()) {
    warps_ = arrival.threads.value_or(static_cast<uint32_t>(live.size()) * kWarpSize) / kWarpSize;
    counted_ = true;
    reduction_ = arrival.use == BarrierUse::reduce;
    threads_true_ = 0;
  }
  counted_ = counted_ && arrival.threads.has_value();
  auto* own = const_cast<BarrierParticipant*>(find(arrival.warp));
  if (own == nullptr) {
    came_ |= 1u << arrival.warp.value;
    place_[arrival.warp.value] = static_cast<uint8_t>(participants_.size());
    own = &participants_.emplace_back();
    own->warp = arrival.warp;
  }
  (arrival.use == BarrierUse::arrive ? own->arrived : own->waiting) |= arrival.lanes;
  own->op = arrival.op;
  own->step = arrival.step;
  threads_true_ += static_cast<uint32_t>(std::popcount(arrival.predicate & arrival.lanes));
  return BarrierFault::none;
}

uint32_t NamedBarrier::warps_needed(std::span<const LaneMask> live) const {
  if (counted_) return warps_;
  return static_cast<uint32_t>(std::popcount(came_ | live_warps(live)));
}

bool NamedBarrier::has_whole_warp(WarpId warp, std::span<const LaneMask> live) const {
  const BarrierParticipant* own = find(warp);
  return own != nullptr && (live[warp.value] & ~own->lanes()) == 0;
}

uint32_t NamedBarrier::whole_warps(std::span<const LaneMask> live) const {
  uint32_t whole = 0;
  for (const BarrierParticipant& participant : participants_)
    whole += (live[participant.warp.value] & ~participant.lanes()) == 0;
  return whole;
}

bool NamedBarrier::is_complete(std::span<const LaneMask> live) const {
  // Most arrivals are not the last one.
  if (counted_ ? participants_.size() < warps_ : (live_warps(live) & ~came_) != 0) return false;
  return is_live() && whole_warps(live) == warps_needed(live);
}

BarrierGeneration NamedBarrier::finish() {
  LW_CHECK(is_live());
  BarrierGeneration done;
  done.number = generation_++;
  done.threads_true = threads_true_;
  for (const BarrierParticipant& participant : participants_)
    done.threads_taking_part += static_cast<uint32_t>(std::popcount(participant.lanes()));
  done.participants = participants_;
  participants_.clear();  // and keeps its memory
  came_ = 0;
  return done;
}

std::vector<WarpId> NamedBarrier::missing(std::span<const LaneMask> live) const {
  std::vector<WarpId> warps;
  for (size_t index = 0; index < live.size(); ++index) {
    const WarpId warp(static_cast<uint16_t>(index));
    if (live[index] != 0 && !has_whole_warp(warp, live)) warps.push_back(warp);
  }
  return warps;
}

}  // namespace lw::machine
