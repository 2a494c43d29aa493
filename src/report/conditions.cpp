#include "report/conditions.h"

#include <fmt/format.h>

#include <algorithm>

namespace lw::report {
namespace {

std::string strong_read_text(const order::Unforced& unforced, Names& names) {
  return fmt::format("{} at {} and {} at {} touch one word in either order",
                     names.agent(unforced.first, false), names.line_text(unforced.first.op, {}),
                     names.agent(unforced.second, false), names.line_text(unforced.second.op, {}));
}

std::string poll_text(const order::Unforced& unforced, Names& names) {
  const std::string first = fmt::format("{} at {}", names.agent(unforced.first, false),
                                        names.line_text(unforced.first.op, {}));
  const std::string second = fmt::format("{} at {}", names.agent(unforced.second, false),
                                         names.line_text(unforced.second.op, {}));
  if (unforced.first.kind == order::Kind::kRead)
    return fmt::format("{} may still poll when {} writes", first, second);
  if (unforced.awaited)
    return fmt::format("nothing shows that {} polls for what {} writes", second, first);
  return fmt::format("what {} polls for may come from {} or from others", second, first);
}

std::string unforced_text(const order::Unforced& unforced, Names& names) {
  if (unforced.rule == diagnose::RuleId::kD5) return strong_read_text(unforced, names);
  if (unforced.rule == diagnose::RuleId::kD6) return poll_text(unforced, names);
  const std::string object =
      unforced.named_barrier
          ? fmt::format("named barrier {}, generation {}", unforced.object, unforced.generation)
          : fmt::format("mbarrier {}, phase {}", names.shared_place(unforced.cta, unforced.object),
                        unforced.generation);
  auto party = [&](const order::Party& who) {
    return fmt::format("{} at {}", names.agent(who, false), names.line_text(who.op, {}));
  };
  return fmt::format("{} of CTA {}: nothing keeps {} behind {}", object, unforced.cta.value,
                     party(unforced.second), party(unforced.first));
}

std::string_view rule_of(program::Cause cause) {
  switch (cause) {
    case program::Cause::clock:
    case program::Cause::placement:
    case program::Cause::active_lanes:
      return "D-7";
    case program::Cause::mbarrier_test:
      return "D-6b";
    case program::Cause::strong_read:
      return "D-5";
    case program::Cause::register_pool:
    case program::Cause::tensor_columns:
      return "D-8";
  }
  return {};
}

std::string influence_text(const program::Influence& influence, Names& names) {
  const std::string made = fmt::format("`{}` at {}", names.instruction(influence.made_at),
                                       names.line_text(influence.made_at, {}));
  if (influence.cause == program::Cause::register_pool)
    return made + " may have to wait for registers";
  if (influence.cause == program::Cause::tensor_columns)
    return made + " may have to wait for columns that another CTA of its SM frees";
  if (influence.arrived_at == influence.made_at)
    return made + " may answer false, and the kernel goes on";
  return fmt::format("what {} gives is the schedule's doing and reaches `{}` at {}", made,
                     names.instruction(influence.arrived_at),
                     names.line_text(influence.arrived_at, {}));
}

// Instructions of one line are told apart by nothing that the reader sees: each text once.
void add(std::vector<Condition>& list, std::string_view rule, std::string text) {
  const auto same = [&](const Condition& one) { return one.rule == rule && one.text == text; };
  if (std::ranges::none_of(list, same)) list.push_back({std::string(rule), std::move(text)});
}

void add_facts(const std::vector<order::Unforced>& unforced,
               const std::vector<program::Influence>& influences, Names& names,
               std::vector<Condition>& list) {
  for (const order::Unforced& fact : unforced)
    add(list, diagnose::rule(fact.rule).id, unforced_text(fact, names));
  for (const program::Influence& influence : influences)
    add(list, rule_of(influence.cause), influence_text(influence, names));
}

// What the run that went on beyond an error adds to what the run up to it says.
void add_doubt(const prove::FaultDoubt& doubt, Names& names, std::vector<Condition>& list) {
  add_facts(doubt.unforced, doubt.influences, names, list);
  if (doubt.race) {
    add(list, "D-1",
        fmt::format(
            "with this error kept back the others go on, and {} at {} races with {} at {}",
            names.agent(doubt.race->earlier, false), names.line_text(doubt.race->earlier.op, {}),
            names.agent(doubt.race->later, false), names.line_text(doubt.race->later.op, {})));
  }
  if (doubt.not_followed)
    add(list, "D-1", "what the others do beyond this error could not be followed");
}

}  // namespace

std::vector<Condition> conditions(const prove::Answer& answer, Names& names) {
  std::vector<Condition> list;
  add_facts(answer.run.facts.unforced, answer.influences, names, list);
  if (answer.fault_doubt) add_doubt(*answer.fault_doubt, names, list);
  return list;
}

}  // namespace lw::report
