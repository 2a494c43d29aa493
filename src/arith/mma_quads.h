#pragma once
// mma.m8n8k4 with f16 operands (PTX ISA, "Matrix Fragments for mma.m8n8k4 with .f16"): four
// products of 8 x 8 x 4 at once, one for every pair of quads. Lanes 0 to 3 and 16 to 19 have the
// first one, and so on; below 16 they have the upper four rows (or columns of B).
//
// There is a unit for it on sm_70 alone. What the assembler makes of it elsewhere is this, read
// from machine code for sm_80 to sm_90 and equal to an H200 bit for bit (tests/agree/matrix.tsv),
// all in f32:
//   f32 addend: c + fma(a3, b3, fma(a2, b2, fma(a1, b1, fma(a0, b0, 0))))
//   f16 addend: (c + fma(a1, b1, a0 b0)) + fma(a3, b3, a2 b2), rounded to f16 at the end

#include <cstdint>

namespace lw::arith {

struct QuadsMma {
  bool a_by_rows = true;
  bool b_by_columns = true;
  bool f16 = false;  // of C and D

  // Registers of 32 lanes: two of A, two of B, eight of C and D (f16: four).
  void run(const void* const* a, const void* const* b, const void* const* c, void* const* d) const;
};

}  // namespace lw::arith
