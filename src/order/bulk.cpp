// Bulk and tensor copies (rule book 8; PTX ISA 9.7.9.25 to .27).
//
// A load to shared memory finishes, for whoever waits, with the phase of its mbarrier in which its
// complete_tx falls (TM-3); it does not carry what its issuer did before (MB-14), only the issuer's
// control. A store or reduction finishes for its issuer alone, by bulk groups: reads done (TM-10)
// or writes done (TM-11). All data accesses are in the async proxy.

#include "order/async_access.h"
#include "order/mbarrier.h"

namespace lw::order {
namespace {

Shape agent_shape(LaneId lane) {
  Shape shape;
  shape.kind = ShapeKind::kAgent;
  shape.lanes = 1u << lane.value;
  return shape;
}

Deed deed_of(OpId op, Agent agent, const AsyncAccess& access) {
  Deed deed{op, access.kind, agent};
  deed.strong = access.kind == Kind::kAtomic;
  deed.scope = access.scope;
  deed.element_bytes = access.element_bytes;
  return deed;
}

}  // namespace

ObjectId touch_ranges(Core& core, Warp& warp, const Deed& deed, LaneId lane,
                      const AsyncAccess& access, Component component, uint32_t count) {
  Cta* const peer = access.space == Space::kShared ? core.peer_of(warp, access.cta) : nullptr;
  const ObjectId id = core.async_object(warp, deed, agent_shape(lane), component, count, peer);
  Doing doing{core, warp};
  doing.id = id;
  doing.key = async_doing_key(warp, peer);
  doing.peer = peer;
  doing.async_proxy = doing.alone = true;
  doing.strong = deed.strong;
  doing.space = access.space;
  doing.lanes = 1u << lane.value;
  doing.serial = ++core.findings.facts().accesses;
  if (core.story) core.story->access(doing, access.ranges, access.cta);
  for (const Range& range : access.ranges) {
    if (range.bytes == 0) continue;
    touch_range(doing, core.region(warp, access.space, range.base, peer), range,
                access.kind != Kind::kRead);
  }
  return id;
}

namespace {

void remember_source(WarpAsync& async, UnreadSource source) {
  for (UnreadSource& one : async.unread) {
    if (one.lane != source.lane || one.op != source.op) continue;
    one = source;
    return;
  }
  async.unread.push_back(source);
}

}  // namespace

void check_exit(Core& core, const Warp& warp, LaneMask lanes) {
  if (!warp.async) return;
  for (const UnreadSource& source : warp.async->unread) {
    if ((lanes >> source.lane & 1) == 0) continue;
    if (!core.options.strict) {
      core.findings.relied_on_practice(RuleId::kTM16);
      continue;
    }
    Party party = party_of(warp, source.op, 1u << source.lane, source.stamp);
    party.agent = Agent::kBulkStore;
    core.findings.error(
        {RuleId::kTM16, party, Space::kShared, source.address, 0, core.accesses(), true});
  }
}

AsyncId Engine::bulk_load(Warp& warp, OpId op, LaneId lane, Mbarrier signal,
                          std::span<const AsyncAccess> accesses) {
  core_->collect_if_due();
  const LaneMask bit = 1u << lane.value;
  const AsyncId id{core_->next_async++};
  Pending& pending = core_->pending[id.value];
  pending.signal = signal;
  pending.event = event_now(warp, op, bit);
  if (MbarrierState* state = find_object(*core_, warp, op, bit, signal)) {
    use_object(*core_, *state, warp, op, bit);
    check_forced(*core_, *state, warp, op, bit);
    pending.phase = state->phase;
    core_->findings.saw_arrival(true);
  }
  for (const AsyncAccess& access : accesses) {
    const Deed deed = deed_of(op, Agent::kBulkLoad, access);
    pending.objects.push_back(touch_ranges(*core_, warp, deed, lane, access, 0, kPending));
  }
  warp.since_control |= bit;
  pending.issue = publish(warp, bit, view_bit(View::kControl));
  return id;
}

void Engine::bulk_complete(AsyncId load) {
  Pending& pending = core_->pending.at(load.value);
  Cta& cta = *core_->ctas[pending.signal.cta.value];
  const auto at = cta.mbarriers.find(pending.signal.offset);
  if (at == cta.mbarriers.end()) return;  // reported at issue
  MbarrierState& state = at->second;
  check_landing(*core_, state, pending);
  state.ever_had_bytes = true;
  state.last_copy = pending.event;
  note_signal(state, pending);
  state.finished.push_back(load.value);
  state.issues.push_back(std::move(pending.issue));
}

void Engine::bulk_store(Warp& warp, OpId op, LaneId lane, std::span<const AsyncAccess> accesses) {
  core_->collect_if_due();
  WarpAsync& async = core_->async_of(warp);
  const uint32_t stamp = async.bulk.next;
  async.bulk.issued[lane.value] = stamp;
  for (const AsyncAccess& access : accesses) {
    const AsyncMilestone& milestone = access.kind == Kind::kRead ? async.read : async.written;
    touch_ranges(*core_, warp, deed_of(op, Agent::kBulkStore, access), lane, access,
                 milestone.component, stamp);
    if (access.kind == Kind::kRead && access.space == Space::kShared && !access.ranges.empty())
      remember_source(async, {lane.value, stamp, op, access.ranges.front().base});
  }
}

void Engine::bulk_commit(Warp& warp, LaneMask lanes) { core_->async_of(warp).bulk.commit(lanes); }

void Engine::bulk_wait(Warp& warp, LaneMask lanes, uint32_t newest_left, bool reads_only) {
  WarpAsync& async = core_->async_of(warp);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    const uint32_t number = async.bulk.complete(lane, newest_left);
    async.read.done[lane] = std::max(async.read.done[lane], number);
    if (!reads_only) async.written.done[lane] = std::max(async.written.done[lane], number);
  }
  std::erase_if(async.unread, [&](const UnreadSource& source) {
    return source.stamp <= async.read.done[static_cast<size_t>(source.lane)];
  });
  async.bulk.forget(async.written.done);
  warp.since_control |= lanes;
}

}  // namespace lw::order
