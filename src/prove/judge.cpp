#include "prove/judge.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "prove/beyond.h"
#include "prove/freedom.h"
#include "prove/group.h"
#include "prove/poison.h"
#include "prove/polls.h"
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

bool is_stuck(const std::optional<machine::Fault>& fault) {
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
      (fault && !is_stuck(fault))) {
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
std::vector<RunPlan> sampled_plans(const RunPlan& plan,
                                   const std::vector<program::Influence>& influences) {
  std::vector<RunPlan> others;
  if (!steers(influences)) return others;
  for (uint64_t seed = 1; seed <= kSamples; ++seed) {
    RunPlan& other = others.emplace_back(plan);
    other.schedule = {Schedule::Kind::random, seed, {}};
    other.machine.doubted_tests = doubtful_tests(influences);
  }
  return others;
}

bool has_findings(const Run& run, bool strict) {
  return run.result.fault || !run.facts.errors.empty() ||
         std::ranges::any_of(run.facts.races, [&](const order::RaceGroup& group) {
           return counts(group.first.tier, strict);
         });
}

// Runs `plan` too. True if it finds something; then it stands for the case.
bool try_plan(const casefile::Inputs& inputs, const RunPlan& plan, const JudgeOptions& options,
              Answer& answer, bool& proves) {
  Run run = run_again(inputs, plan);
  ++answer.verdict.schedules;
  proves = run.result.finished && run.facts.unforced.empty() && run.facts.not_modelled.empty();
  if (!has_findings(run, options.strict)) return false;
  answer.run = std::move(run);
  return true;
}

// Tests that only decide whether to wait (D-6b): in one run they always pass, in another never. All
// others lie between the two, so what holds in both holds in all.
bool try_doubting(const casefile::Inputs& inputs, RunPlan& plan, const JudgeOptions& options,
                  Answer& answer) {
  RunPlan doubting = plan;
  doubting.machine.doubted_tests = doubtful_tests(answer.influences);
  if (doubting.machine.doubted_tests.empty()) return false;
  bool proves = false;
  if (try_plan(inputs, doubting, options, answer, proves)) {
    plan = doubting;
    return true;
  }
  if (proves && answer.run.facts.unforced.empty()) {
    std::erase_if(answer.influences, [](const program::Influence& influence) {
      return influence.arrival == program::Arrival::waits;
    });
  }
  return false;
}

// Runs other schedules until one finds something, which then stands for the case. Returns the plan
// of the run that `answer` holds.
RunPlan try_other_schedules(const casefile::Inputs& inputs, RunPlan plan,
                            const JudgeOptions& options, Answer& answer) {
  if (auto proven = prove_polls(inputs, plan, answer.run)) {
    answer.run = std::move(proven->run);
    plan = std::move(proven->plan);
  }
  answer.influences = influences_of(answer.run);
  if (has_findings(answer.run, options.strict)) return plan;
  if (try_doubting(inputs, plan, options, answer)) return plan;
  bool proves = false;
  for (const RunPlan& other : sampled_plans(plan, answer.influences)) {
    if (try_plan(inputs, other, options, answer, proves)) {
      answer.sampled_seed = other.schedule.seed;
      return other;
    }
  }
  return plan;
}

// Nothing in the whole run could have come out otherwise.
bool is_forced(const Answer& answer) {
  return answer.run.facts.unforced.empty() && answer.influences.empty();
}

bool has_raced(const order::Facts& facts) {
  return std::ranges::any_of(facts.races, [](const order::RaceGroup& group) {
    return group.first.tier != diagnose::Tier::kNote;
  });
}

// The run stopped before its end: what was not seen may come before what was.
bool is_cut(const Answer& answer) {
  return answer.run.result.not_analysed || !answer.run.facts.not_modelled.empty() ||
         (answer.fault_doubt && answer.fault_doubt->not_followed);
}

// A race that the engine holds to be there in all schedules may still hang on what the run did not
// see, or on values that the schedule makes.
void weaken_races(Answer& answer) {
  bool all = answer.influences.empty() && !is_cut(answer);
  uint64_t since = std::numeric_limits<uint64_t>::max();
  if (answer.fault_doubt) {
    all &= answer.fault_doubt->influences.empty();
    for (const order::Unforced& fact : answer.fault_doubt->unforced)
      since = std::min(since, fact.since);
  }
  for (auto* list : {&answer.races, &answer.notes}) {
    for (RaceFinding& finding : *list) {
      const bool seen_before = std::ranges::any_of(
          finding.pairs, [&](const RacePair& pair) { return pair.group.first.serial < since; });
      finding.in_all_schedules &= all && seen_before;
      finding.after_race &= all && seen_before;
    }
  }
}

// For which schedules the errors hold. A run that nothing can go on with is a whole one.
void weigh_errors(const casefile::Inputs& inputs, const RunPlan& plan, Answer& answer) {
  const bool certain = is_forced(answer) && !has_raced(answer.run.facts);
  const auto& fault = answer.run.result.fault;
  if (fault && !is_stuck(fault)) answer.fault_doubt = doubt_fault(inputs, plan, answer.run);
  answer.fault_in_all_schedules =
      answer.fault_doubt ? answer.influences.empty() && answer.fault_doubt->none() : certain;
  const bool whole = !is_cut(answer) && (!answer.fault_doubt || answer.fault_doubt->none());
  for (order::PlainError& error : answer.run.facts.errors)
    error.in_all_schedules &= whole && answer.influences.empty();
  if (answer.poison) answer.poison->in_all_schedules = whole && certain && !fault;
}

Extent extent_of(const Answer& answer, Outcome outcome) {
  if (outcome == Outcome::clean && steers(answer.influences)) return Extent::sampled;
  const auto in_all = [](const auto& finding) { return finding.in_all_schedules; };
  bool all = is_forced(answer);
  if (outcome == Outcome::race) all = std::ranges::any_of(answer.races, in_all);
  if (outcome == Outcome::deadlock) all = answer.fault_in_all_schedules;
  if (outcome == Outcome::error) {
    all = std::ranges::any_of(answer.races, in_all) ||
          std::ranges::any_of(answer.run.facts.errors, in_all) ||
          (answer.poison && answer.poison->in_all_schedules) || answer.fault_in_all_schedules;
  }
  return all ? Extent::all_schedules : Extent::this_matching;
}

// A note that two stores leave one value, and bytes that nobody wrote, are about this data.
bool holds_for_data(const Answer& answer) {
  return answer.verdict.outcome == Outcome::clean &&
         answer.verdict.extent == Extent::all_schedules && answer.notes.empty() &&
         answer.run.facts.unwritten.empty();
}

}  // namespace

Answer judge(const casefile::Inputs& inputs, const RunPlan& asked, Run plain,
             const JudgeOptions& options) {
  Answer answer;
  answer.run = std::move(plain);
  answer.replayed = asked.holds;
  const RunPlan plan = try_other_schedules(inputs, asked, options, answer);
  if (!asked.holds.empty()) {
    answer.replay_changes = changed_outputs(inputs, run_again(inputs, unheld(plan)), answer.run);
  }
  answer.added.assign(plan.holds.begin() + static_cast<ptrdiff_t>(asked.holds.size()),
                      plan.holds.end());
  find_races(inputs, plan, options, answer);
  answer.races_explain_unwritten = races_explain_unwritten(answer);
  if (!answer.races_explain_unwritten) answer.poison = find_poison(inputs, plan, answer.run);
  const size_t witnesses = options.witness ? std::min(answer.races.size(), kMostWitnesses) : 0;
  for (size_t i = 0; i < witnesses; ++i) find_witness(inputs, plan, answer.run, answer.races[i]);
  weigh_errors(inputs, plan, answer);
  weaken_races(answer);
  answer.verdict.outcome = outcome_of(answer);
  answer.verdict.extent = extent_of(answer, answer.verdict.outcome);
  if (holds_for_data(answer)) answer.contents = contents_reach(inputs, plan, answer.run);
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
