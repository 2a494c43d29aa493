#include "diagnose/rules.h"

#include <cctype>
#include <iterator>
#include <string>

#include "base/check.h"

namespace lw::diagnose {
namespace {

constexpr Rule kRules[] = {
    {"", Tier::kNote, "", "", "", ""},
#define RULE(token, id, tier, instructions, orders, section, catches) \
  {id, Tier::tier, instructions, orders, section, catches},
#include "diagnose/rules.def"
#undef RULE
};

// Upper case without the dash, so that users need not remember where it stands.
std::string plain(std::string_view text) {
  std::string result;
  for (char c : text) {
    if (c != '-') result += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return result;
}

}  // namespace

const Rule& rule(RuleId id) {
  const auto index = static_cast<size_t>(id);
  LW_CHECK(index < std::size(kRules), index);
  return kRules[index];
}

size_t rule_count() { return std::size(kRules); }

std::optional<RuleId> find_rule(std::string_view text) {
  const std::string wanted = plain(text);
  for (size_t i = 1; i < std::size(kRules); ++i) {
    if (plain(kRules[i].id) == wanted) return static_cast<RuleId>(i);
  }
  return std::nullopt;
}

std::string_view tier_name(Tier tier) {
  switch (tier) {
    case Tier::kRace:
      return "race";
    case Tier::kError:
      return "error";
    case Tier::kStrict:
      return "strict";
    case Tier::kNote:
      return "note";
    case Tier::kOk:
      return "ok";
    case Tier::kCondition:
      return "condition";
  }
  return "";
}

}  // namespace lw::diagnose
