#pragma once
// The fragments of wmma (PTX: Warp Level Matrix Instructions using wmma).
//
// The manual keeps the layout of a fragment to itself: a program may load, multiply, store, and do
// the same to every element. Ours is that of the mma.sync instructions that a product of wmma is
// made of, which is also what ptxas does for sm_80 and sm_90 (read from its code): m16n16 is two
// products of n = 8, m32n8 two of m = 16, and m8n32 is the transpose of m32n8, so that its A is
// kept as a B and its B as an A. f16 operands have eight registers of which not all are needed: the
// rest are copies.
// misses: a program that looks into the elements of a fragment one by one sees this layout.

#include <optional>

#include "arith/fragments.h"
#include "arith/mma_rules.h"
#include "program/decoder.h"

namespace lw::machine {

enum class WmmaMatrix : uint8_t { a, b, c };  // c: and d

// How the products of one shape and type are cut into mma.sync instructions.
struct WmmaTiling {
  arith::MmaShape tile;
  int tiles;        // one or two
  bool over_rows;   // the second tile is below the first, else beside it
  bool transposed;  // D^T = B^T A^T
  int rows;         // m and n of the wmma shape
  int columns;
  int depth;  // k
};

// By the shape among the modifiers.
std::optional<WmmaTiling> wmma_tiling(const program::Decoder& decoder);

// Where the elements of a matrix are, in registers.
class WmmaFragment {
 public:
  WmmaFragment(const WmmaTiling& tiling, WmmaMatrix matrix, int element_bits);

  int element_bits() const { return bits_; }
  int per_register() const { return bits_ < 32 ? 32 / bits_ : 1; }
  int registers() const { return in_tile_ * tiles_; }  // distinct ones
  int registers_of_tile() const { return in_tile_; }
  int tiles() const { return tiles_; }
  int rows() const { return rows_; }
  int columns() const { return columns_; }

  // Row and column of an element in the matrix as the program knows it.
  arith::Place place(int lane, int r, int i) const;

 private:
  arith::Place place_in_tile(int lane, int r, int i) const;

  WmmaTiling tiling_;
  WmmaMatrix role_;  // in the mma.sync instructions
  int bits_;
  int tiles_;
  int in_tile_;
  int rows_;
  int columns_;
};

}  // namespace lw::machine
