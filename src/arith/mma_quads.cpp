#include "arith/mma_quads.h"

#include <array>
#include <cmath>
#include <cstring>

#include "arith/bits.h"
#include "arith/formats.h"

namespace lw::arith {
namespace {

constexpr int kPairs = 4;  // of quads

// A (rows) or B (columns) of a pair of quads.
using Vectors = std::array<std::array<float, 4>, 8>;

int lane_of(int pair, int upper, int in_quad) { return pair * 4 + upper * 16 + in_quad; }

float half_of(const void* const* registers, int lane, int element) {
  const uint32_t word = static_cast<const uint32_t*>(registers[element / 2])[lane];
  return f32_from_f16(static_cast<uint16_t>(word >> (16 * (element % 2))));
}

// Element i of a lane is its vector's i-th, or, the other way around, the i-th vector's.
Vectors take(const void* const* registers, int pair, bool lane_is_vector) {
  Vectors vectors{};
  for (int upper = 0; upper < 2; ++upper)
    for (int t = 0; t < 4; ++t)
      for (int i = 0; i < 4; ++i) {
        const float value = half_of(registers, lane_of(pair, upper, t), i);
        if (lane_is_vector) {
          vectors[4 * upper + t][i] = value;
        } else {
          vectors[4 * upper + i][t] = value;
        }
      }
  return vectors;
}

float sum_f32(const std::array<float, 4>& a, const std::array<float, 4>& b, float c) {
  float sum = 0;
  for (int k = 0; k < 4; ++k) sum = std::fma(a[k], b[k], sum);
  return canonical_nan(c + sum);
}

float sum_f16(const std::array<float, 4>& a, const std::array<float, 4>& b, float c) {
  const float lower = std::fma(a[1], b[1], a[0] * b[0]);
  const float upper = std::fma(a[3], b[3], a[2] * b[2]);
  return c + lower + upper;
}

struct Place {
  int row;
  int column;
};
Place place_of(bool f16, int upper, int in_quad, int i) {
  if (f16) return {4 * upper + in_quad, i};
  return {4 * upper + (in_quad & 1) + (i & 2), (i & 4) + (in_quad & 2) + (i & 1)};
}

}  // namespace

void QuadsMma::run(const void* const* a, const void* const* b, const void* const* c,
                   void* const* d) const {
  std::array<std::array<uint32_t, 32>, 8> results{};
  for (int pair = 0; pair < kPairs; ++pair) {
    const Vectors rows = take(a, pair, a_by_rows);
    const Vectors columns = take(b, pair, b_by_columns);
    for (int upper = 0; upper < 2; ++upper)
      for (int t = 0; t < 4; ++t)
        for (int i = 0; i < 8; ++i) {
          const int lane = lane_of(pair, upper, t);
          const auto [row, column] = place_of(f16, upper, t, i);
          if (f16) {
            const uint32_t sum =
                f16_from_f32_rn(sum_f16(rows[row], columns[column], half_of(c, lane, i)));
            results[i / 2][lane] |= sum << (16 * (i % 2));
          } else {
            const float addend = f32_of(static_cast<const uint32_t*>(c[i])[lane]);
            results[i][lane] = bits_of(sum_f32(rows[row], columns[column], addend));
          }
        }
  }
  for (int i = 0; i < (f16 ? 4 : 8); ++i) std::memcpy(d[i], results[i].data(), 128);
}

}  // namespace lw::arith
