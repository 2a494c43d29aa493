#include "prove/freedom.h"

#include <algorithm>
#include <set>
#include <utility>

#include "prove/flat_code.h"

namespace lw::prove {
namespace {

using program::Arrival;
using program::Cause;

// Instructions whose result may be another in another schedule.
std::set<base::OpId> made_by_schedule(const Run& run) {
  std::set<base::OpId> ops(run.result.schedule_values.begin(), run.result.schedule_values.end());
  for (const order::Unforced& fact : run.facts.unforced) {
    if (fact.rule == diagnose::RuleId::kD5 || fact.rule == diagnose::RuleId::kD6)
      ops.insert({fact.first.op, fact.second.op});
  }
  return ops;
}

void add_influences(const machine::Machine& machine, const machine::Launch& launch,
                    const std::set<base::OpId>& made, std::vector<program::Influence>& found) {
  const ptx::Module& module = machine.modules().module(launch.request.module);
  for (const program::Influence& influence :
       program::find_influences(module, flat_code(machine, launch)))
    if (made.contains(influence.made_at) && influence.arrival != Arrival::nowhere)
      found.push_back(influence);
}

}  // namespace

std::vector<program::Influence> influences_of(const Run& run) {
  std::vector<program::Influence> found;
  const std::set<base::OpId> made = made_by_schedule(run);
  if (made.empty()) return found;
  std::set<std::pair<uint32_t, uint32_t>> seen;
  const machine::Machine& machine = *run.set_up.machine;
  for (const auto& launch : run.set_up.machine->launches()) {
    if (!launch->program) continue;
    if (seen.emplace(launch->request.module.value, launch->program->kernel.value).second)
      add_influences(machine, *launch, made, found);
  }
  return found;
}

std::vector<base::OpId> doubtful_tests(const std::vector<program::Influence>& influences) {
  std::vector<base::OpId> tests;
  for (const program::Influence& influence : influences)
    if (influence.cause == Cause::mbarrier_test) tests.push_back(influence.made_at);
  return tests;
}

bool steers(const std::vector<program::Influence>& influences) {
  return std::ranges::any_of(influences, [](const program::Influence& influence) {
    return influence.arrival == Arrival::control && influence.cause != Cause::mbarrier_test &&
           influence.cause != Cause::register_pool && influence.cause != Cause::tensor_columns;
  });
}

}  // namespace lw::prove
