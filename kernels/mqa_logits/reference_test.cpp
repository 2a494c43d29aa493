#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "problem.h"

namespace mqa_logits {
namespace {

int units_of(int context) { return (context + kUnit - 1) / kUnit; }

// The units between two entries, as a CTA walks them (unit_walk.cuh).
std::vector<UnitPlace> walked(const std::vector<int>& contexts, UnitPlace at, UnitPlace end) {
  std::vector<UnitPlace> units;
  while (at != end) {
    units.push_back(at);
    if (++at.unit < units_of(contexts.at(at.request))) continue;
    at.unit = 0;
    do {
      ++at.request;
    } while (at != end && contexts.at(at.request) == 0);
  }
  return units;
}

void expect_every_unit_once(const std::vector<int>& contexts, int first_request, int ctas) {
  const std::vector<UnitPlace> schedule = make_schedule(contexts, first_request, ctas);
  ASSERT_EQ(schedule.size(), size_t(ctas) + 1);
  std::vector<UnitPlace> units;
  size_t most = 0, fewest = SIZE_MAX;
  for (int cta = 0; cta < ctas; ++cta) {
    const auto own = walked(contexts, schedule[cta], schedule[cta + 1]);
    most = std::max(most, own.size());
    fewest = std::min(fewest, own.size());
    units.insert(units.end(), own.begin(), own.end());
  }
  std::vector<UnitPlace> all;
  for (int request = first_request; request < int(contexts.size()); ++request) {
    for (int unit = 0; unit < units_of(contexts[request]); ++unit) all.push_back({request, unit});
  }
  EXPECT_EQ(units, all);
  EXPECT_LE(most - fewest, 1u);
}

TEST(Schedule, DealsEveryUnitOnce) {
  expect_every_unit_once({5120, 5120, 5120, 5120}, 0, 80);
  expect_every_unit_once({0, 513, 0, 0, 256, 1, 0}, 0, 3);
  expect_every_unit_once({700, 700, 300, 0}, 2, 4);
  expect_every_unit_once({1}, 0, 5);
  expect_every_unit_once({0, 0, 0}, 0, 4);
}

// One head of one channel pair, by hand: two keys of a page, in another page's place.
TEST(Reference, IsTheDefinition) {
  Problem problem;
  problem.variant = kVariants[0];
  problem.heads = 32;
  problem.next_n = 1;
  problem.contexts = {66};
  problem.q.assign(size_t{32} * kHeadDim, 0);
  problem.weights.assign(32, 0.0f);
  problem.pages.assign(size_t{kPoolPages} * kPageBytes, 0);
  problem.block_table = {3, 7};
  const Fp8 two = 0x40, three = 0x44, minus_one = 0xb8;
  problem.q[5 * kHeadDim + 9] = two;
  problem.q[6 * kHeadDim + 9] = minus_one;
  problem.weights[5] = -0.5f;
  problem.weights[6] = 8.0f;
  Fp8* const page = &problem.pages[7 * kPageBytes];
  page[0 * kHeadDim + 9] = three;
  page[1 * kHeadDim + 9] = minus_one;
  const float scales[2] = {4.0f, 10.0f};
  std::memcpy(page + kPageKeyBytes, scales, sizeof scales);

  const std::vector<double> logits = reference_logits(problem);
  ASSERT_EQ(logits.size(), 256u);
  EXPECT_EQ(logits[0], 0.0);
  EXPECT_EQ(logits[64], 4.0 * -0.5 * 6.0);  // head 6 is negative
  EXPECT_EQ(logits[65], 10.0 * 8.0 * 1.0);  // head 5 is
  EXPECT_EQ(logits[66], -INFINITY);
}

TEST(Reference, PlacesWhatRanksShare) {
  const Problem cp = case_problem({"cp", mqa_logits::cp});
  EXPECT_EQ(cp.logits_stride(), 2 * 5120);
  EXPECT_EQ(cp.ranks, 2);
  const Problem rows = case_problem({"rows", mqa_logits::rows});
  EXPECT_EQ(rows.logits_rows(), 24);
  EXPECT_EQ(rows.first_request, 4);
  EXPECT_EQ(rows.schedule.front(), (UnitPlace{4, 0}));
}

// The largest sum of integers stays exact in fp32.
TEST(Problem, IntegersAreExact) {
  for (const Problem& problem : correctness_problems()) {
    if (!problem.integers) continue;
    for (double logit : reference_logits(problem)) {
      ASSERT_TRUE(std::isinf(logit) || std::abs(logit) < 1 << 24) << problem.name;
      ASSERT_TRUE(std::isinf(logit) || logit == std::floor(logit)) << problem.name;
    }
  }
}

}  // namespace
}  // namespace mqa_logits
