// Could the phases of an mbarrier have come out otherwise (rule book 17.2)? D-2: an arrival or a
// copy must be C-after the phase before, or it may land there. D-3: the next completion must be
// C-after every wait on the phase before, or a slow waiter is lapped. D-3b: an expect_tx must be
// C-before some arrival of its phase, or the phase may end before the bytes are counted.
//
// The first test is one comparison with the object's component; only where that fails the events
// are compared one by one, since they may be known by another path. Bytes cannot be.

#include <algorithm>

#include "order/mbarrier.h"

namespace lw::order {
namespace {

bool knows_phase(const Warp& warp, LaneMask lanes, const MbarrierState& state) {
  for (const LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    const Clock* clock = group.bundle.clock(View::kControl);
    if (clock == nullptr || clock->all_lanes(state.component) < state.phase) return false;
  }
  return true;
}

// The common form, arrive.expect_tx.
bool followed_by_own_arrival(const MbarrierState& state, const ControlEvent& expect) {
  return std::any_of(state.arrived.begin(), state.arrived.end(), [&](const ControlEvent& arrival) {
    return arrival.warp == expect.warp && arrival.count >= expect.count &&
           (expect.lanes & ~arrival.lanes) == 0;
  });
}

Unforced fact_of(RuleId rule, CtaId cta, const MbarrierState& state, const Party& first,
                 const Party& second) {
  return {rule, cta, false, state.offset, state.phase + 1, first, second, 0};
}

// Who made the phase complete, as far as it matters for a report.
Party completer(const Cta& cta, const MbarrierState& state) {
  return party_of(CtaId{cta.id}, state.arrived.empty() ? state.last_copy : state.arrived.back());
}

}  // namespace

void check_forced(Core& core, const MbarrierState& state, const Warp& warp, OpId op,
                  LaneMask lanes) {
  if (state.phase == 0 || knows_phase(warp, lanes, state)) return;
  const CtaId cta{warp.cta->id};
  const Party now = party_of(warp, op, lanes, warp.count);
  for (const ControlEvent& before : state.previous) {
    if (knows_event(warp, lanes, before, View::kControl)) continue;
    return core.findings.unforced(fact_of(RuleId::kD2, cta, state, party_of(cta, before), now));
  }
  if (!state.previous_had_bytes) return;
  core.findings.unforced(fact_of(RuleId::kD2, cta, state, party_of(cta, state.last_copy), now));
}

void check_expected(Core& core, const Cta& cta, const MbarrierState& state) {
  BundleRef joined;
  for (const ControlEvent& expect : state.expected) {
    if (followed_by_own_arrival(state, expect)) continue;
    if (joined.get() == nullptr) joined = join_contributions(state.arrivals, {});
    if (knows_event(joined.clock(View::kControl), expect)) continue;
    core.findings.unforced(fact_of(RuleId::kD3b, CtaId{cta.id}, state,
                                   party_of(CtaId{cta.id}, expect), completer(cta, state)));
  }
}

void check_lapping(Core& core, const Cta& cta, const MbarrierState& state) {
  for (const ControlEvent& wait : state.waited) {
    if (knows_event(state.done.clock(View::kControl), wait)) continue;
    core.findings.unforced(fact_of(RuleId::kD3, CtaId{cta.id}, state, party_of(CtaId{cta.id}, wait),
                                   completer(cta, state)));
  }
}

}  // namespace lw::order
