#pragma once
// What one lane's tcgen05.mma is about to do, checked: mma.cpp.

#include <optional>
#include <vector>

#include "machine/semantics/tensor_memory/tensor_site.h"
#include "machine/tensor_memory_descriptors.h"

namespace lw::machine {

// Op: a, b address of D and its displacement, c instruction descriptor, d whether D is read,
// immediate by how many powers of two D counts less;
// detail the kind and flags; more: A (a descriptor, or an address and its displacement), B, four
// words of lanes that are not written or the addresses of the scales and their displacements.
inline constexpr uint16_t kTensorA = 1 << 8;
inline constexpr uint16_t kKeepsLanes = 1 << 9;
inline constexpr uint16_t kPair = 1 << 10;
inline constexpr uint32_t kAAt = 0, kBAt = 2, kLanesAt = 3, kLaneWords = 4, kScalesAt = 3;
inline constexpr uint32_t kColumnsOfA = arith::kTensorRowBytes / 4;
inline constexpr uint32_t kHalfLanes = 16;

// One operand, or the half of it that a CTA of a pair has: pieces of shared memory, or cells.
struct Source {
  base::CtaId cta;  // whose memory it is
  arith::TensorType type{};
  uint32_t rows = 0;
  OperandLayout layout;
  std::vector<uint32_t> pieces;  // offsets in the CTA's shared memory
  bool in_tensor_memory = false;
  TensorAddress address{};
};

// Scales of a product: one byte for each of `rows` rows. Row x is in lane x mod 32 of every
// quarter, x / 32 columns further.
struct Scales {
  uint32_t rows = 0;
  uint32_t column = 0;
  uint32_t byte = 0;

  uint32_t columns() const { return (rows + kLanesOfWarp - 1) / kLanesOfWarp; }
};

// What a CTA gets of a product: all, or the rows that it has as one of a pair. A pair shares B: the
// even CTA has its first half. A pair of 64 rows each folds D: the second half of its columns
// stands in lanes 64 and up.
struct Product {
  base::CtaId cta;
  ProductShape shape;
  bool folded = false;
  TensorAddress d{};
  Source a, b, b_rest;         // b_rest: rows 0 where there is no pair
  Scales scales_a, scales_b;   // rows 0: not scaled
  int d_shift = 0;             // D counts 2^-d_shift
  std::vector<uint32_t> kept;  // by row of D; empty: all are written
};

// Where row i is: its lane, counted from that of the address.
constexpr uint32_t lane_of_row(uint32_t m, uint32_t i) {
  return m == 64 ? i / 16 * 32 + i % 16 : i;
}
inline constexpr uint32_t kFoldLanes = 64;

inline ProductKind kind_of_product(const Op& op) {
  return static_cast<ProductKind>(op.detail & 0xff);
}

// What one of the CTAs gets; without it the fault has been reported.
std::optional<Product> product_of(const Op& op, Warp& warp, int lane, const Cta& cta);

}  // namespace lw::machine
