#include "problem.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "casefile/generate.h"

namespace mqa_logits {
namespace {

namespace generate = lw::casefile;

constexpr int kKeySeed = 3, kScaleSeed = 4, kTableSeed = 5;

Fp8 to_fp8(double value) { return Fp8(generate::encode_float(value, generate::kE4m3)); }

// `scale` is the deviation of ordinary numbers.
double made_up(const Problem& problem, int seed, uint64_t index, double scale) {
  return problem.integers ? double(generate::random_integer(seed, index, -kLargest, kLargest))
                          : scale * generate::random_normal(seed, index);
}

float made_up_scale(const Problem& problem, uint64_t index) {
  const double random = generate::random_uniform(kScaleSeed, index);
  if (!problem.integers) return float(0.01 * (1.5 + random));
  return float(1 << generate::random_integer(kScaleSeed, index, 0, 2));
}

void fill_page(const Problem& problem, uint64_t page, Fp8* bytes) {
  for (uint64_t i = 0; i < kPageKeyBytes; ++i) {
    bytes[i] = to_fp8(made_up(problem, kKeySeed, page * kPageKeyBytes + i, 100.0));
  }
  for (uint64_t key = 0; key < kPage; ++key) {
    const float scale = made_up_scale(problem, page * kPage + key);
    std::memcpy(bytes + kPageKeyBytes + key * sizeof scale, &scale, sizeof scale);
  }
}

Problem filled(Problem problem) {
  const size_t columns = size_t(problem.requests()) * problem.columns();
  problem.q.resize(columns * kHeadDim);
  for (size_t i = 0; i < problem.q.size(); ++i) {
    problem.q[i] = to_fp8(made_up(problem, kQuerySeed, i, 1.0));
  }
  problem.weights.resize(columns);
  for (size_t i = 0; i < columns; ++i) {
    problem.weights[i] = float(made_up(problem, kWeightsSeed, i, 0.0156));  // (heads 128)^-1/2
  }
  problem.pages.resize(size_t{kPoolPages} * kPageBytes);
  for (int page = 0; page < kPoolPages; ++page) {
    fill_page(problem, page, &problem.pages[size_t(page) * kPageBytes]);
  }
  problem.block_table.resize(size_t(problem.requests()) * problem.table_stride());
  for (size_t i = 0; i < problem.block_table.size(); ++i) {
    problem.block_table[i] = int(generate::random_integer(kTableSeed, i, 0, kPoolPages - 1));
  }
  problem.schedule = make_schedule(problem.contexts, problem.first_request, problem.ctas);
  return problem;
}

// With the share of the work that a rank has in this variant.
Problem shared_out(Problem problem) {
  if (problem.variant.variant.rank_rows) {
    problem.first_request = problem.requests();
    const std::vector<int> ours = problem.contexts;
    problem.contexts.insert(problem.contexts.end(), ours.begin(), ours.end());
  }
  if (problem.variant.variant.rank_pages) {
    problem.rank = 1;
    problem.ranks = 2;
  }
  return problem;
}

Problem made(const NamedVariant& variant, int heads, int next_n, std::vector<int> contexts,
             int ctas, bool integers = true) {
  Problem problem;
  problem.name = fmt::format("{}, {} heads, next_n {}, batch {}, {} CTAs, {}", variant.name, heads,
                             next_n, contexts.size(), ctas, integers ? "integers" : "numbers");
  problem.variant = variant;
  problem.heads = heads;
  problem.next_n = next_n;
  problem.contexts = std::move(contexts);
  problem.ctas = ctas;
  problem.integers = integers;
  return filled(shared_out(std::move(problem)));
}

std::vector<int> spread_contexts(int batch) {
  std::vector<int> contexts(batch);
  for (int i = 0; i < batch; ++i) contexts[i] = int(generate::random_integer(6, i, 0, 300));
  return contexts;
}

}  // namespace

int Problem::table_stride() const {
  const int longest = *std::max_element(contexts.begin(), contexts.end());
  return std::max(1, (longest + kPage - 1) / kPage);
}

int Problem::logits_stride() const {
  return (table_stride() * kPage + kUnit - 1) / kUnit * kUnit * ranks;
}

Problem case_problem(const NamedVariant& variant) {
  Problem problem = made(variant, 32, 6, {5120, 5120, 5120, 5120}, 80);
  problem.name = variant.name;
  return problem;
}

std::vector<Problem> correctness_problems() {
  std::vector<Problem> problems;
  for (const NamedVariant& variant : kVariants) {
    problems.push_back(made(variant, 32, 6, {513, 0, 100, 64, 1, 1000}, 3));
    problems.push_back(made(variant, 32, 6, {700, 300}, 2, false));
    problems.push_back(made(variant, 64, 4, {200}, 2));
    problems.push_back(made(variant, 32, 8, {300, 129}, 4));
  }
  const NamedVariant& base = kVariants[0];
  for (int next_n = 1; next_n <= 6; ++next_n) {
    problems.push_back(made(base, 32, next_n, {130, 0, 64, 257}, 2));
  }
  for (int next_n = 1; next_n <= 3; ++next_n) {
    problems.push_back(made(base, 64, next_n, {130, 0, 64, 257}, 2));
  }
  problems.push_back(made(base, 64, 1, spread_contexts(32), 8));
  problems.push_back(made(base, 64, 1, {4096}, 5, false));
  problems.push_back(made(base, 32, 6, {0, 0, 0}, 4));
  return problems;
}

}  // namespace mqa_logits
