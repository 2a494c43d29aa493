// What ends tensor work, and who learns of it: wait, commit and the two fences
// (PTX ISA 9.7.16.8.5, 9.7.16.11, 9.7.16.12; rules T5-11 to T5-22).

#include <algorithm>

#include "order/mbarrier.h"
#include "order/tensor.h"

namespace lw::order {
namespace {

constexpr ViewSet kNotAsync = view_bit(View::kCausality) | kExecutionAndControl;

void learn_end(Warp& warp, LaneMask lanes, Component component, uint32_t stamp) {
  const Reached reached{component, stamp, kNotAsync};
  learn(warp, lanes, join_contributions({}, {&reached, 1}));
}

// What these lanes have issued up to now, and those that have issued nothing; later work has a
// higher stamp.
LaneCounts stamp_work(WarpTensor& tensor, LaneMask lanes) {
  LaneCounts counts{};
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes >> lane & 1) != 0 || tensor.issued[lane] == 0) counts[lane] = tensor.work;
  }
  ++tensor.work;
  return counts;
}

bool is_fenced_part(const Cta& cta, Component component) {
  return std::ranges::any_of(cta.tensor_parts,
                             [&](Component first) { return component - first < kFencedParts; });
}

bool knows_lanes(const Clock* clock, const Clock::Ragged& entry) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (clock == nullptr || clock->lane(entry.component, lane) < entry.lanes[lane]) return false;
  }
  return true;
}

// Adds what `from` knows of tensor work, but its shared operands, to a clock that begins as `have`.
ClockRef with_own_work(const ClockRef& have, const Clock& from, const Cta& cta) {
  ClockBuilder builder(have);
  for (Component first : cta.tensor_parts) {
    for (Component part = first; part < first + kFencedParts; ++part) {
      builder.raise(part, from.all_lanes(part));
    }
  }
  for (const Clock::Ragged& entry : from.ragged()) {
    if (!is_fenced_part(cta, entry.component) || knows_lanes(have.get(), entry)) continue;
    builder.raise_lanes(entry.component, entry.lanes);
  }
  return builder.finish();
}

// The same of the other CTAs of the cluster too.
ClockRef with_tensor_work(const Core& core, const ClockRef& have, const Clock& from,
                          const Cta& cta) {
  ClockRef joined = with_own_work(have, from, cta);
  for (const Clock::Foreign& other : from.foreigns()) {
    const Cta* const peer = core.ctas[other.cta].get();
    if (peer == nullptr || peer->cluster != cta.cluster) continue;
    ClockBuilder builder(joined);
    builder.join_from(other.cta, with_own_work({}, *other.clock.get(), *peer), cta.id);
    joined = builder.finish();
  }
  return joined;
}

// The lane alone knows that what it has issued is behind its fence.
void stamp_fence(Warp& warp, LaneMask lane) {
  WarpTensor& tensor = *warp.tensor;
  Contribution part;
  part.cta = warp.cta->id;
  part.views = kNotAsync;
  part.async.push_back({tensor.part(TensorPart::kFenced), stamp_work(tensor, lane), kNotAsync});
  compare_views(part);
  learn(warp, lane, join_contributions({&part, 1}, {}));
}

// From now on a relaxed arrival of these lanes carries what they know to have ended.
void keep_for_arrivals(Warp& warp, LaneMask lanes) {
  auto& fenced = tensor_of(warp).fenced;
  for (WarpTensor::Fenced& one : fenced) one.lanes &= ~lanes;
  std::erase_if(fenced, [](const WarpTensor::Fenced& one) { return one.lanes == 0; });
  for (const LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    fenced.push_back({group.lanes & lanes, group.bundle.view(View::kCausality)});
  }
}

}  // namespace

void Engine::tensor_wait_loads(Warp& warp, LaneMask lanes) {
  warp_meet(warp, lanes);
  if (!warp.tensor || !warp.tensor->loads_open) return;
  warp.tensor->loads_open = false;
  learn_end(warp, lanes, warp.tensor->part(TensorPart::kLoads), warp.tensor->loads++);
}

void Engine::tensor_wait_stores(Warp& warp, LaneMask lanes) {
  warp_meet(warp, lanes);
  if (!warp.tensor || !warp.tensor->stores_open) return;
  warp.tensor->stores_open = false;
  learn_end(warp, lanes, warp.tensor->part(TensorPart::kStores), warp.tensor->stores++);
}

void Engine::tensor_fence_before(Warp& warp, LaneMask lanes) {
  WarpTensor& tensor = tensor_of(warp);
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    const int lane = __builtin_ctz(rest);
    if (tensor.issued[lane] != 0) stamp_fence(warp, 1u << lane);
  }
  keep_for_arrivals(warp, lanes);
}

void Engine::tensor_fence_after(Warp& warp, LaneMask lanes) {
  warp.split(lanes);
  for (LaneGroup& group : warp.groups) {
    const ClockRef& known = group.bundle.view(View::kExecution);
    const ClockRef& causality = group.bundle.view(View::kCausality);
    if ((group.lanes & lanes) == 0 || !known || known == causality) continue;
    group.bundle = with_view(group.bundle, View::kCausality,
                             with_tensor_work(*core_, causality, *known.get(), *warp.cta));
  }
  if (warp.groups.size() > 1) warp.coalesce();
}

AsyncId Engine::tensor_commit(Warp& warp, OpId op, LaneId lane, Mbarrier object) {
  const AsyncId id{core_->next_async++};
  const LaneMask bit = 1u << lane.value;
  tensor_fence_before(warp, bit);  // it acts as one (T5-14)
  MbarrierState* state = find_object(*core_, warp, op, bit, object);
  if (state == nullptr) return id;
  use_object(*core_, *state, warp, op, bit);
  check_forced(*core_, *state, warp, op, bit);
  core_->log_sync(warp, SyncStep::Kind::kMbarrierArrive, op, bit, object, state->phase + 1);
  WarpTensor& tensor = *warp.tensor;
  Pending& pending = core_->pending[id.value];
  pending.signal = object;
  pending.event = event_now(warp, op, bit);
  pending.phase = state->phase;
  core_->findings.saw_arrival(true);
  tensor.committed[lane.value] = tensor.work;
  const LaneCounts counts = stamp_work(tensor, bit);
  pending.agent = Agent::kMmaResult;
  pending.copies.cta = warp.cta->id;
  pending.copies.views = kNotAsync;
  pending.copies.steps = warp.steps();
  for (TensorPart part : {TensorPart::kCells, TensorPart::kShared}) {
    pending.copies.async.push_back({tensor.part(part), counts, kNotAsync});
  }
  compare_views(pending.copies);
  pending.issue = publish(warp, bit, view_bit(View::kControl));
  return id;
}

std::optional<Contribution> carried_by_fence(const Core& core, const Warp& warp, LaneMask lanes) {
  if (!warp.tensor) return std::nullopt;
  ClockRef known;
  for (const WarpTensor::Fenced& one : warp.tensor->fenced) {
    if ((one.lanes & lanes) == 0 || !one.known) continue;
    known = with_tensor_work(core, known, *one.known.get(), *warp.cta);
  }
  if (!known) return std::nullopt;
  Contribution part;
  part.cta = warp.cta->id;
  part.steps = warp.steps();
  part.views = view_bit(View::kExecution);
  part.bundle = with_view({}, View::kExecution, known);
  compare_views(part);
  return part;
}

}  // namespace lw::order
