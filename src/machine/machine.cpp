#include "machine/machine.h"

#include <algorithm>

#include "base/check.h"
#include "machine/deadlock.h"
#include "machine/sync_hooks.h"
#include "order/engine.h"

namespace lw::machine {

Machine::Machine(Options options) : options_(std::move(options)) {}
Machine::~Machine() = default;

RunResult Machine::run(Policy& policy, order::Engine* engine) {
  prepare(policy, engine);
  dispatch();
  while (!ended_ && !is_done()) step();
  result_.finished = !ended_;
  result_.reach.instructions = steps_;
  return std::move(result_);
}

void Machine::prepare(Policy& policy, order::Engine* engine) {
  policy_ = &policy;
  order_ = engine;
  started_ = std::chrono::steady_clock::now();
  residency_.emplace(sm_count());
  std::vector<base::OpId> watched = policy.watched();
  for (auto& launch : launches_) {
    if (!watched.empty()) launch->program = decode(launch->request, watched);
  }
  if (order_ == nullptr) return;
  const auto buffers = memory_.buffers();
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    const uint64_t bytes = memory_.limit(BufferId(i));
    if (bytes > 0) order_->declare_buffer(buffers[i].address, bytes, buffers[i].written);
  }
}

bool Machine::is_done() const {
  if (!pending_.empty() || !resident_.empty()) return false;
  return std::ranges::all_of(launches_, [](const auto& launch) { return launch->is_finished(); });
}

bool Machine::can_go_on() const {
  return any_ready() || std::ranges::any_of(pending_, [](const AsyncOperation* operation) {
           return operation->can_advance();
         });
}

void Machine::step() {
  Choice choice;
  if (can_go_on()) choice = policy_->next(*this);
  if (choice.operation != nullptr) {
    perform(*choice.operation);
  } else if (choice.warp != nullptr) {
    turn(*choice.warp, choice.quantum);
  } else if (!policy_->stuck(*this)) {
    report_deadlock();
  }
  if ((++turns_ & 0xff) == 0 || (options_.step_limit != 0 && steps_ >= options_.step_limit))
    check_budget();
}

void Machine::turn(Warp& warp, uint32_t quantum) {
  running_ = &warp;
  last_turn_ = warp.run_turn(quantum, steps_);
  running_ = nullptr;
  if (parking_) stay_parked(warp);
  if (last_turn_ != TurnEnd::polled)
    livelock_.progress();
  else if (livelock_.round(*this, warp))
    end_livelock();
  if (!warp.can_run()) warp.cta->clear_ready(warp.id);
  if (last_turn_ != TurnEnd::exited) return;
  Cta& cta = *warp.cta;
  --cta.warps_left;
  close_if_done(cta);
}

AsyncOperation& Machine::start(std::unique_ptr<AsyncOperation> operation, Warp& warp,
                               const Op& op) {
  operation->id = base::AsyncId(next_async_++);
  operation->instruction = op.instruction;
  operation->cta = warp.cta->id;
  operation->warp = warp.id;
  operation->lanes = warp.active;
  operation->issue_step = steps_;
  ++warp.cta->operations_pending;
  pending_.push_back(operation.get());
  operations_.push_back(std::move(operation));
  return *pending_.back();
}

// Whoever is kept back by the policy may be what the others poll for.
void Machine::end_livelock() {
  livelock_.progress();
  if (policy_->stuck(*this)) return;
  const bool can_advance = std::ranges::any_of(
      pending_, [](const AsyncOperation* operation) { return operation->can_advance(); });
  if (can_advance) return;
  if (order_) tell_blocked(*this, *order_);
  if (order_) tell_polling(*this, *order_);
  fail(describe_livelock(*this));
}

void Machine::perform(AsyncOperation& operation) {
  livelock_.progress();
  if (operation.next_ == Milestone::read) {
    operation.perform_read(*this);
    operation.next_ = Milestone::write;
    policy_->performed(operation, Milestone::read);
    return;
  }
  operation.perform_write(*this);
  operation.next_ = Milestone::done;
  policy_->performed(operation, Milestone::write);
  auto found = std::ranges::find(pending_, &operation);
  Cta* issuer = cta(operation.cta);
  operations_.erase(operations_.begin() + (found - pending_.begin()));
  pending_.erase(found);
  --issuer->operations_pending;
  close_if_done(*issuer);
}

void Machine::release(base::CtaId id, base::WarpId warp, base::OpId instruction) {
  if (Cta* const holder = cta(id)) holder->warp(warp).wake(Wait::Kind::hold, instruction.value);
}

uint64_t Machine::virtual_time() {
  clock_ = std::max(clock_ + 1, steps_);
  return clock_;
}

// What an operation in flight meets is nobody's turn.
bool Machine::is_to_park(const Fault& fault) const {
  return options_.park_faults && running_ != nullptr && running_->id == fault.warp &&
         running_->cta->id == fault.cta && running_->executions.contains(fault.instruction);
}

// Until the turn is over the handlers see a run that has ended.
void Machine::park(Fault fault) {
  parking_ = true;
  const uint64_t n = running_->executions.at(fault.instruction);
  result_.parked.push_back({std::move(fault), n, order_ ? order_->facts().accesses : 0});
}

void Machine::stay_parked(Warp& warp) {
  parking_ = ended_ = false;
  last_turn_ = TurnEnd::blocked;
  LaneMask running = warp.live;
  for (const Group& group : warp.parked) running &= ~group.lanes;
  ParkedFault& parked = result_.parked.back();
  parked.beside = running & ~parked.fault.lanes;
  Wait wait;
  wait.kind = Wait::Kind::error;
  wait.instruction = parked.fault.instruction;
  warp.active = running;
  warp.block(warp.program->ops.data(), wait);
}

void Machine::fail(Fault fault) {
  if (ended_) return;
  ended_ = true;
  if (is_to_park(fault)) return park(std::move(fault));
  result_.fault = std::move(fault);
}

void Machine::not_analysed(NotAnalysed what) {
  if (ended_) return;
  ended_ = true;
  result_.not_analysed = std::move(what);
}

void Machine::used_schedule_value(base::OpId op) {
  auto& used = result_.schedule_values;
  if (std::ranges::find(used, op) == used.end()) used.push_back(op);
}

base::LaneMask Machine::doubt(const Warp& warp, const Op& test, uint32_t object, uint64_t phase,
                              base::LaneMask asking) {
  if (std::ranges::find(options_.doubted_tests, test.instruction) == options_.doubted_tests.end())
    return 0;
  base::LaneMask& asked =
      asked_[{test.instruction.value, warp.cta->id.value, warp.id.value, object, phase}];
  const base::LaneMask first = asking & ~asked;
  asked |= asking;
  return first;
}

// Whoever waited for these lanes need not any longer.
void Machine::lanes_exited(Warp& warp, base::LaneMask lanes) {
  warp.wake_if([&](const Group& group) {
    return group.wait.kind == Wait::Kind::warp_collective && (group.wait.object & lanes) != 0;
  });
  release_barriers_after_exit(warp);
}

void Machine::report_deadlock() {
  if (order_) tell_blocked(*this, *order_);
  fail(describe_deadlock(*this));
}

void Machine::check_budget() {
  using Kind = NotAnalysed::Kind;
  if (options_.step_limit != 0 && steps_ >= options_.step_limit)
    not_analysed({Kind::steps, {}, fmt::format("{} instructions were run", steps_)});
  std::chrono::duration<double> passed = std::chrono::steady_clock::now() - started_;
  if (options_.time_limit_s > 0 && passed.count() > options_.time_limit_s)
    not_analysed({Kind::time, {}, fmt::format("{} s have passed", options_.time_limit_s)});
  if (options_.memory_limit_bytes == 0) return;
  uint64_t used = memory_.bytes_in_use() + (order_ ? order_->memory_bytes() : 0);
  if (used > options_.memory_limit_bytes)
    not_analysed({Kind::memory, {}, fmt::format("{} bytes are in use", used)});
}

}  // namespace lw::machine
