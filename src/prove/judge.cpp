#include "prove/judge.h"

#include <fmt/format.h>

#include <algorithm>

#include "prove/freedom.h"
#include "prove/group.h"
#include "prove/poison.h"
#include "prove/witness.h"

namespace lw::prove {
namespace {

// Findings beyond this many get no witness of their own.
constexpr size_t kMostWitnesses = 8;

// Random schedules tried where the schedule steers the kernel.
constexpr uint64_t kSamples = 8;

bool counts(diagnose::Tier tier, bool strict) {
  return tier == diagnose::Tier::kRace || tier == diagnose::Tier::kError ||
         (tier == diagnose::Tier::kStrict && strict);
}

// Runs the case again as it ran, with an eye on every race; what is told of a race comes from here.
Run tell(const casefile::Inputs& inputs, const RunPlan& plan, const order::Facts& facts) {
  RunPlan watching = plan;
  watching.order->watches = watches_of(facts);
  watching.watched = instructions_of(facts);
  watching.enough = [&](const order::Facts& told) { return all_told(facts, told); };
  return run_again(inputs, watching);
}

void find_races(const casefile::Inputs& inputs, const RunPlan& plan, const JudgeOptions& options,
                Answer& answer) {
  if (answer.run.facts.races.empty()) return;
  const Run told = tell(inputs, plan, answer.run.facts);
  for (RaceFinding& finding : group_races(answer.run.facts, told)) {
    if (counts(finding.tier, options.strict)) {
      answer.races.push_back(std::move(finding));
    } else if (finding.tier == diagnose::Tier::kNote) {
      answer.notes.push_back(std::move(finding));
    }
  }
}

RunPlan unheld(RunPlan plan) {
  plan.holds.clear();
  plan.order.reset();
  return plan;
}

bool is_deadlock(const std::optional<machine::Fault>& fault) {
  return fault && (fault->kind == machine::FaultKind::deadlock ||
                   fault->kind == machine::FaultKind::livelock);
}

Outcome outcome_of(const Answer& answer) {
  const bool has_race = std::ranges::any_of(answer.races, [](const RaceFinding& finding) {
    return finding.tier != diagnose::Tier::kError;
  });
  const auto& fault = answer.run.result.fault;
  if (has_race) return Outcome::race;
  if (!answer.races.empty() || !answer.run.facts.errors.empty() || answer.poison ||
      (fault && !is_deadlock(fault))) {
    return Outcome::error;
  }
  if (fault) return Outcome::deadlock;
  if (answer.run.result.not_analysed || !answer.run.facts.not_modelled.empty()) {
    return Outcome::not_analysed;
  }
  return Outcome::clean;
}

// Are all reads of bytes that nobody wrote reads that race with the write they want?
bool races_explain_unwritten(const Answer& answer) {
  return std::ranges::all_of(answer.run.facts.unwritten, [&](const order::Unwritten& read) {
    return std::ranges::any_of(answer.races, [&](const RaceFinding& finding) {
      return std::ranges::any_of(finding.pairs, [&](const RacePair& pair) {
        return pair.group.first.earlier.op == read.party.op ||
               pair.group.first.later.op == read.party.op;
      });
    });
  });
}

// Other schedules to try where a value made by the schedule decides what happens.
std::vector<RunPlan> other_plans(const RunPlan& plan,
                                 const std::vector<program::Influence>& influences) {
  std::vector<RunPlan> others;
  const std::vector<base::OpId> doubtful = doubtful_tests(influences);
  if (!doubtful.empty()) others.emplace_back(plan).machine.doubted_tests = doubtful;
  if (!steers(influences)) return others;
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    RunPlan& other = others.emplace_back(plan);
    other.schedule = {Schedule::Kind::random, seed, {}};
    other.machine.doubted_tests = doubtful;
  }
  return others;
}

bool has_findings(const Run& run, bool strict) {
  return run.result.fault || !run.facts.errors.empty() ||
         std::ranges::any_of(run.facts.races, [&](const order::RaceGroup& group) {
           return counts(group.first.tier, strict);
         });
}

// Runs other schedules until one finds something, which then stands for the case. Returns the plan
// of the run that `answer` holds.
RunPlan try_other_schedules(const casefile::Inputs& inputs, const RunPlan& plan,
                            const JudgeOptions& options, Answer& answer) {
  answer.influences = influences_of(*answer.run.set_up.machine, answer.run.result);
  if (has_findings(answer.run, options.strict)) return plan;
  for (RunPlan& other : other_plans(plan, answer.influences)) {
    Run run = run_again(inputs, other);
    ++answer.verdict.schedules;
    if (!has_findings(run, options.strict)) continue;
    answer.run = std::move(run);
    return other;
  }
  return plan;
}

Extent extent_of(const Answer& answer, Outcome outcome) {
  const order::Facts& facts = answer.run.facts;
  if (outcome == Outcome::race) {
    const bool all = answer.influences.empty() &&
                     std::ranges::any_of(answer.races, &RaceFinding::in_all_schedules);
    return all ? Extent::all_schedules : Extent::this_matching;
  }
  if (outcome == Outcome::clean && steers(answer.influences)) return Extent::sampled;
  const bool forced = facts.unforced.empty() && answer.influences.empty();
  return forced ? Extent::all_schedules : Extent::this_matching;
}

}  // namespace

Answer judge(const casefile::Inputs& inputs, const RunPlan& asked, Run plain,
             const JudgeOptions& options) {
  Answer answer;
  answer.run = std::move(plain);
  answer.replayed = asked.holds;
  const RunPlan plan = try_other_schedules(inputs, asked, options, answer);
  if (!plan.holds.empty()) {
    answer.replay_changes = changed_outputs(inputs, run_again(inputs, unheld(plan)), answer.run);
  }
  find_races(inputs, plan, options, answer);
  answer.races_explain_unwritten = races_explain_unwritten(answer);
  if (!answer.races_explain_unwritten) answer.poison = find_poison(inputs, plan, answer.run);
  const size_t witnesses = options.witness ? std::min(answer.races.size(), kMostWitnesses) : 0;
  for (size_t i = 0; i < witnesses; ++i) find_witness(inputs, plan, answer.run, answer.races[i]);
  answer.verdict.outcome = outcome_of(answer);
  answer.verdict.extent = extent_of(answer, answer.verdict.outcome);
  return answer;
}

std::string verdict_text(const Verdict& verdict) {
  const bool all = verdict.extent == Extent::all_schedules;
  switch (verdict.outcome) {
    case Outcome::clean:
      if (verdict.extent == Extent::sampled)
        return fmt::format("clean, sampled {}", verdict.schedules);
      return all ? "clean, all schedules" : "clean, this matching";
    case Outcome::race:
      return all ? "race in all schedules" : "race in this matching";
    case Outcome::error:
      return all ? "error in all schedules" : "error in this matching";
    case Outcome::deadlock:
      return all ? "deadlock in all schedules" : "deadlock in this matching";
    case Outcome::not_analysed:
      break;
  }
  return "not analysed";
}

int exit_code(const Verdict& verdict, bool require_all_schedules) {
  switch (verdict.outcome) {
    case Outcome::clean:
      return require_all_schedules && verdict.extent != Extent::all_schedules ? 1 : 0;
    case Outcome::not_analysed:
      return 3;
    default:
      return 1;
  }
}

}  // namespace lw::prove
