#include "diagnose/rules.h"

#include <gtest/gtest.h>

namespace lw::diagnose {
namespace {

TEST(Rules, AreFoundByTheirId) {
  EXPECT_EQ(find_rule("B-1"), RuleId::kB1);
  EXPECT_EQ(find_rule("mb-22"), RuleId::kMB22);
  EXPECT_EQ(find_rule("T5-8a"), RuleId::kT5_8a);
  EXPECT_EQ(find_rule("D3b"), RuleId::kD3b);
  EXPECT_EQ(find_rule("B-99"), std::nullopt);
  EXPECT_EQ(find_rule(""), std::nullopt);
}

TEST(Rules, HaveTheirTierAndSection) {
  EXPECT_EQ(rule(RuleId::kB1).id, "B-1");
  EXPECT_EQ(rule(RuleId::kB1).tier, Tier::kRace);
  EXPECT_EQ(rule(RuleId::kMB33).tier, Tier::kError);
  EXPECT_EQ(rule(RuleId::kD2).tier, Tier::kCondition);
  EXPECT_NE(rule(RuleId::kPX1).section.find("9.7.9.25.2"), std::string_view::npos);
  EXPECT_EQ(rule(RuleId::kNone).id, "");
}

}  // namespace
}  // namespace lw::diagnose
