#include "problem.h"

#include <cmath>
#include <cstring>

#include "casefile/generate.h"

namespace kda_prefill {
namespace {

namespace generate = lw::casefile;

Bf16 to_bf16(double value) { return Bf16(generate::encode_float(value, generate::kBf16)); }

std::vector<float> normal_floats(size_t count, uint64_t seed, double scale) {
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = float(generate::random_normal(seed, i) * scale);
  return values;
}

std::vector<Bf16> normal_bf16(size_t count, uint64_t seed, double scale) {
  std::vector<Bf16> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = to_bf16(generate::random_normal(seed, i) * scale);
  return values;
}

void fill(Problem& problem) {
  const size_t pairs = size_t(problem.rows) * problem.heads;
  problem.q = normal_bf16(pairs * kHeadDim, 1, 0.088);
  problem.k = normal_bf16(pairs * kHeadDim, 2, 0.088);
  problem.gate = normal_bf16(pairs * kHeadDim, 3, 1.0);
  problem.beta = normal_floats(pairs, 4, 1.0);
  problem.a_log = normal_floats(problem.heads, 5, 0.1);
  problem.dt_bias = normal_floats(problem.heads * kHeadDim, 6, 0.1);
}

// As a host pads: q, k and beta with 0, the raw gate so that its bounded form is 0.
void pad(Problem& problem) {
  for (const Sequence& sequence : problem.sequences) {
    const size_t first = size_t(sequence.first_row + sequence.real_rows) * problem.heads;
    const size_t last = size_t(sequence.first_row + sequence.rows) * problem.heads;
    for (size_t i = first; i < last; ++i) problem.beta[i] = 0.0f;
    for (size_t i = first * kHeadDim; i < last * kHeadDim; ++i) {
      problem.q[i] = problem.k[i] = 0;
      problem.gate[i] = to_bf16(-1000.0);
    }
  }
}

Problem equal_lengths(std::string name, int batch, int tokens, int real_tokens, int heads) {
  Problem problem;
  problem.name = std::move(name);
  problem.heads = heads;
  problem.rows = batch * tokens;
  for (int b = 0; b < batch; ++b) problem.sequences.push_back({b * tokens, tokens, real_tokens});
  fill(problem);
  pad(problem);
  return problem;
}

Problem any_lengths(std::string name, const std::vector<int>& lengths, int heads) {
  Problem problem;
  problem.name = std::move(name);
  problem.heads = heads;
  problem.varlen = true;
  for (int length : lengths) {
    problem.sequences.push_back({problem.rows, length, length});
    problem.rows += length;
  }
  fill(problem);
  return problem;
}

// Unit length, but every 17th row of q and every 19th of k is zero.
void normalise(std::vector<Bf16>& rows, int heads, int zero_every) {
  for (size_t pair = 0; pair < rows.size() / kHeadDim; ++pair) {
    Bf16* const row = &rows[pair * kHeadDim];
    double squares = 1e-6;
    for (int c = 0; c < kHeadDim; ++c) squares += std::pow(double(from_bf16(row[c])), 2);
    const double factor = pair / heads % zero_every == 0 ? 0.0 : 1.0 / std::sqrt(squares);
    for (int c = 0; c < kHeadDim; ++c) row[c] = to_bf16(from_bf16(row[c]) * factor);
  }
}

// Logits from -20 to 20 over the tokens.
void spread_beta(Problem& problem) {
  const double step = 40.0 / std::max<size_t>(problem.beta.size() - 1, 1);
  for (size_t i = 0; i < problem.beta.size(); ++i) problem.beta[i] = float(step * double(i) - 20.0);
}

// Raw gates of -8, 0 and 8 with biases of -8 and 8: decays of nothing, of everything, and between.
void saturate_gates(Problem& problem) {
  for (size_t i = 0; i < problem.gate.size(); ++i) {
    problem.gate[i] = to_bf16(8.0 * double(generate::random_integer(7, i, -1, 1)));
  }
  for (size_t i = 0; i < problem.dt_bias.size(); ++i)
    problem.dt_bias[i] = i % 2 == 0 ? 8.0f : -8.0f;
}

Problem made_hard(Problem problem, bool saturated) {
  normalise(problem.q, problem.heads, 17);
  normalise(problem.k, problem.heads, 19);
  spread_beta(problem);
  if (saturated) saturate_gates(problem);
  pad(problem);
  return problem;
}

}  // namespace

float from_bf16(Bf16 bits) {
  const uint32_t wide = uint32_t(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

std::vector<int> Problem::cu_seqlens() const {
  std::vector<int> firsts{0};
  for (const Sequence& sequence : sequences) firsts.push_back(sequence.first_row + sequence.rows);
  return firsts;
}

std::vector<int> Problem::chunk_indices() const {
  std::vector<int> pairs;
  for (const ChunkRange& chunk : chunks_of(sequences)) {
    pairs.push_back(chunk.sequence);
    pairs.push_back((chunk.first_row - sequences[chunk.sequence].first_row) / kChunk);
  }
  return pairs;
}

Problem case_problem(std::string_view name, int heads) {
  if (name == "eqlen") return equal_lengths("eqlen", 1, 256, 256, heads);
  if (name == "padded") return equal_lengths("padded", 1, 512, 300, heads);
  return any_lengths("varlen", {100, 257, 63}, heads);
}

Problem uniform_problem(int batch, int tokens, int heads) {
  return equal_lengths("T " + std::to_string(tokens) + ", H " + std::to_string(heads), batch,
                       tokens, tokens, heads);
}

std::vector<Problem> correctness_problems() {
  std::vector<Problem> problems;
  for (bool saturated : {false, true}) {
    const std::string suffix = saturated ? ", saturated gates" : "";
    auto add = [&](Problem problem) {
      problems.push_back(made_hard(std::move(problem), saturated));
    };
    add(equal_lengths("256 tokens" + suffix, 1, 256, 256, 2));
    add(equal_lengths("2 x 192 tokens" + suffix, 2, 192, 192, 2));
    add(equal_lengths("300 tokens padded to 512" + suffix, 1, 512, 300, 2));
    add(any_lengths("100, 257, 63 tokens" + suffix, {100, 257, 63}, 2));
    add(any_lengths("1, 30, 63, 64, 65 tokens" + suffix, {1, 30, 63, 64, 65}, 2));
    for (int length : {1, 30, 63, 64, 65}) {
      const std::string name = std::to_string(length) + " tokens" + suffix;
      add(any_lengths(name, {length}, 2));
      add(equal_lengths(name + " padded to 256", 1, 256, length, 2));
    }
  }
  return problems;
}

StagedOutputs reference_of(const Problem& problem) {
  auto widened = [](const std::vector<Bf16>& narrow) {
    std::vector<float> wide(narrow.size());
    for (size_t i = 0; i < narrow.size(); ++i) wide[i] = from_bf16(narrow[i]);
    return wide;
  };
  const std::vector<float> q = widened(problem.q), k = widened(problem.k),
                           gate = widened(problem.gate);
  return staged_outputs({problem.heads, problem.rows, q, k, gate, problem.beta, problem.a_log,
                         problem.dt_bias, problem.scale, problem.lower_bound, problem.sequences});
}

}  // namespace kda_prefill
