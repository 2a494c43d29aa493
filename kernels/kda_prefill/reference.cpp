#include "reference.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "layout.h"

namespace kda_prefill {
namespace {

constexpr int kD = kHeadDim;

double sigmoid(double x) { return 1.0 / (1.0 + std::exp(-x)); }

double beta_of(const Inputs& inputs, int row, int head) {
  return sigmoid(inputs.beta[size_t(row) * inputs.heads + head]);
}

// Where the 128 channels of a row and head begin.
size_t at(const Inputs& inputs, int row, int head) {
  return (size_t(row) * inputs.heads + head) * kD;
}

double gate_of(const Inputs& inputs, int row, int head, int channel) {
  const double rate = std::exp(double(inputs.a_log[head]));
  const double x = inputs.gate[at(inputs, row, head) + channel];
  return inputs.lower_bound * sigmoid(rate * (x + inputs.dt_bias[head * kD + channel]));
}

using ChannelSums = std::vector<std::array<double, kD>>;

// Running sums of the gate over the real rows of a chunk.
ChannelSums gate_sums(const Inputs& inputs, const ChunkRange& chunk, int head) {
  ChannelSums sums(chunk.real_rows);
  for (int i = 0; i < chunk.real_rows; ++i) {
    for (int c = 0; c < kD; ++c) {
      sums[i][c] = (i > 0 ? sums[i - 1][c] : 0.0) + gate_of(inputs, chunk.first_row + i, head, c);
    }
  }
  return sums;
}

void stage_rows(const Inputs& inputs, const ChunkRange& chunk, int head, const ChannelSums& sums,
                StagedOutputs& out) {
  for (int i = 0; i < chunk.real_rows; ++i) {
    const size_t row = at(inputs, chunk.first_row + i, head);
    for (int c = 0; c < kD; ++c) {
      out.k_scaled[row + c] = inputs.k[row + c] * std::exp(sums[i][c]);
      out.q_scaled[row + c] = inputs.q[row + c] * std::exp(sums[i][c]) * inputs.scale;
      out.kg[row + c] = inputs.k[row + c] * std::exp(sums.back()[c] - sums[i][c]);
    }
  }
}

void stage_matrices(const Inputs& inputs, const ChunkRange& chunk, int head,
                    const ChannelSums& sums, double* aqk, double* akk) {
  for (int i = 0; i < chunk.real_rows; ++i) {
    const float* const q = &inputs.q[at(inputs, chunk.first_row + i, head)];
    const float* const k = &inputs.k[at(inputs, chunk.first_row + i, head)];
    for (int j = 0; j <= i; ++j) {
      const float* const k_j = &inputs.k[at(inputs, chunk.first_row + j, head)];
      double qk = 0, kk = 0;
      for (int c = 0; c < kD; ++c) {
        const double decayed = k_j[c] * std::exp(sums[i][c] - sums[j][c]);
        qk += q[c] * decayed;
        kk += k[c] * decayed;
      }
      aqk[i * kChunk + j] = qk * inputs.scale;
      if (j < i) akk[i * kChunk + j] = kk * beta_of(inputs, chunk.first_row + i, head);
    }
  }
}

// One token of one head. `state` is [128 x 128], `o` the 128 outputs.
void step(const Inputs& inputs, int row, int head, const float* v, double* state, double* o) {
  const float* const q = &inputs.q[at(inputs, row, head)];
  const float* const k = &inputs.k[at(inputs, row, head)];
  std::array<double, kD> u{};
  for (int c = 0; c < kD; ++c) {
    const double decay = std::exp(gate_of(inputs, row, head, c));
    for (int d = 0; d < kD; ++d) {
      state[c * kD + d] *= decay;
      u[d] += state[c * kD + d] * k[c];
    }
  }
  for (int d = 0; d < kD; ++d) u[d] = beta_of(inputs, row, head) * (v[d] - u[d]);
  for (int c = 0; c < kD; ++c) {
    for (int d = 0; d < kD; ++d) {
      state[c * kD + d] += k[c] * u[d];
      o[d] += inputs.scale * state[c * kD + d] * q[c];
    }
  }
}

// One chunk of one head: the new values Vn solve (I + Akk) Vn = diag(beta) (V - (k exp(G)) S), row
// by row; then o = (q exp(G) scale) S + Aqk Vn and S <- diag(exp(G_last)) S + (k exp(G_last - G))^T
// Vn.
void chunk_step(const Inputs& inputs, const ChunkRange& chunk, size_t chunk_at, int head,
                const StagedOutputs& staged, std::span<const float> v, double* state,
                std::vector<double>& o) {
  const double* const aqk = &staged.aqk[chunk_at * kChunk * kChunk];
  const double* const akk = &staged.akk[chunk_at * kChunk * kChunk];
  std::vector<std::array<double, kD>> fresh(chunk.real_rows);
  for (int i = 0; i < chunk.real_rows; ++i) {
    const size_t row = at(inputs, chunk.first_row + i, head);
    const double beta = beta_of(inputs, chunk.first_row + i, head);
    for (int d = 0; d < kD; ++d) {
      double known = 0, read = 0;
      for (int c = 0; c < kD; ++c) {
        known += staged.k_scaled[row + c] * state[c * kD + d];
        read += staged.q_scaled[row + c] * state[c * kD + d];
      }
      double value = beta * (v[row + d] - known);
      for (int j = 0; j < i; ++j) value -= akk[i * kChunk + j] * fresh[j][d];
      fresh[i][d] = value;
      for (int j = 0; j <= i; ++j) read += aqk[i * kChunk + j] * fresh[j][d];
      o[row + d] = read;
    }
  }
  for (int c = 0; c < kD; ++c) {
    for (int d = 0; d < kD; ++d) {
      double& cell = state[c * kD + d];
      cell *= staged.decay_last[chunk_at * kD + c];
      for (int i = 0; i < chunk.real_rows; ++i) {
        cell += staged.kg[at(inputs, chunk.first_row + i, head) + c] * fresh[i][d];
      }
    }
  }
}

}  // namespace

std::vector<ChunkRange> chunks_of(std::span<const Sequence> sequences) {
  std::vector<ChunkRange> chunks;
  for (size_t s = 0; s < sequences.size(); ++s) {
    const Sequence& sequence = sequences[s];
    for (int row = 0; row < sequence.rows; row += kChunk) {
      chunks.push_back(
          {int(s), sequence.first_row + row, std::clamp(sequence.real_rows - row, 0, kChunk)});
    }
  }
  return chunks;
}

StagedOutputs staged_outputs(const Inputs& inputs) {
  const std::vector<ChunkRange> chunks = chunks_of(inputs.sequences);
  const size_t operand_size = size_t(inputs.rows) * inputs.heads * kD;
  const size_t tiles = size_t(inputs.heads) * chunks.size();
  const std::vector<double> no_rows(operand_size), no_matrix(tiles * kChunk * kChunk);
  StagedOutputs out{no_rows,   no_rows,  no_rows, std::vector<double>(tiles * kD, 1.0),
                    no_matrix, no_matrix};
  for (int head = 0; head < inputs.heads; ++head) {
    for (size_t n = 0; n < chunks.size(); ++n) {
      if (chunks[n].real_rows == 0) continue;
      const ChannelSums sums = gate_sums(inputs, chunks[n], head);
      const size_t tile = head * chunks.size() + n;
      stage_rows(inputs, chunks[n], head, sums, out);
      stage_matrices(inputs, chunks[n], head, sums, &out.aqk[tile * kChunk * kChunk],
                     &out.akk[tile * kChunk * kChunk]);
      for (int c = 0; c < kD; ++c) out.decay_last[tile * kD + c] = std::exp(sums.back()[c]);
    }
  }
  return out;
}

std::vector<double> recurrence(const Inputs& inputs, std::span<const float> v,
                               std::span<double> states) {
  std::vector<double> o(size_t(inputs.rows) * inputs.heads * kD);
  for (size_t s = 0; s < inputs.sequences.size(); ++s) {
    const Sequence& sequence = inputs.sequences[s];
    for (int head = 0; head < inputs.heads; ++head) {
      double* const state = &states[(s * inputs.heads + head) * kD * kD];
      for (int i = 0; i < sequence.real_rows; ++i) {
        const size_t row = at(inputs, sequence.first_row + i, head);
        step(inputs, sequence.first_row + i, head, &v[row], state, &o[row]);
      }
    }
  }
  return o;
}

std::vector<double> chunked(const Inputs& inputs, const StagedOutputs& staged,
                            std::span<const float> v, std::span<double> states) {
  const std::vector<ChunkRange> chunks = chunks_of(inputs.sequences);
  std::vector<double> o(size_t(inputs.rows) * inputs.heads * kD);
  for (int head = 0; head < inputs.heads; ++head) {
    for (size_t n = 0; n < chunks.size(); ++n) {
      const size_t state = (size_t(chunks[n].sequence) * inputs.heads + head) * kD * kD;
      chunk_step(inputs, chunks[n], head * chunks.size() + n, head, staged, v, &states[state], o);
    }
  }
  return o;
}

}  // namespace kda_prefill
