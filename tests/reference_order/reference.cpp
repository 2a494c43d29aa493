#include "reference.h"

#include <algorithm>
#include <utility>

namespace lw::reference_order {

void Knowledge::join(const Knowledge& other) {
  if (lane.size() < other.lane.size()) lane.resize(other.lane.size());
  for (size_t i = 0; i < other.lane.size(); ++i) lane[i] = std::max(lane[i], other.lane[i]);
  if (milestone.size() < other.milestone.size()) milestone.resize(other.milestone.size());
  for (size_t i = 0; i < other.milestone.size(); ++i) milestone[i] |= other.milestone[i];
}

void Knowledge::learn_lane(int index, uint32_t event) {
  if (lane.size() <= static_cast<size_t>(index)) lane.resize(index + 1);
  lane[index] = std::max(lane[index], event);
}

void Knowledge::learn_milestone(uint32_t id) {
  if (milestone.size() <= id / 64) milestone.resize(id / 64 + 1);
  milestone[id / 64] |= uint64_t{1} << id % 64;
}

bool Knowledge::knows_lane(int index, uint32_t event) const {
  return static_cast<size_t>(index) < lane.size() && lane[index] >= event;
}

bool Knowledge::knows_milestone(uint32_t id) const {
  return id / 64 < milestone.size() && (milestone[id / 64] >> id % 64 & 1) != 0;
}

void Reference::begin_grid(uint32_t grid, const std::vector<uint32_t>& over) {
  over_[grid] = {over.begin(), over.end()};
}

void Reference::begin_cta(uint32_t cta, uint32_t grid) {
  for (int i = 0; i < kLanesPerCta; ++i) {
    lanes_[static_cast<int>(cta) * kLanesPerCta + i].grid = grid;
  }
}

// A lane's own events are in all it publishes, but in the async views only what it has fenced.
Views Reference::publish(int lane) {
  LaneState& me = state(lane);
  Views views = me.views;
  for (int view : {kH, kE, kC, kCrossing}) views[view].learn_lane(lane, me.events);
  return views;
}

// Everything a lane knows in H has crossed a barrier once it is published through one.
Views Reference::publish_across(int lane) {
  Views views = publish(lane);
  views[kCrossing].join(views[kH]);
  return views;
}

void Reference::join_views(Views& into, const Views& from) {
  for (int view = 0; view < kViewCount; ++view) into[view].join(from[view]);
}

void Reference::learn(int lane, const Views& from, bool acquire) {
  for (int view = 0; view < kViewCount; ++view) {
    if (acquire || view == kE || view == kC) state(lane).views[view].join(from[view]);
  }
}

void Reference::warp_sync(std::span<const int> lanes, bool control_only) {
  Views joined;
  for (int lane : lanes) {
    ++state(lane).events;
    Views views = publish(lane);
    // What only meets inside the warp crosses no barrier.
    views[kCrossing] = state(lane).views[kCrossing];
    join_views(joined, views);
  }
  for (int lane : lanes) {
    for (int view = 0; view < kViewCount; ++view) {
      if (!control_only || view == kC) state(lane).views[view].join(joined[view]);
    }
  }
}

bool Reference::knows_event(const Knowledge& knowledge, const LaneEvent& event) const {
  return knowledge.knows_lane(event.lane, event.event);
}

bool Reference::lane_knows_event(int lane, const LaneEvent& event) {
  return lane == event.lane || knows_event(state(lane).views[kC], event);
}

Calls Reference::number(std::span<const int> lanes) {
  Calls calls;
  for (int lane : lanes) calls.push_back({lane, ++state(lane).events});
  return calls;
}

void Reference::barrier_arrive(uint32_t cta, int id, std::span<const int> lanes, bool waits) {
  Barrier& barrier = barriers_[{cta, id}];
  bool forced = true;
  for (int lane : lanes) {
    for (const LaneEvent& before : barrier.previous) forced &= lane_knows_event(lane, before);
  }
  if (!forced) ++unforced[RuleId::kD4];
  for (const LaneEvent& call : number(lanes)) {
    join_views(barrier.joined, publish_across(call.lane));
    barrier.arrived.push_back(call);
    if (waits) barrier.waiting.push_back(call.lane);
  }
}

void Reference::barrier_complete(uint32_t cta, int id) {
  Barrier& barrier = barriers_[{cta, id}];
  for (int lane : barrier.waiting) learn(lane, barrier.joined, true);
  barrier.previous = barrier.arrived;
  barrier.arrived.clear();
  barrier.waiting.clear();
  barrier.joined = {};
}

void Reference::cp_async_issued(int lane, uint32_t milestone) {
  state(lane).copies.writes.push_back(milestone);
  state(lane).all_copies.push_back(milestone);
}

void Reference::cp_async_commit(int lane) {
  LaneState& me = state(lane);
  me.copy_groups.push_back(std::move(me.copies));
  me.copies = {};
}

void Reference::cp_async_wait(int lane, uint32_t left) {
  LaneState& me = state(lane);
  for (size_t i = 0; i + left < me.copy_groups.size(); ++i) {
    for (uint32_t id : me.copy_groups[i].writes) {
      for (int view : {kH, kE, kC}) me.views[view].learn_milestone(id);
    }
  }
}

uint32_t Reference::cp_async_arrive(uint32_t cta, uint32_t offset, std::span<const int> lanes) {
  Object& object = objects_[{cta, offset}];
  use_object(object, lanes);
  check_forced(object, lanes);
  Async arrival{cta, offset, object.phase, {}, {}, {}, {}};
  for (const LaneEvent& call : number(lanes)) {
    arrival.control.join(publish(call.lane)[kC]);
    arrival.arrival.push_back(call);
    const auto& copies = state(call.lane).all_copies;
    arrival.copies.insert(arrival.copies.end(), copies.begin(), copies.end());
  }
  async_[next_async_] = arrival;
  return next_async_++;
}

void Reference::async_arrive(uint32_t id) {
  const Async& arrival = async_.at(id);
  Object& object = objects_[{arrival.cta, arrival.offset}];
  check_landing(object, arrival);
  for (uint32_t copy : arrival.copies) {
    for (int view : {kH, kE, kC}) {
      object.joined[view].learn_milestone(copy);
      object.joined_in_cluster[view].learn_milestone(copy);
    }
  }
  object.joined[kC].join(arrival.control);
  object.joined_in_cluster[kC].join(arrival.control);
  object.arrived.insert(object.arrived.end(), arrival.arrival.begin(), arrival.arrival.end());
  // That it has arrived can be learnt from the object alone.
  object.bytes.push_back(new_milestone());
}

uint32_t Reference::bulk_load(uint32_t cta, uint32_t offset, int lane,
                              std::span<const uint32_t> milestones) {
  Object& object = objects_[{cta, offset}];
  const int lanes[] = {lane};
  use_object(object, lanes);
  check_forced(object, lanes);
  ++state(lane).events;
  Async load{cta, offset, object.phase, {milestones.begin(), milestones.end()}, publish(lane)[kC],
             {},  {}};
  async_[next_async_] = load;
  return next_async_++;
}

void Reference::bulk_complete(uint32_t id) {
  const Async& load = async_.at(id);
  Object& object = objects_[{load.cta, load.offset}];
  check_landing(object, load);
  object.bytes.insert(object.bytes.end(), load.milestones.begin(), load.milestones.end());
  object.issuers.join(load.control);
}

void Reference::bulk_store_issued(int lane, uint32_t milestone, bool is_read) {
  (is_read ? state(lane).bulk.reads : state(lane).bulk.writes).push_back(milestone);
}

void Reference::bulk_commit(int lane) {
  LaneState& me = state(lane);
  me.bulk_groups.push_back(std::move(me.bulk));
  me.bulk = {};
}

void Reference::bulk_wait(int lane, uint32_t left, bool reads_only) {
  LaneState& me = state(lane);
  for (size_t i = 0; i + left < me.bulk_groups.size(); ++i) {
    const AsyncGroup& group = me.bulk_groups[i];
    for (int view : {kH, kE, kC}) {
      for (uint32_t id : group.reads) me.views[view].learn_milestone(id);
      if (reads_only) continue;
      for (uint32_t id : group.writes) me.views[view].learn_milestone(id);
    }
  }
}

void Reference::fence_proxy(int lane, FenceSpaces spaces) {
  LaneState& me = state(lane);
  Knowledge known = me.views[kH];
  known.learn_lane(lane, me.events);
  if (static_cast<int>(spaces) & 1) me.views[kAShared].join(known);
  if (static_cast<int>(spaces) & 2) me.views[kAGlobal].join(known);
}

}  // namespace lw::reference_order
