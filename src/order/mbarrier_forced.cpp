// Could the phases of an mbarrier have come out otherwise (rule book 17.2)?
//
// D-2: an arrival or a copy must be C-after the phase before, or it may land there; and a signal
// must land in the phase in which its operation was issued. D-3: the next completion must be
// C-after every wait on the phase before, or a slow waiter is lapped; and the wait must be C-after
// the phase before its own, or a quick waiter takes that of two phases ago, whose parity is the
// same. D-3b: an expect_tx must be C-before some arrival of its phase, or the phase may end before
// the bytes are counted.
//
// Knowledge of a phase is one comparison with the object's component; only where that fails the
// events are compared one by one, since they may be known by another path. Bytes cannot be. As long
// as D-2 holds, whoever knows a phase knows the one before; once it has failed it is no news that
// waits may be matched otherwise too.

#include <algorithm>
#include <optional>

#include "order/mbarrier.h"

namespace lw::order {
namespace {

bool has_reached(const MbarrierState& state, const Warp& warp, LaneMask lanes,
                 const CompletedPhase& phase) {
  for (const LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    const Clock* clock = clock_of(group.bundle.clock(View::kControl), warp.cta->id, state.cta);
    if (clock == nullptr || clock->all_lanes(phase.component) < phase.number) return false;
  }
  return true;
}

// An arrival or a copy of the phase that the lanes do not know to have happened.
std::optional<ControlEvent> unknown_part(const Warp& warp, LaneMask lanes,
                                         const CompletedPhase& phase) {
  for (const ControlEvent& event : phase.arrived)
    if (!knows_event(warp, lanes, event, View::kControl)) return event;
  return phase.had_bytes ? std::optional(phase.last_copy) : std::nullopt;
}

// The common form, arrive.expect_tx.
bool followed_by_own_arrival(const MbarrierState& state, const ControlEvent& expect) {
  return std::any_of(state.arrived.begin(), state.arrived.end(), [&](const ControlEvent& arrival) {
    return arrival.cta == expect.cta && arrival.warp == expect.warp &&
           arrival.count >= expect.count && (expect.lanes & ~arrival.lanes) == 0;
  });
}

Unforced fact_of(RuleId rule, const MbarrierState& state, const Party& first, const Party& second,
                 uint64_t since) {
  return {rule, CtaId{state.cta}, false, state.offset, state.phase + 1, first, second, 0, since};
}

// Who made the phase complete, as far as it matters for a report.
Party completer(const MbarrierState& state) {
  const CompletedPhase& last = state.last;
  return party_of(last.arrived.empty() ? last.last_copy : last.arrived.back());
}

}  // namespace

void check_forced(Core& core, MbarrierState& state, const Warp& warp, OpId op, LaneMask lanes) {
  if (state.phase == 0 || has_reached(state, warp, lanes, state.last)) return;
  const auto missing = unknown_part(warp, lanes, state.last);
  if (!missing) return;
  state.in_doubt = true;
  const bool knows_before = has_reached(state, warp, lanes, state.before);
  core.findings.unforced(fact_of(RuleId::kD2, state, party_of(*missing),
                                 party_of(warp, op, lanes, warp.count),
                                 knows_before ? state.last.at : state.first_completed_at));
}

void check_landing(Core& core, MbarrierState& state, const Pending& pending) {
  if (pending.phase == state.phase) return;
  state.in_doubt = true;
  core.findings.unforced(fact_of(RuleId::kD2, state, completer(state), party_of(pending.event),
                                 state.first_completed_at));
}

void check_early_wait(Core& core, const MbarrierState& state, const Warp& warp, OpId op,
                      LaneMask lanes, bool passed) {
  const CompletedPhase& before = passed ? state.before : state.last;
  if (state.in_doubt || before.number == 0) return;
  if (has_reached(state, warp, lanes, before) || has_reached(state, warp, lanes, state.last))
    return;
  const auto missing = unknown_part(warp, lanes, before);
  if (!missing) return;
  core.findings.unforced(fact_of(RuleId::kD3, state, party_of(*missing),
                                 party_of(warp, op, lanes, warp.count), core.accesses() + 1));
}

void check_expected(Core& core, MbarrierState& state) {
  BundleRef joined;
  for (const ControlEvent& expect : state.expected) {
    if (followed_by_own_arrival(state, expect)) continue;
    if (joined.get() == nullptr) joined = join_across(state.cta, state.arrivals, {}, true);
    if (knows_event(joined.clock(View::kControl), state.cta, expect)) continue;
    const ControlEvent& other = state.arrived.empty() ? state.last_copy : state.arrived.back();
    core.findings.unforced(
        fact_of(RuleId::kD3b, state, party_of(expect), party_of(other), core.accesses() + 1));
  }
}

void check_lapping(Core& core, const MbarrierState& state) {
  for (const MbarrierState::Wait& wait : state.waited) {
    if (knows_event(state.done.clock(View::kControl), state.cta, wait.event)) continue;
    core.findings.unforced(
        fact_of(RuleId::kD3, state, party_of(wait.event), completer(state), wait.at));
  }
}

}  // namespace lw::order
