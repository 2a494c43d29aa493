#include "prove/run.h"

#include "base/check.h"

namespace lw::prove {
namespace {

std::unique_ptr<schedule::Chooser> make_chooser(const Schedule& schedule,
                                                const casefile::SetUp& set_up) {
  std::vector<schedule::WarpNames> late = schedule.late;
  if (set_up.antagonist) {
    const machine::Launch& launch = *set_up.machine->launches()[set_up.antagonist->value];
    late.push_back({launch.first_cta, launch.first_cta + launch.cta_count() - 1, ~0u});
  }
  if (schedule.kind == Schedule::Kind::random)
    return schedule::random_order(schedule.seed, std::move(late));
  return schedule::steady(std::move(late));
}

// The scheduler, and notes of what passes.
class NotingPolicy final : public machine::Policy {
 public:
  NotingPolicy(schedule::Scheduler& scheduler, Run& run, const RunPlan& plan)
      : scheduler_(scheduler), run_(run), plan_(plan) {}

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
    if (plan_.journal)
      run_.journal.push_back({warp.cta->id, warp.id, warp.cta->sm, instruction, n});
    else
      run_.diary.note(warp.cta->id, warp.id, instruction, n);
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
  Run& run_;
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

  schedule::Scheduler scheduler(make_chooser(plan.schedule, run.set_up), plan.holds, plan.watched);
  NotingPolicy policy(scheduler, run, plan);
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

}  // namespace

casefile::SetUp set_up_again(const casefile::Inputs& inputs, const RunPlan& plan) {
  diagnose::Emitter emitter;
  auto set_up =
      casefile::set_up(inputs, plan.machine, emitter, plan.unwritten_fill, plan.antagonist);
  LW_CHECK(set_up.has_value(), inputs.parts.name);
  return std::move(*set_up);
}

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
