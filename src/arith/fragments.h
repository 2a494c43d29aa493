#pragma once
// Where the elements of a matrix lie in the registers of a warp (PTX ISA, "Matrix Fragments for
// ...").
//
// With e elements in a register (1 for tf32, f32, s32 and f64, 2 for 16 bits, 4 for 8, 8 for 4, 32
// for b1), g = lane / 4 and t = lane % 4, the tables of the manual for all shapes with n = 8 are
// three formulas:
//   A, register r, element i: row g + 8 (r mod 2), column (r / 2) 4e + t e + i   (m = 8: row g, r
//   4e + ...) B, register r, element i: row r 4e + t e + i, column g C and D, f32 and s32 and f64,
//   register r: row g + 8 (r / 2), column 2t + r mod 2 C and D, f16x2, register r, half i: row g +
//   8 r, column 2t + i
// The m8n8k4 form of f16 has another layout and is not among them.

#include "arith/bits.h"

namespace lw::arith {

struct Place {
  int row;
  int column;
};

LW_INLINE constexpr Place place_in_a(int m, int per_register, int lane, int r, int i) {
  int group = lane / 4;
  int row_blocks = m / 8;
  int column = r / row_blocks * 4 * per_register + lane % 4 * per_register + i;
  return {group + r % row_blocks * 8, column};
}

LW_INLINE constexpr Place place_in_b(int per_register, int lane, int r, int i) {
  return {r * 4 * per_register + lane % 4 * per_register + i, lane / 4};
}

LW_INLINE constexpr Place place_in_c(int per_register, int lane, int r, int i) {
  int element = r * per_register + i;
  return {lane / 4 + element / 2 * 8, lane % 4 * 2 + element % 2};
}

}  // namespace lw::arith
