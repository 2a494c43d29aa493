#pragma once
// The recurrence of Kimi delta attention and the outputs of fused_k123, in double, without CUDA.
//
// Per head, with state S [128 x 128] and, for each token, q, k, v, a gate g <= 0 per channel and a
// weight beta in (0, 1):
//
//   S <- diag(exp(g)) S;   u = beta (v - S^T k);   S <- S + k u^T;   o = scale S^T q
//
// The kernels work on chunks of 64 tokens instead. With G the running sum of g inside a chunk,
//
//   Aqk[i,j] = scale sum_c q_i[c] k_j[c] exp(G_i[c] - G_j[c])    i >= j
//   Akk[i,j] = beta_i sum_c k_i[c] k_j[c] exp(G_i[c] - G_j[c])   i > j
//
// and the recurrence needs only these, q exp(G) scale, k exp(G), k exp(G_last - G) and exp(G_last).
// recurrence() is the definition; chunked() computes the same from the staged outputs, which is how
// the test holds the two together.

#include <cstdint>
#include <span>
#include <vector>

namespace kda_prefill {

// Rows [first_row, first_row + rows) of the tensors; of these the first `real_rows` are tokens, the
// others padding that a host added.
struct Sequence {
  int first_row;
  int rows;
  int real_rows;
};

// The arrays are row-major: q, k, v, raw gate [rows, heads, 128], beta logits [rows, heads], a_log
// [heads], dt_bias [heads, 128].
struct Inputs {
  int heads;
  int rows;
  std::span<const float> q, k, gate, beta, a_log, dt_bias;
  float scale;
  float lower_bound;  // of the gate, -5 to 0
  std::vector<Sequence> sequences;
};

// k_scaled, q_scaled and kg [rows, heads, 128], decay_last [heads, chunks, 128], aqk and akk
// [heads, chunks, 64, 64]. Rows that belong to no token, and their columns of aqk and akk, are
// zero.
struct StagedOutputs {
  std::vector<double> k_scaled, q_scaled, kg, decay_last, aqk, akk;
};

struct ChunkRange {
  int sequence;
  int first_row;
  int real_rows;  // 0 to 64
};

// The chunks of all sequences in order, those made of padding alone included.
std::vector<ChunkRange> chunks_of(std::span<const Sequence> sequences);

StagedOutputs staged_outputs(const Inputs& inputs);

// Outputs [rows, heads, 128]. `states` [sequences, heads, 128, 128], key channel first, is read as
// the initial state and left as the final one.
std::vector<double> recurrence(const Inputs& inputs, std::span<const float> v,
                               std::span<double> states);

// The same from the staged outputs.
std::vector<double> chunked(const Inputs& inputs, const StagedOutputs& staged,
                            std::span<const float> v, std::span<double> states);

}  // namespace kda_prefill
