// mbarrier objects of the naive engine.

#include <algorithm>
#include <utility>

#include "reference.h"

namespace lw::reference_order {

void Reference::mbarrier_init(uint32_t cta, uint32_t offset, int lane) {
  Object& object = objects_[{cta, offset}];
  object = {};
  write_object(cta, offset, lane);
  empty_bytes(cta, offset);
  object.init = {lane, ++state(lane).events};
  object.init_id = new_milestone();
  state(lane).inits.push_back(object.init_id);
}

// A weak write of the object's bytes.
void Reference::write_object(uint32_t cta, uint32_t offset, int lane) {
  std::vector<Touched> touched;
  Record record;
  record.lane = lane;
  record.event = coming_event(lane);
  record.writes = true;
  record.instruction = instruction_;
  for (uint32_t i = 0; i < 8; ++i) touched.push_back({{false, cta, offset + i}, record});
  access(touched);
}

// What was there is compared with no longer: the bytes are an object's, or free again.
void Reference::empty_bytes(uint32_t cta, uint32_t offset) {
  for (uint32_t i = 0; i < 8; ++i) bytes_[{false, cta, offset + i}] = {};
}

void Reference::mbarrier_inval(uint32_t cta, uint32_t offset, int lane) {
  Object& object = objects_[{cta, offset}];
  const int lanes[] = {lane};
  use_object(object, lanes);
  for (const LaneEvent& use : object.uses) {
    if (!lane_knows_event(lane, use)) inval_races.insert(instruction_);
  }
  objects_.erase({cta, offset});
  empty_bytes(cta, offset);
  write_object(cta, offset, lane);
  ++state(lane).events;
}

void Reference::use_object(Object& object, std::span<const int> lanes) {
  for (int lane : lanes) {
    const Knowledge& known_to = state(lane).views[kH];
    const bool known = lane == object.init.lane || knows_event(known_to, object.init) ||
                       known_to.knows_milestone(object.init_id);
    if (known || object.init_raced) continue;
    object.init_raced = true;
    ++init_races;
  }
  for (int lane : lanes) object.uses.push_back({lane, coming_event(lane)});
}

void Reference::check_forced(Object& object, std::span<const int> lanes) {
  bool forced = true;
  for (int lane : lanes) {
    for (const LaneEvent& before : object.previous) forced &= lane_knows_event(lane, before);
    for (uint32_t id : object.previous_bytes) forced &= state(lane).views[kC].knows_milestone(id);
  }
  if (forced) return;
  ++unforced[RuleId::kD2];
  object.in_doubt = true;
}

void Reference::check_landing(Object& object, const Async& operation) {
  if (operation.phase == object.phase) return;
  ++unforced[RuleId::kD2];
  object.in_doubt = true;
}

// A quick waiter may have got the phase of two phases ago, unless it knew that the one before its
// own was over.
void Reference::check_early_wait(const Object& object, std::span<const int> lanes) {
  bool forced = true;
  for (int lane : lanes) {
    for (const LaneEvent& event : object.before) forced &= lane_knows_event(lane, event);
    for (uint32_t id : object.before_bytes) forced &= state(lane).views[kC].knows_milestone(id);
  }
  if (!forced && !object.in_doubt) ++unforced[RuleId::kD3];
}

// What a lane brings, to each who waits as far as the two scopes say.
void Reference::bring(Object& object, uint32_t cta, int lane, const Views& views, Scope scope) {
  const bool own = cta_of(lane) == cta;
  for (int view = 0; view < kViewCount; ++view) {
    const bool end_only = view == kE || view == kC;
    if (own || end_only) object.joined[view].join(views[view]);
    if (own || end_only || scope != Scope::kCta) object.joined_in_cluster[view].join(views[view]);
  }
}

// What the fences of a lane add to its relaxed arrival.
void Reference::bring_fenced(Object& object, uint32_t cta, int lane, Scope scope) {
  for (const auto& [fence, views] : state(lane).fences)
    bring(object, cta, lane, views, std::min(fence, scope));
  Views inits;
  for (int view : {kH, kE, kC})
    for (uint32_t id : state(lane).fenced_inits) inits[view].learn_milestone(id);
  if (cta_of(lane) == cta || scope != Scope::kCta) bring(object, cta, lane, inits, Scope::kCluster);
}

void Reference::mbarrier_arrive(uint32_t cta, uint32_t offset, std::span<const int> lanes,
                                bool release, Scope scope) {
  Object& object = objects_[{cta, offset}];
  use_object(object, lanes);
  check_forced(object, lanes);
  for (const LaneEvent& call : number(lanes)) {
    Views views = publish_across(call.lane);
    if (!release) {
      for (int view = 0; view < kViewCount; ++view)
        if (view != kC) views[view] = {};
      bring_fenced(object, cta, call.lane, scope);
    }
    bring(object, cta, call.lane, views, scope);
    for (Views* joined : {&object.joined, &object.joined_in_cluster})
      (*joined)[kE].join(state(call.lane).tensor);
    object.arrived.push_back(call);
  }
}

void Reference::mbarrier_expect(uint32_t cta, uint32_t offset, std::span<const int> lanes) {
  Object& object = objects_[{cta, offset}];
  use_object(object, lanes);
  check_forced(object, lanes);
  object.expected.push_back(number(lanes));
}

void Reference::mbarrier_complete_tx(uint32_t cta, uint32_t offset, std::span<const int> lanes) {
  Object& object = objects_[{cta, offset}];
  use_object(object, lanes);
  check_forced(object, lanes);
  for (const LaneEvent& call : number(lanes)) object.issuers.join(publish(call.lane)[kC]);
  object.bytes.push_back(new_milestone());
}

void Reference::mbarrier_complete(uint32_t cta, uint32_t offset) {
  Object& object = objects_[{cta, offset}];
  const auto all_known = [&](const Knowledge& knowledge, const Calls& calls) {
    return std::all_of(calls.begin(), calls.end(),
                       [&](const LaneEvent& call) { return knows_event(knowledge, call); });
  };
  for (const Calls& expect : object.expected) {
    if (!all_known(object.joined[kC], expect)) ++unforced[RuleId::kD3b];
  }
  object.joined[kC].join(object.issuers);
  object.joined_in_cluster[kC].join(object.issuers);
  for (const Calls& wait : object.waited) {
    if (!all_known(object.joined[kC], wait)) ++unforced[RuleId::kD3];
  }
  for (uint32_t id : object.bytes) {
    for (int view : {kH, kE, kC, kCrossing}) {
      object.joined[view].learn_milestone(id);
      object.joined_in_cluster[view].learn_milestone(id);
    }
  }
  ++object.phase;
  object.done = std::exchange(object.joined, {});
  object.done_in_cluster = std::exchange(object.joined_in_cluster, {});
  object.issuers = {};
  object.before = std::exchange(object.previous, object.arrived);
  object.before_bytes = std::exchange(object.previous_bytes, object.bytes);
  object.arrived.clear();
  object.bytes.clear();
  object.expected.clear();
  object.waited.clear();
}

void Reference::mbarrier_wait(uint32_t cta, uint32_t offset, std::span<const int> lanes,
                              bool acquire, Scope scope) {
  Object& object = objects_[{cta, offset}];
  use_object(object, lanes);
  check_early_wait(object, lanes);
  object.waited.push_back(number(lanes));
  if (object.phase == 0) return;
  relaxed_wait_ |= !acquire;
  const Views& done = scope == Scope::kCta ? object.done : object.done_in_cluster;
  for (int lane : lanes) learn(lane, done, acquire);
}

}  // namespace lw::reference_order
