// cp.async (rule book 7; PTX ISA 9.7.9.25.3).
//
// A copy is an agent that starts after its lane's earlier instructions (CA-1) and is unordered with
// everything later (CA-2) until a wait of the same lane (CA-4) or an mbarrier it signals (MB-13).
// Its data is in the generic proxy (CA-10). Groups are numbered per warp, see AsyncGroups.

#include "order/ladder.h"
#include "order/mbarrier.h"
#include "order/shape.h"

namespace lw::order {
namespace {

constexpr ViewSet kNotAsync = view_bit(View::kCausality) | kExecutionAndControl;

void copy_side(Core& core, Warp& warp, OpId op, Kind kind, Space space, const EachShape& each) {
  if (each.bytes == 0) return;
  const WarpAsync& async = *warp.async;
  const Deed deed{op, kind, Agent::kCpAsync};
  const bool writes = kind == Kind::kWrite;
  Pattern& pattern = core.patterns.of(each);
  const Shape shape = core.shape_of(warp, op, each, pattern.scan().row);
  const ObjectId id =
      core.async_object(warp, deed, shape, async.copied.component, async.copies.next);
  Doing doing{core, warp};
  doing.id = id;
  doing.key = async_doing_key(warp);
  doing.alone = true;
  doing.space = space;
  doing.lanes = each.lanes;
  doing.serial = ++core.findings.facts().accesses;
  Region& region = core.region(warp, space, each.address[__builtin_ctz(each.lanes)]);
  if (core.story) core.story->access(doing, each);
  touch_each(doing, region, each, pattern, writes);
}

}  // namespace

void Engine::cp_async(Warp& warp, OpId op, LaneMask lanes, const Addresses& to_shared,
                      uint32_t shared_bytes, const Addresses& from_global, uint32_t global_bytes) {
  core_->collect_if_due();
  if (lanes == 0) return;
  WarpAsync& async = core_->async_of(warp);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (lanes >> lane & 1) async.copies.issued[lane] = async.copies.next;
  }
  // Lanes in a row are as far apart as what they copy, whatever part of it they read (CA-11).
  EachShape source = each_of(from_global, lanes, shared_bytes);
  source.bytes = global_bytes;
  copy_side(*core_, warp, op, Kind::kRead, Space::kGlobal, source);
  copy_side(*core_, warp, op, Kind::kWrite, Space::kShared,
            each_of(to_shared, lanes, shared_bytes));
}

void Engine::cp_async_commit(Warp& warp, LaneMask lanes) {
  core_->async_of(warp).copies.commit(lanes);
}

void Engine::cp_async_wait(Warp& warp, LaneMask lanes, uint32_t newest_left) {
  WarpAsync& async = core_->async_of(warp);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1) == 0) continue;
    uint32_t& done = async.copied.done[lane];
    done = std::max(done, async.copies.complete(lane, newest_left));
  }
  async.copies.forget(async.copied.done);
  warp.since_control |= lanes;
}

void Engine::cp_async_wait_all(Warp& warp, LaneMask lanes) {
  cp_async_commit(warp, lanes);
  cp_async_wait(warp, lanes, 0);
}

AsyncId Engine::cp_async_arrive(Warp& warp, OpId op, LaneMask lanes, Mbarrier object) {
  const AsyncId id{core_->next_async++};
  MbarrierState* state = find_object(*core_, warp, op, lanes, object);
  if (state == nullptr) return id;
  use_object(*core_, *state, warp, op, lanes);
  check_forced(*core_, *state, warp, op, lanes);
  WarpAsync& async = core_->async_of(warp);
  Pending& pending = core_->pending[id.value];
  pending.signal = object;
  pending.event = event_now(warp, op, lanes);
  pending.phase = state->phase;
  core_->findings.saw_arrival(true);
  // The copies so far, of these lanes and of those that have issued none; later ones count higher.
  Contribution::OwnAsync copies{async.copied.component, {}, kNotAsync};
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const bool tells = (lanes >> lane & 1) != 0 || async.copies.issued[lane] == 0;
    copies.counts[lane] = tells ? async.copies.next : 0;
  }
  ++async.copies.next;
  pending.copies.cta = warp.cta->id;
  pending.copies.views = kNotAsync;
  pending.copies.steps = warp.steps();
  pending.copies.async.push_back(copies);
  compare_views(pending.copies);
  pending.issue = publish(warp, lanes, view_bit(View::kControl));
  return id;
}

void Engine::async_arrive(AsyncId arrival) {
  const auto at = core_->pending.find(arrival.value);
  if (at == core_->pending.end()) return;  // its object was missing, which is reported
  Pending& pending = at->second;
  Cta& cta = *core_->ctas[pending.signal.cta.value];
  const auto object = cta.mbarriers.find(pending.signal.offset);
  if (object == cta.mbarriers.end())
    return;  // its life ended before, which the machine reports (E-8)
  MbarrierState& state = object->second;
  check_landing(*core_, state, pending);
  state.phase_had_bytes = state.ever_had_bytes = true;
  state.arrived.push_back(pending.event);
  state.last_copy = pending.event;
  note_signal(state, pending);
  state.arrivals.push_back(std::move(pending.issue));
  state.arrivals.push_back(std::move(pending.copies));
  core_->pending.erase(at);
}

}  // namespace lw::order
