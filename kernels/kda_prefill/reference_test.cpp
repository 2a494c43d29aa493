#include "reference.h"

#include <gtest/gtest.h>

#include <cmath>

#include "agreement.h"
#include "casefile/generate.h"
#include "layout.h"
#include "problem.h"

namespace kda_prefill {
namespace {

std::vector<float> normal(size_t count, uint64_t seed, double scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) {
    values[i] = float(lw::casefile::random_normal(seed, i) * scale);
  }
  return values;
}

double largest_difference(const std::vector<double>& a, const std::vector<double>& b) {
  double largest = 0;
  for (size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

TEST(Reference, StagedOutputsGiveTheRecurrence) {
  const std::vector<Sequence> sequences{{0, 128, 70}, {128, 70, 70}};
  const int heads = 2, rows = 198;
  const size_t pairs = size_t(rows) * heads, size = pairs * kHeadDim;
  const auto q = normal(size, 1, 0.088), k = normal(size, 2, 0.088), gate = normal(size, 3, 2.0),
             v = normal(size, 4, 1.0), beta = normal(pairs, 5, 2.0), a_log = normal(heads, 6, 0.1),
             bias = normal(heads * kHeadDim, 7, 0.1);
  const Inputs inputs{heads, rows, q, k, gate, beta, a_log, bias, 0.088f, -5.0f, sequences};

  std::vector<double> by_token(sequences.size() * heads * kHeadDim * kHeadDim, 0.01);
  std::vector<double> by_chunk = by_token;
  const std::vector<double> expected = recurrence(inputs, v, by_token);
  const std::vector<double> actual = chunked(inputs, staged_outputs(inputs), v, by_chunk);
  EXPECT_LT(largest_difference(expected, actual), 1e-13);
  EXPECT_LT(largest_difference(by_token, by_chunk), 1e-13);
}

TEST(Reference, PaddingAddsNothing) {
  const Problem problem = case_problem("padded", 1);
  const StagedOutputs staged = reference_of(problem);
  for (size_t i = size_t(300) * kHeadDim; i < staged.kg.size(); ++i) ASSERT_EQ(staged.kg[i], 0.0);
  const size_t last_chunk = 7;
  for (int c = 0; c < kHeadDim; ++c) {
    ASSERT_EQ(staged.decay_last[last_chunk * kHeadDim + c], 1.0);
  }
}

TEST(Agreement, TakesEitherLimit) {
  const std::vector<double> tiny{1e-40, 2e-40}, ordinary{1.0, -2.0};
  EXPECT_TRUE(agreement(tiny, std::vector<float>{0, 0}).acceptable());
  EXPECT_TRUE(agreement(ordinary, std::vector<float>{1.001f, -2.002f}).acceptable());
  EXPECT_FALSE(agreement(ordinary, std::vector<float>{1.1f, -2.0f}).acceptable());
  EXPECT_FALSE(agreement(ordinary, std::vector<float>{NAN, -2.0f}).acceptable());
}

TEST(Problem, ChunkIndicesOfSequences) {
  const Problem problem = case_problem("varlen", 1);
  EXPECT_EQ(problem.cu_seqlens(), (std::vector<int>{0, 100, 357, 420}));
  EXPECT_EQ(problem.chunk_indices(),
            (std::vector<int>{0, 0, 0, 1, 1, 0, 1, 1, 1, 2, 1, 3, 1, 4, 2, 0}));
}

}  // namespace
}  // namespace kda_prefill
