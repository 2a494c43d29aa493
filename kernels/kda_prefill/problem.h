#pragma once
// Inputs on which the kernel is run: those of the case files, and those on which its outputs are
// held against the reference. The same on every machine.

#include <string>
#include <string_view>
#include <vector>

#include "layout.h"
#include "reference.h"

namespace kda_prefill {

struct Problem {
  std::string name;
  int heads = 2;
  int rows = 0;
  bool varlen = false;  // sequences behind one another; else all of one padded length
  std::vector<Sequence> sequences;
  std::vector<Bf16> q, k, gate;             // [rows, heads, 128]
  std::vector<float> beta, a_log, dt_bias;  // [rows, heads] logits, [heads], [heads, 128]
  float scale = 0.08838834764831845f;       // 128^-1/2
  float lower_bound = -5.0f;

  int chunks() const { return int(chunks_of(sequences).size()); }
  std::vector<int> cu_seqlens() const;     // [sequences + 1]
  std::vector<int> chunk_indices() const;  // [chunks, 2]: sequence, chunk within it
};

// What the case files `eqlen`, `padded` and `varlen` describe; `heads` is 96 in padded_h96.
Problem case_problem(std::string_view name, int heads);

// Inputs of one length for all sequences, scaled as in a model; for the timing tests.
Problem uniform_problem(int batch, int tokens, int heads);

// Unit q and k, with zero rows among them; beta logits from -20 to 20; ordinary and saturated
// gates; every input mode; sequences of 1, 30, 63, 64 and 65 tokens.
std::vector<Problem> correctness_problems();

StagedOutputs reference_of(const Problem& problem);

float from_bf16(Bf16 bits);

}  // namespace kda_prefill
