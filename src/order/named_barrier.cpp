// CTA barriers (rule book 4; PTX ISA 9.7.13.1 and 8.9.4 rule 2).
//
// A completion gives every sync or red participant what all participants, arrive included, had done
// (B-1, B-2); an arriver learns nothing (B-3); copies in flight are not covered (B-4), because they
// are components of their own that an arriver knows only after its wait.
// D-4: an arrival for generation n + 1 must be C-after every arrival of n, else it may join n.

#include "base/check.h"
#include "order/core.h"

namespace lw::order {
namespace {

constexpr ViewSet kNotAsync = view_bit(View::kCausality) | kExecutionAndControl;

bool knows_generation(const Warp& warp, LaneMask lanes, const NamedBarrier& barrier,
                      uint32_t generation) {
  for (const LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0 || generation == 0) continue;
    const Clock* clock = group.bundle.clock(View::kControl);
    if (clock == nullptr || clock->all_lanes(barrier.component) < generation) return false;
  }
  return true;
}

Party party_of(const Warp& warp, OpId op, LaneMask lanes, uint32_t count) {
  Party party;
  party.op = op;
  party.cta = CtaId{warp.cta->id};
  party.warp = WarpId{warp.index};
  party.lanes = lanes;
  party.epoch = count;
  return party;
}

void check_forced(Core& core, const Warp& warp, const NamedBarrier& barrier, BarrierId id,
                  const ControlEvent& arrival) {
  if (knows_generation(warp, arrival.lanes, barrier, barrier.generation)) return;
  for (const NamedBarrier::Arrival& previous : barrier.previous) {
    const ControlEvent& before = previous.event;
    if (knows_event(warp, arrival.lanes, before, View::kControl)) continue;
    Unforced fact;
    fact.rule = RuleId::kD4;
    fact.cta = CtaId{warp.cta->id};
    fact.named_barrier = true;
    fact.object = id.value;
    fact.generation = barrier.generation + 1;
    fact.first =
        party_of(core.warp_of(warp.cta->id, before.warp), before.op, before.lanes, before.count);
    fact.second = party_of(warp, arrival.op, arrival.lanes, arrival.count);
    const bool knows_before =
        knows_generation(warp, arrival.lanes, barrier, barrier.generation - 1);
    fact.since = knows_before ? barrier.completed_at : barrier.first_completed_at;
    return core.findings.unforced(fact);
  }
}

}  // namespace

void Engine::barrier_arrive(Warp& warp, OpId op, BarrierId id, BarrierKind kind, LaneMask lanes) {
  core_->collect_if_due();
  LW_CHECK(id.value < warp.cta->barriers.size(), id.value);
  NamedBarrier& barrier = warp.cta->barriers[id.value];
  if (barrier.component == 0) barrier.component = warp.cta->components++;
  NamedBarrier::Arrival& arrival = barrier.arrivals.emplace_back();
  arrival.event = event_now(warp, op, lanes);
  arrival.waits = kind != BarrierKind::kArrive;
  check_forced(*core_, warp, barrier, id, arrival.event);
  warp.since_control |= lanes;
  core_->log_sync(warp, SyncStep::Kind::kBarrierArrive, op, lanes, id.value,
                  barrier.generation + 1);
  publish(warp, lanes, kAllViews, barrier.parts.emplace_back());
}

void Engine::barrier_complete(CtaId cta, BarrierId id) {
  NamedBarrier& barrier = core_->ctas[cta.value]->barriers[id.value];
  ++barrier.generation;
  barrier.completed_at = core_->accesses() + 1;
  if (barrier.generation == 1) barrier.first_completed_at = barrier.completed_at;
  const Reached reached{barrier.component, barrier.generation, kNotAsync};
  const BundleRef bundle = join_contributions(barrier.parts, {&reached, 1});
  for (const NamedBarrier::Arrival& arrival : barrier.arrivals) {
    if (!arrival.waits) continue;
    Warp& warp = core_->warp_of(cta.value, arrival.event.warp);
    const LaneMask lanes = arrival.event.lanes & warp.live;
    if (lanes != 0) leave_barrier(warp, lanes, arrival.event.count, bundle);
    core_->log_sync(warp, SyncStep::Kind::kBarrierLeave, arrival.event.op, lanes, id.value,
                    barrier.generation);
  }
  std::swap(barrier.previous, barrier.arrivals);
  barrier.arrivals.clear();
  barrier.parts.clear();
}

}  // namespace lw::order
