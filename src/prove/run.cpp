#include "prove/run.h"

#include "base/check.h"

namespace lw::prove {
namespace {

std::unique_ptr<schedule::Chooser> make_chooser(const Schedule& schedule) {
  if (schedule.kind == Schedule::Kind::random) return schedule::random_order(schedule.seed);
  return schedule::steady(schedule.late);
}

// The scheduler, and a diary of what passes.
class NotingPolicy final : public machine::Policy {
 public:
  NotingPolicy(schedule::Scheduler& scheduler, Diary& diary, const RunPlan& plan)
      : scheduler_(scheduler), diary_(diary), plan_(plan) {}

  machine::Choice next(machine::Machine& machine) override {
    if (machine.order()) end_if_enough(machine);
    return scheduler_.next(machine);
  }
  std::vector<base::OpId> watched() const override { return scheduler_.watched(); }
  base::LaneMask reach(machine::Warp& warp, base::OpId instruction, uint64_t n,
                       base::LaneMask lanes) override {
    return scheduler_.reach(warp, instruction, n, lanes);
  }
  void passed(machine::Warp& warp, base::OpId instruction, uint64_t n,
              base::LaneMask lanes) override {
    diary_.note(warp.cta->id, warp.id, instruction, n);
    scheduler_.passed(warp, instruction, n, lanes);
  }
  void performed(const machine::AsyncOperation& operation, machine::Milestone milestone) override {
    scheduler_.performed(operation, milestone);
  }
  bool stuck(machine::Machine& machine) override { return scheduler_.stuck(machine); }

 private:
  void end_if_enough(machine::Machine& machine) {
    const order::Facts& facts = machine.order()->facts();
    if (!plan_.order->by_instruction && facts.names_instructions) {
      machine.not_analysed({machine::NotAnalysed::Kind::steps, {}, "the run is made again"});
    }
    if (facts.stories.size() == stories_) return;
    stories_ = facts.stories.size();
    if (plan_.enough && plan_.enough(facts))
      machine.not_analysed({machine::NotAnalysed::Kind::steps, {}, "every story is told"});
  }

  schedule::Scheduler& scheduler_;
  Diary& diary_;
  const RunPlan& plan_;
  size_t stories_ = 0;
};

}  // namespace

void Diary::note(base::CtaId cta, base::WarpId warp, base::OpId instruction, uint64_t n) {
  const uint64_t position = ++count_[{cta.value, warp.value}];
  positions_.try_emplace({cta.value, warp.value, instruction.value, n}, position);
}

uint64_t Diary::position(base::CtaId cta, base::WarpId warp, base::OpId instruction,
                         uint64_t n) const {
  auto it = positions_.find({cta.value, warp.value, instruction.value, n});
  return it == positions_.end() ? 0 : it->second;
}

namespace {

Run run_once(const casefile::Inputs& inputs, casefile::SetUp set_up, const RunPlan& plan) {
  Run run;
  run.set_up = std::move(set_up);
  machine::Machine& machine = *run.set_up.machine;
  std::optional<order::Engine> engine;
  if (plan.order) engine.emplace(*plan.order, &machine.order_values());

  schedule::Scheduler scheduler(make_chooser(plan.schedule), plan.holds, plan.watched);
  NotingPolicy policy(scheduler, run.diary, plan);
  run.result = machine.run(policy, engine ? &*engine : nullptr);
  if (engine && plan.at_end) plan.at_end(machine, *engine);
  if (engine) run.facts = engine->finish();

  for (size_t buffer : casefile::output_buffers(inputs.parts)) {
    run.outputs.push_back(casefile::buffer_bytes(run.set_up, buffer));
  }
  for (size_t i = 0; i < plan.holds.size(); ++i) run.fates.push_back(scheduler.holds().fate(i));
  run.memory_bytes = machine.memory().bytes_in_use() + (engine ? engine->memory_bytes() : 0);
  return run;
}

casefile::SetUp set_up_again(const casefile::Inputs& inputs, const RunPlan& plan) {
  diagnose::Emitter emitter;
  auto set_up = casefile::set_up(inputs, plan.machine, emitter, plan.unwritten_fill);
  LW_CHECK(set_up.has_value(), inputs.parts.name);
  return std::move(*set_up);
}

}  // namespace

// Most runs find nothing, and need no instruction told from its like: only when something is found
// the run is made again to say who did it.
Run run_case(const casefile::Inputs& inputs, casefile::SetUp set_up, const RunPlan& plan) {
  if (!plan.order || !plan.order->watches.empty()) return run_once(inputs, std::move(set_up), plan);
  RunPlan quick = plan;
  quick.order->by_instruction = false;
  Run run = run_once(inputs, std::move(set_up), quick);
  if (!run.facts.names_instructions) return run;
  return run_once(inputs, set_up_again(inputs, plan), plan);
}

Run run_again(const casefile::Inputs& inputs, const RunPlan& plan) {
  return run_case(inputs, set_up_again(inputs, plan), plan);
}

}  // namespace lw::prove
