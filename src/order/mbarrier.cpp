// mbarrier objects (rule book 6; PTX ISA 9.7.13.15).
//
// A phase's release arrivals are joined when it completes; a wait gives exactly the phase before
// the present one (MB-22), in all views when it acquires, in E and C when it is relaxed (MB-10,
// MB-11). Copies that signal the object are a component of it, counted in phases. A phase number is
// not cumulative in H: "H[object] >= g" stands for all earlier phases only if what the arrivals of
// the phase bring knew the last phase with copies; else the copies get a fresh component, which
// nobody can know yet (see mbarrier_complete). The conditions D-2, D-3, D-3b are in
// mbarrier_forced.cpp.

#include "order/mbarrier.h"

#include <algorithm>

#include "base/check.h"
#include "order/cluster.h"
#include "order/shape.h"
#include "order/tensor.h"

namespace lw::order {
namespace {

constexpr ViewSet kNotAsync = view_bit(View::kCausality) | kExecutionAndControl;

// init and inval are weak generic writes of their thread to the object's bytes.
void write_bytes(Core& core, Warp& warp, OpId op, LaneMask lane, uint32_t offset) {
  warp.touch(lane);
  const Shape shape = core.uniform_shape(lane, ShapeKind::kLanes);
  const Deed deed{op, Kind::kWrite};
  Doing doing{core, warp};
  doing.id = core.object(warp, deed, shape);
  doing.key = warp.key | shape.code;
  doing.injective = shape.injective;
  doing.lanes = lane;
  doing.serial = ++core.findings.facts().accesses;
  const uint64_t base = offset >> kBlockShift << kBlockShift;
  const CellMask cells = 3u << ((offset - base) >> kCoarse);
  write_block(doing, *warp.cta->shared.at(offset), {base, kCoarse, cells});
}

void mark_bytes(Core& core, Cta& cta, uint32_t offset, ObjectId id) {
  for (uint64_t at = offset; at < offset + kMbarrierBytes; at += 4) {
    Block& block = *cta.shared.at(at);
    if (!core.shadow.is_split(block)) {
      core.shadow.set_writer(block, 1u << (at >> kCoarse & 31), id);
      continue;
    }
    Block& fine = core.shadow.fine(block, static_cast<int>(at >> 5 & 3));
    core.shadow.set_writer(fine, 0xfu << (at & 31), id);
  }
}

// Whoever learns of this phase will count as knowing the copies of all earlier ones under the same
// component. If what the arrivals bring does not include them, the object gets a fresh component.
void keep_cumulative(Cta& cta, MbarrierState& state) {
  const auto knows = [&](const Contribution& part) {
    const Clock* clock = part.bundle.clock(View::kCausality);
    return part.cta == cta.id && (part.views & view_bit(View::kCausality)) != 0 &&
           clock != nullptr && clock->all_lanes(state.component) >= state.last_bytes;
  };
  if (state.last_bytes == 0 || std::any_of(state.arrivals.begin(), state.arrivals.end(), knows)) {
    return;
  }
  state.component = cta.components++;
  state.last_bytes = 0;
}

// The present phase becomes the last one.
void complete_phase(MbarrierState& state, uint64_t now) {
  std::swap(state.before, state.last);
  CompletedPhase& last = state.last;
  last.number = state.phase;
  last.component = state.component;
  std::swap(last.arrived, state.arrived);
  state.arrived.clear();
  last.had_bytes = state.phase_had_bytes || !state.finished.empty();
  last.last_copy = state.last_copy;
  last.at = now;
  if (state.phase == 1) state.first_completed_at = now;
  state.phase_had_bytes = false;
}

// The copies that finished in this phase are known with it.
void finish_copies(Core& core, MbarrierState& state) {
  if (state.finished.empty()) return;
  state.last_bytes = state.phase;
  for (uint32_t id : state.finished) {
    for (ObjectId object : core.pending.at(id).objects) {
      core.objects[object].home = state.cta;
      core.objects[object].component = state.component;
      core.objects[object].count = state.phase;
    }
    core.pending.erase(id);
  }
}

void remember_use(std::vector<ControlEvent>& uses, const ControlEvent& event) {
  for (ControlEvent& use : uses) {
    if (use.cta == event.cta && use.warp == event.warp && use.lanes == event.lanes) {
      use = event;
      return;
    }
  }
  uses.push_back(event);
}

// A use that the end of the object's life may overtake (MB-4): what has only been started must be
// known in C, what has finished in H.
void check_end(Core& core, const MbarrierState& state, Warp& warp, OpId op, LaneMask lane,
               const ControlEvent& use) {
  if (knows_event(warp, lane, use, View::kCausality)) return;
  Race race;
  race.rule = RuleId::kMB4;
  race.earlier = party_of(use);
  race.later = party_of(warp, op, lane, warp.count);
  race.later.kind = Kind::kWrite;
  race.owner = CtaId{state.cta};
  race.address = state.offset;
  race.bytes = kMbarrierBytes;
  if (knows_event(warp, lane, use, View::kControl)) {
    const bool execution = knows_event(warp, lane, use, View::kExecution);
    race.path = execution ? Path::kExecution : Path::kControl;
    race.tier = Tier::kStrict;
    return core.report_race(race, ++core.findings.facts().accesses);
  }
  core.report_race(race, ++core.findings.facts().accesses);
  core.findings.unforced({RuleId::kD3c, CtaId{state.cta}, false, state.offset, state.phase,
                          race.earlier, race.later, 0, core.accesses() + 1});
}

// MB-5: an object that is valid is initialised.
void check_second_init(Core& core, const Warp& warp, OpId op, LaneMask lane,
                       const MbarrierState& state) {
  if (!core.options.strict) return core.findings.relied_on_practice(RuleId::kMB5);
  Party party = party_of(warp, op, lane, warp.count);
  party.kind = Kind::kWrite;
  const bool is_live = knows_event(warp, lane, state.init, View::kControl);
  core.findings.error(
      {RuleId::kMB5, party, Space::kShared, state.offset, 0, core.accesses(), is_live});
}

}  // namespace

Party party_of(const Warp& warp, OpId op, LaneMask lanes, uint32_t count) {
  return party_of({warp.cta->id, warp.index, lanes, count, op});
}

Party party_of(const ControlEvent& event) {
  Party party;
  party.op = event.op;
  party.cta = CtaId{event.cta};
  party.warp = WarpId{event.warp};
  party.lanes = event.lanes;
  party.epoch = event.count;
  return party;
}

MbarrierState* find_object(Core& core, const Warp& warp, OpId op, LaneMask lanes, Mbarrier object) {
  Cta& cta = core.running(object.cta);
  const auto at = cta.mbarriers.find(object.offset);
  if (at != cta.mbarriers.end()) return &at->second;
  core.findings.error(
      {RuleId::kE1, party_of(warp, op, lanes, warp.count), Space::kShared, object.offset, 0});
  return nullptr;
}

namespace {

// The lanes know of the init, or of a fence.mbarrier_init after it (MB-3).
bool knows_init(const Core& core, const MbarrierState& state, const Warp& warp, LaneMask lanes) {
  if (knows_event(warp, lanes, state.init, View::kCausality)) return true;
  const WarpInits* inits = core.ctas[state.cta]->warps[state.init.warp]->inits.get();
  if (inits == nullptr || inits->component == 0) return false;
  for (const LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    const Clock* clock = clock_of(group.bundle.clock(View::kCausality), warp.cta->id, state.cta);
    if (clock == nullptr) return false;
    if ((state.init.lanes & ~clock->lanes_at_least(inits->component, state.init_stamp)) != 0)
      return false;
  }
  return true;
}

void report_init(Core& core, MbarrierState& state, const Warp& warp, OpId op, LaneMask lanes) {
  Race race;
  race.rule = warp.cta->id == state.cta ? RuleId::kMB1 : RuleId::kMB3;
  race.earlier = party_of(state.init);
  race.earlier.kind = Kind::kWrite;
  race.later = party_of(warp, op, lanes, warp.count);
  race.owner = CtaId{state.cta};
  race.address = state.offset;
  race.bytes = kMbarrierBytes;
  core.report_race(race, ++core.findings.facts().accesses);
  state.init_raced = true;  // reported once
}

}  // namespace

void use_object(Core& core, MbarrierState& state, Warp& warp, OpId op, LaneMask lanes) {
  warp.touch(lanes);
  remember_use(state.uses, event_now(warp, op, lanes));
  const bool is_own = state.cta == warp.cta->id;
  if (!is_own) check_started(core, warp, op, lanes, core.running(CtaId{state.cta}), state.offset);
  if (state.init_raced || (is_own && (state.init_known & warp.bit) != 0)) return;
  if (is_own && knows_init(core, state, warp, warp.live)) {
    state.init_known |= warp.bit;
  } else if (!knows_init(core, state, warp, lanes)) {
    report_init(core, state, warp, op, lanes);
  }
}

void note_signal(MbarrierState& state, const Pending& pending) {
  if (pending.event.cta == state.cta) return;
  state.foreign_signal = pending.event;
  state.foreign_agent = pending.agent;
  state.foreign_phase = state.phase + 1;
}

namespace {

// A use whose end is known by its own thread's steps.
void use_now(Core& core, MbarrierState& state, Warp& warp, OpId op, LaneMask lanes) {
  use_object(core, state, warp, op, lanes);
  check_forced(core, state, warp, op, lanes);
  if (state.cta != warp.cta->id) remember_use(state.foreign_uses, event_now(warp, op, lanes));
}

}  // namespace

void Engine::mbarrier_init(Warp& warp, OpId op, LaneMask lane, Mbarrier object) {
  core_->collect_if_due();
  Cta& cta = *warp.cta;
  LW_CHECK(object.cta.value == cta.id && object.offset % kMbarrierBytes == 0, object.offset);
  // Over a live object: a second life without an end. The machine reports it unless nobody is in
  // the middle of using the object (E-2), which common code does.
  const auto live = cta.mbarriers.find(object.offset);
  if (live != cta.mbarriers.end()) {
    check_second_init(*core_, warp, op, lane, live->second);
    mbarrier_inval(warp, op, lane, object);
  }
  write_bytes(*core_, warp, op, lane, object.offset);
  mark_bytes(*core_, cta, object.offset, kMbarrier);
  MbarrierState& state = cta.mbarriers[object.offset];
  state = {};
  state.cta = cta.id;
  state.offset = object.offset;
  state.component = cta.components++;
  state.init = event_now(warp, op, lane);
  if (!warp.inits) warp.inits = std::make_unique<WarpInits>();
  state.init_stamp = ++warp.inits->made[static_cast<size_t>(__builtin_ctz(lane))];
  warp.since_control |= lane;
}

void Engine::mbarrier_inval(Warp& warp, OpId op, LaneMask lane, Mbarrier object) {
  core_->collect_if_due();
  MbarrierState* state = find_object(*core_, warp, op, lane, object);
  if (state == nullptr) return;
  use_object(*core_, *state, warp, op, lane);
  for (const ControlEvent& use : state->uses) check_end(*core_, *state, warp, op, lane, use);
  warp.cta->mbarriers.erase(object.offset);
  warp.cta->ended_mbarriers[object.offset] = event_now(warp, op, lane);
  mark_bytes(*core_, *warp.cta, object.offset, kInitial);
  write_bytes(*core_, warp, op, lane, object.offset);
}

void Engine::mbarrier_arrive(Warp& warp, OpId op, LaneMask lanes, Mbarrier object,
                             Strength strength, Scope scope) {
  MbarrierState* state = find_object(*core_, warp, op, lanes, object);
  if (state == nullptr) return;
  use_now(*core_, *state, warp, op, lanes);
  core_->log_sync(warp, SyncStep::Kind::kMbarrierArrive, op, lanes, object, state->phase + 1);
  core_->findings.saw_arrival(releases(strength));
  state->arrived.push_back(event_now(warp, op, lanes));
  if (!releases(strength)) add_fenced(*core_, warp, lanes, scope, state->cta, state->arrivals);
  const Reach reach = reach_of(*warp.cta, state->cta, scope);
  const ViewSet views = releases(strength) ? reach.views : view_bit(View::kControl);
  state->arrivals.push_back(publish(warp, lanes, views));
  state->arrivals.back().across = reach.across;
}

void Engine::mbarrier_expect(Warp& warp, OpId op, LaneMask lanes, Mbarrier object) {
  MbarrierState* state = find_object(*core_, warp, op, lanes, object);
  if (state == nullptr) return;
  use_now(*core_, *state, warp, op, lanes);
  state->expected.push_back(event_now(warp, op, lanes));
}

void Engine::mbarrier_complete_tx(Warp& warp, OpId op, LaneMask lanes, Mbarrier object) {
  MbarrierState* state = find_object(*core_, warp, op, lanes, object);
  if (state == nullptr) return;
  use_now(*core_, *state, warp, op, lanes);
  state->phase_had_bytes = state->ever_had_bytes = true;
  state->last_copy = event_now(warp, op, lanes);
  state->issues.push_back(publish(warp, lanes, view_bit(View::kControl)));
}

void Engine::mbarrier_complete(Mbarrier object) {
  Cta& cta = *core_->ctas[object.cta.value];
  const auto at = cta.mbarriers.find(object.offset);
  LW_CHECK(at != cta.mbarriers.end(), object.offset);
  MbarrierState& state = at->second;
  check_expected(*core_, state);
  ++state.phase;
  keep_cumulative(cta, state);
  complete_phase(state, core_->accesses() + 1);
  finish_copies(*core_, state);
  std::vector<Contribution>& parts = state.arrivals;
  parts.insert(parts.end(), std::make_move_iterator(state.issues.begin()),
               std::make_move_iterator(state.issues.end()));
  const Reached reached{state.component, state.phase, kNotAsync};
  const bool across = std::ranges::any_of(parts, [](const auto& part) { return part.across; });
  state.done = join_across(cta.id, parts, {&reached, 1}, false);
  state.done_in_cluster = across ? join_across(cta.id, parts, {&reached, 1}, true) : state.done;
  check_lapping(*core_, state);
  for (auto* list : {&state.arrivals, &state.issues}) list->clear();
  state.expected.clear();
  state.waited.clear();
  state.finished.clear();
}

void Engine::mbarrier_wait(Warp& warp, OpId op, LaneMask lanes, Mbarrier object, Strength strength,
                           Scope scope) {
  MbarrierState* state = find_object(*core_, warp, op, lanes, object);
  if (state == nullptr) return;
  use_object(*core_, *state, warp, op, lanes);
  check_early_wait(*core_, *state, warp, op, lanes, true);
  state->waited.push_back({event_now(warp, op, lanes), core_->accesses() + 1});
  core_->log_sync(warp, SyncStep::Kind::kMbarrierWait, op, lanes, object, state->phase);
  if (state->phase == 0) return;  // "the phase before phase 0" brings nothing (MB-21)
  core_->findings.saw_wait(acquires(strength));
  const BundleRef& done = scope == Scope::kCta ? state->done : state->done_in_cluster;
  learn(warp, lanes, done, acquires(strength) ? kAllViews : kExecutionAndControl);
}

void Engine::mbarrier_blocked(Warp& warp, OpId op, LaneMask lanes, Mbarrier object) {
  const auto at = warp.cta->mbarriers.find(object.offset);
  if (at != warp.cta->mbarriers.end()) check_early_wait(*core_, at->second, warp, op, lanes, false);
}

}  // namespace lw::order
