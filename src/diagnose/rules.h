#pragma once
// The rule book as data: every edge between two accesses, and every finding about a missing one,
// names a row of rules.def.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lw::diagnose {

enum class Tier : uint8_t {
  kRace,       // two accesses that nothing orders
  kError,      // wrong whatever the order
  kStrict,     // the ISA's edge is missing, shipped kernels rely on it: off unless `--strict`
  kNote,       // worth knowing, never counted
  kOk,         // a rule whose job is to stop a false alarm
  kCondition,  // decides whether one run speaks for all schedules
};

enum class RuleId : uint16_t {
  kNone,
#define RULE(token, id, tier, instructions, orders, section, catches) k##token,
#include "diagnose/rules.def"
#undef RULE
};

struct Rule {
  std::string_view id;
  Tier tier;
  std::string_view instructions;
  std::string_view orders;
  std::string_view section;
  std::string_view catches;
};

// The row of a rule; kNone has an empty one.
const Rule& rule(RuleId id);

// Ids are 1 .. rule_count() - 1.
size_t rule_count();

// "B-1", "b-1" or "B1" to its id.
std::optional<RuleId> find_rule(std::string_view text);

// "race", "error", "strict", "note", "ok", "condition".
std::string_view tier_name(Tier tier);

}  // namespace lw::diagnose
