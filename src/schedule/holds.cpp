#include "schedule/holds.h"

#include <algorithm>

namespace lw::schedule {
namespace {

using base::LaneMask;
using base::OpId;
using machine::AsyncOperation;
using machine::Milestone;

bool same_agent(const Point& point, base::CtaId cta, base::WarpId warp, LaneMask lanes) {
  return point.cta == cta && point.warp == warp && (point.lanes & lanes) != 0;
}

bool is_execution(const Point& point, const machine::Warp& warp, OpId instruction, uint64_t n,
                  LaneMask lanes) {
  return point.moment == Moment::execution && point.instruction == instruction && point.n == n &&
         same_agent(point, warp.cta->id, warp.id, lanes);
}

Moment moment_of(Milestone milestone) {
  return milestone == Milestone::read ? Moment::read_done : Moment::write_done;
}

}  // namespace

Holds::Holds(std::vector<Hold> holds)
    : holds_(std::move(holds)),
      states_(holds_.size()),
      any_milestone_(std::ranges::any_of(holds_, [](const Hold& hold) {
        return hold.held.moment != Moment::execution || hold.until.moment != Moment::execution;
      })) {}

std::vector<OpId> Holds::watched() const {
  std::vector<OpId> ops;
  for (const Hold& hold : holds_) {
    ops.push_back(hold.held.instruction);
    if (!hold.for_good) ops.push_back(hold.until.instruction);
  }
  std::ranges::sort(ops);
  ops.erase(std::ranges::unique(ops).begin(), ops.end());
  return ops;
}

LaneMask Holds::reach(const machine::Warp& warp, OpId instruction, uint64_t n, LaneMask lanes) {
  LaneMask held = 0;
  for (size_t i = 0; i < holds_.size(); ++i) {
    if (!is_execution(holds_[i].held, warp, instruction, n, lanes)) continue;
    if (states_[i].until_happened) {
      states_[i].fate = HoldFate::was_late;
    } else {
      states_[i].holding = true;
      held |= lanes & holds_[i].held.lanes;
    }
  }
  return held;
}

void Holds::passed(const machine::Warp& warp, OpId instruction, uint64_t n, LaneMask lanes) {
  for (size_t i = 0; i < holds_.size(); ++i) {
    if (holds_[i].for_good) continue;
    Point until = holds_[i].until;
    if (until.n == kNext && states_[i].holding) until.n = n;
    if (is_execution(until, warp, instruction, n, lanes)) until_happened(i);
  }
  if (!any_milestone_) return;
  const bool asks_for_milestone = std::ranges::any_of(holds_, [&](const Hold& hold) {
    return (hold.held.moment != Moment::execution && hold.held.instruction == instruction) ||
           (hold.until.moment != Moment::execution && hold.until.instruction == instruction);
  });
  if (!asks_for_milestone) return;
  for (const AsyncOperation* operation : machine_->pending()) {
    const bool issued_here = operation->instruction == instruction &&
                             operation->cta == warp.cta->id && operation->warp == warp.id;
    if (issued_here) issues_.try_emplace(operation->id, n);
  }
}

uint64_t Holds::issued_by(const AsyncOperation& operation) const {
  auto it = issues_.find(operation.id);
  return it == issues_.end() ? 0 : it->second;
}

void Holds::performed(const AsyncOperation& operation, Milestone milestone) {
  if (!any_milestone_) return;
  for (size_t i = 0; i < holds_.size(); ++i) {
    const Point& until = holds_[i].until;
    if (until.moment == Moment::execution || until.instruction != operation.instruction) continue;
    if (until.moment == moment_of(milestone) && until.n == issued_by(operation) &&
        same_agent(until, operation.cta, operation.warp, operation.lanes)) {
      until_happened(i);
    }
  }
}

bool Holds::keeps(const AsyncOperation& operation) {
  if (!any_milestone_) return false;
  for (size_t i = 0; i < holds_.size(); ++i) {
    const Point& held = holds_[i].held;
    if (held.moment == Moment::execution || held.instruction != operation.instruction) continue;
    if (held.moment != moment_of(operation.next()) || held.n != issued_by(operation) ||
        !same_agent(held, operation.cta, operation.warp, operation.lanes)) {
      continue;
    }
    State& state = states_[i];
    if (state.until_happened && state.fate == HoldFate::not_reached)
      state.fate = HoldFate::was_late;
    if (state.fate != HoldFate::not_reached) continue;
    state.holding = true;
    return true;
  }
  return false;
}

bool Holds::let_one_go() {
  for (size_t i = 0; i < holds_.size(); ++i) {
    if (!states_[i].holding || holds_[i].for_good) continue;
    release(i, HoldFate::let_go);
    return true;
  }
  return false;
}

void Holds::until_happened(size_t index) {
  states_[index].until_happened = true;
  if (states_[index].holding) release(index, HoldFate::met);
}

void Holds::release(size_t index, HoldFate fate) {
  states_[index].holding = false;
  states_[index].fate = fate;
  const Point& held = holds_[index].held;
  if (held.moment != Moment::execution) return;
  for (size_t i = 0; i < holds_.size(); ++i)
    if (states_[i].holding && holds_[i].held == held) return;  // another keeps it there
  machine_->release(held.cta, held.warp, held.instruction);
}

}  // namespace lw::schedule
