// Is the state that lanes find an object in the same in all schedules? An error that depends on it
// (too many arrivals, an object that is in use) is there in all schedules only then. The question
// is asked when all that does not wait for these lanes has happened: the state is settled if they
// know of everything that was ever done to the object.

#include "order/mbarrier.h"

namespace lw::order {
namespace {

Unforced fact_of(RuleId rule, const Warp& warp, OpId op, LaneMask lanes,
                 const ControlEvent& unknown) {
  Unforced fact;
  fact.rule = rule;
  fact.cta = CtaId{warp.cta->id};
  fact.first = party_of(unknown);
  fact.second = party_of(warp, op, lanes, warp.count);
  return fact;
}

// What was done to the object that the lanes do not know of.
std::vector<ControlEvent> unknown_uses(const Warp& warp, LaneMask lanes, const MbarrierState& state,
                                       Engine::Asks asks) {
  std::vector<ControlEvent> unknown;
  const auto ask = [&](const ControlEvent& event) {
    if (!knows_event(warp, lanes, event, View::kControl)) unknown.push_back(event);
  };
  ask(state.init);
  if (asks == Engine::Asks::life) return unknown;
  if (state.ever_had_bytes) unknown.push_back(state.last_copy);  // lands when it likes
  for (const ControlEvent& use : state.uses) ask(use);
  return unknown;
}

bool overlaps(uint32_t object, Range shared) {
  return object < shared.base + shared.bytes && shared.base < object + kMbarrierBytes;
}

}  // namespace

std::vector<Unforced> Engine::unsettled(const Warp& warp, OpId op, LaneMask lanes, Range shared,
                                        Asks asks) const {
  std::vector<Unforced> facts;
  const auto tell = [&](uint32_t offset, uint32_t phase, const ControlEvent& unknown) {
    Unforced& fact = facts.emplace_back(fact_of(RuleId::kD2, warp, op, lanes, unknown));
    fact.object = offset;
    fact.generation = phase + 1;
  };
  for (const auto& [offset, state] : warp.cta->mbarriers) {
    if (!overlaps(offset, shared)) continue;
    for (const ControlEvent& unknown : unknown_uses(warp, lanes, state, asks))
      tell(offset, state.phase, unknown);
  }
  for (const auto& [offset, end] : warp.cta->ended_mbarriers) {
    if (overlaps(offset, shared) && !knows_event(warp, lanes, end, View::kControl))
      tell(offset, 0, end);
  }
  return facts;
}

std::vector<Unforced> Engine::unsettled(const Warp& warp, OpId op, LaneMask lanes,
                                        BarrierId id) const {
  std::vector<Unforced> facts;
  const NamedBarrier& barrier = warp.cta->barriers[id.value];
  for (const auto* list : {&barrier.arrivals, &barrier.previous}) {
    for (const NamedBarrier::Arrival& arrival : *list) {
      if (knows_event(warp, lanes, arrival.event, View::kControl)) continue;
      Unforced& fact = facts.emplace_back(fact_of(RuleId::kD4, warp, op, lanes, arrival.event));
      fact.named_barrier = true;
      fact.object = id.value;
      fact.generation = barrier.generation + 1;
    }
  }
  return facts;
}

bool Engine::comes_after_race(const Warp& warp, LaneMask lanes) const {
  return core_->raced.reach(*core_, warp, lanes);
}

bool is_surely_live(const Warp& warp, LaneMask lanes, uint64_t address) {
  for (const auto& [offset, state] : warp.cta->mbarriers) {
    if (address >= offset && address < offset + kMbarrierBytes)
      return knows_event(warp, lanes, state.init, View::kControl);
  }
  return false;
}

}  // namespace lw::order
