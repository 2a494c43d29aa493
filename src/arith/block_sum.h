#pragma once
// One output element of a matrix instruction, the plain definition.
//
// Tensor cores do not add in floating point. A block of products and the accumulator are summed
// together, once: every term is aligned to the largest exponent E among them, truncated towards
// zero to a multiple of 2^(E - F), and the sum of the truncated terms is exact; then it is cut
// (f32) or rounded (f16) to the result. Which is why results differ from any chain of fma, and why
// this file exists.
//
// Rules (docs/numerics.md):
// - A number is sign, integer significand, exponent; subnormals keep the smallest exponent of their
//   format. The product of two is not normalised: its exponent is the sum of theirs.
// - E counts nonzero terms only and is at least the floor L.
// - A zero result, also one that was cut to zero, is +0.
// - NaN, 0 * Inf, Inf - Inf: the canonical NaN; any other infinity: that infinity.
//
// F, L and the block length differ by architecture (mma_rules.h). This file is the definition that
// tests hold the fast code (mma.simd.cpp) against; it was itself held against the H200
// (tests/agree).

#include <span>

#include "arith/formats.h"

namespace lw::arith {

struct BlockRules {
  enum class Result : uint8_t {
    kF32Cut,      // 24 bits
    kF32Reduced,  // 14 bits: the low ten bits of the f32 are zero
    kF16,         // nearest even
  };

  int fraction_bits;  // F
  int floor;          // L
  Result result;

  friend constexpr bool operator==(BlockRules, BlockRules) = default;
};

// c + sum of a[i] * b[i] over one block. Codes are in the named formats; c and the result in f32,
// or in f16 by rules.result. `scale`: of every product, as a power of two that joins its exponent.
uint32_t block_sum(const Format& a_format, std::span<const uint32_t> a, const Format& b_format,
                   std::span<const uint32_t> b, uint32_t c, BlockRules rules, int scale = 0);

// The same of operands that are decoded already; fraction bits of their formats.
uint32_t block_sum(std::span<const Decoded> a, int a_fraction_bits, std::span<const Decoded> b,
                   int b_fraction_bits, uint32_t c, BlockRules rules, int scale = 0);

// A finite term of such a sum: significand * 2^last, its exponent in the sense of the rules.
struct SumTerm {
  bool negative;
  uint64_t significand;
  int last;
  int exponent;
};
// c, which is finite, and the terms, aligned, cut, added and finished.
uint32_t sum_of_terms(std::span<const SumTerm> terms, uint32_t c, BlockRules rules);

}  // namespace lw::arith
