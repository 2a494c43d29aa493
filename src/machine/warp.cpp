#include "machine/warp.h"

#include <algorithm>
#include <bit>

#include "machine/cta.h"
#include "machine/machine.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

// Behind every Op.
const Op* nowhere() { return reinterpret_cast<const Op*>(UINTPTR_MAX); }

// Wait::object of lanes that wait for the rest of their warp at an `.aligned` instruction.
constexpr uint64_t kWaitsAligned = uint64_t{1} << 32;

// Instructions after which lanes that are waited for are taken to wait for others themselves.
constexpr int64_t kPatience = 1 << 16;

bool is_runnable(const Group& group) { return group.wait.kind == Wait::Kind::none; }

// Filled in where it stays: a copy would wait for each of its fields.
Group& park(std::vector<Group>& parked, LaneMask lanes, const Op* at) {
  Group& group = parked.emplace_back();
  group.lanes = lanes;
  group.at = at;
  return group;
}

}  // namespace

bool Warp::can_run() const { return std::ranges::any_of(parked, is_runnable); }

void Warp::find_join() {
  join_at = nowhere();
  for (const Group& group : parked)
    if (is_runnable(group)) join_at = std::min(join_at, group.at);
}

void Warp::block(const Op* resume, Wait wait) {
  wait.since_step = machine->steps();
  park(parked, active, resume).wait = wait;
  active = 0;
  stopped = true;
}

void Warp::block_lanes(LaneMask lanes, const Op* resume, Wait wait) {
  wait.since_step = machine->steps();
  park(parked, lanes, resume).wait = wait;
  active &= ~lanes;
}

void Warp::yield(const Op* resume, TurnEnd why) {
  park(parked, active, resume);
  active = 0;
  stopped = true;
  turn_end = why;
  turn_over_ = true;
}

void Warp::split_off(LaneMask lanes, const Op* resume) {
  park(parked, lanes, resume);
  active &= ~lanes;
  join_at = std::min(join_at, resume);
}

const Op* Warp::take(size_t index) {
  const Op* const at = parked[index].at;
  active = parked[index].lanes;
  parked.erase(parked.begin() + static_cast<ptrdiff_t>(index));
  return at;
}

const Op* Warp::merge_here(const Op* target) {
  std::erase_if(parked, [&](const Group& group) {
    bool same = is_runnable(group) && group.at == target;
    if (same) active |= group.lanes;
    return same;
  });
  find_join();
  return target;
}

const Op* Warp::rejoin(const Op* target) {
  if (join_at < target && !let_others_ahead_) {
    park(parked, active, target);
    target = next_group();
  }
  return merge_here(target);
}

// The runnable group at the smallest Op.
const Op* Warp::next_group() {
  size_t best = parked.size();
  for (size_t i = 0; i < parked.size(); ++i) {
    if (!is_runnable(parked[i])) continue;
    if (best == parked.size() || parked[i].at < parked[best].at) best = i;
  }
  return best == parked.size() ? nullptr : take(best);
}

void Warp::after_wake() {
  find_join();
  cta->set_ready(id);
}

bool Warp::wake(Wait::Kind kind, uint64_t object) {
  return wake_if(
      [&](const Group& group) { return group.wait.kind == kind && group.wait.object == object; });
}

void Warp::exit_lanes(const Op& op) {
  LaneMask lanes = active;
  live &= ~lanes;
  awaited &= ~(lanes & leaving);
  active = 0;
  stopped = true;
  cta->live_lanes[id.value] = live;
  if (order) order->exit_lanes(*order_warp, op.instruction, lanes);
  // Lanes that wait for these at a warp's meeting look again: nobody waits for lanes that are gone.
  wake_if([](const Group& group) { return group.wait.kind == Wait::Kind::warp_collective; });
  machine->lanes_exited(*this, lanes);
}

bool Warp::require_aligned(const Op& op) {
  if (is_full()) return true;
  bool behind = false;  // all others may still come
  std::erase_if(parked, [&](const Group& group) {
    bool waits_here = group.at == &op && (group.wait.object & kWaitsAligned) != 0;
    if (waits_here)
      active |= group.lanes;
    else
      behind |= group.at <= &op || machine->come_back().may_come(*program, group.at, &op);
    return waits_here;
  });
  find_join();
  if (is_full()) return true;
  if (behind) {
    block(&op, {.kind = Wait::Kind::warp_collective,
                .object = kWaitsAligned | live,
                .instruction = op.instruction});
  } else {
    fail(op, FaultKind::divergent_aligned, "not all threads of the warp execute it together");
  }
  return false;
}

void Warp::fail(const Op& op, FaultKind kind, std::string text, LaneMask lanes,
                diagnose::RuleId rule, std::optional<base::BarrierId> barrier) {
  Fault fault;
  fault.rule = rule;
  fault.barrier = barrier;
  fault.kind = kind;
  fault.instruction = op.instruction;
  fault.cta = cta->id;
  fault.warp = id;
  fault.lanes = lanes ? lanes : active;
  fault.lane = base::LaneId(static_cast<uint8_t>(std::countr_zero(fault.lanes)));
  fault.text = std::move(text);
  stopped = true;
  machine->fail(std::move(fault));
}

void Warp::fail_at(const Op& op, FaultKind kind, std::string text, LaneMask lanes, uint64_t address,
                   uint32_t size_bytes, diagnose::RuleId rule) {
  Fault fault;
  fault.rule = rule;
  fault.kind = kind;
  fault.instruction = op.instruction;
  fault.cta = cta->id;
  fault.warp = id;
  fault.lanes = lanes;
  fault.lane = base::LaneId(static_cast<uint8_t>(std::countr_zero(lanes)));
  fault.text = std::move(text);
  fault.has_address = true;
  fault.address = address;
  fault.size_bytes = size_bytes;
  stopped = true;
  machine->fail(std::move(fault));
}

void Warp::not_analysed(const Op& op, std::string reason) {
  stopped = true;
  machine->not_analysed({NotAnalysed::Kind::form, op.instruction, std::move(reason)});
}

// The runnable group that was parked first.
const Op* Warp::oldest_group() {
  for (size_t i = 0; i < parked.size(); ++i)
    if (is_runnable(parked[i])) return take(i);
  return nullptr;
}

// The group that runs next, joined with those at the same Op.
const Op* Warp::choose_group() {
  if (parked.size() == 1 && is_runnable(parked[0])) {
    join_at = nowhere();
    return take(0);
  }
  const Op* start = let_others_ahead_ ? oldest_group() : next_group();
  return start == nullptr ? nullptr : merge_here(start);
}

TurnEnd Warp::run_turn(int64_t quantum, uint64_t& steps) {
  // A group that polls, or has run for long, stood at the smallest Op: another one goes first.
  alone_for_ = turn_end == TurnEnd::quantum ? alone_for_ + quantum : 0;
  let_others_ahead_ = turn_end == TurnEnd::polled || alone_for_ > kPatience;
  turn_end = TurnEnd::blocked;
  turn_over_ = false;
  fuel = quantum;
  while (!turn_over_ && !machine->has_ended()) {
    const Op* start = choose_group();
    if (start == nullptr) break;
    stopped = false;
    run_from(start, *this);
  }
  steps += static_cast<uint64_t>(quantum - fuel);
  if (machine->has_ended()) return turn_end = TurnEnd::ended;
  if (live == 0) turn_end = TurnEnd::exited;
  return turn_end;
}

}  // namespace lw::machine
