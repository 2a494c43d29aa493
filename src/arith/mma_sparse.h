#pragma once
// mma.sp: A is half zeros, and only the other half is given, with its places (PTX ISA, "Sparse
// matrix storage").
//
// Each chunk of a row has four bits of metadata. 16-bit and 8-bit types: two of four elements, two
// bits for the place of each. 4-bit types: two pairs of four. tf32: one of two; its bits name the
// 16-bit halves of the element (0100 the first, 1110 the second). Which lanes of a quad hold the
// metadata of its two rows depends on how many bits a row has:
//
//   bits  types           lane                          bits of rows g and g + 8
//   16    16-bit, tf32    the one selected              low and high half of its word
//   32    16-bit, tf32    pair selected: half of k each low and high half of each word
//   32    8-bit, 4-bit    pair selected: row g, g + 8   all
//   64    8-bit, 4-bit    all: row g, g + 8 for the first half of k, then for the second
//
// (From the manual's figures as kernels on GPUs use them; the 32 bits of 8- and 4-bit types by
// analogy with the first half of the 64.) The products are summed in the order of A's elements, as
// by a dense instruction with half of k: that is exact for integers; for floating point no device
// has confirmed it (docs/numerics.md). fp8 where there is no such unit goes through f16
// instructions as dense fp8 does (mma_rules.h): first the even chunks, then the odd ones, then the
// addend. Tested in
// machine/semantics/warp_matrix/mma_sparse_test.cpp.

#include <cstdint>
#include <optional>

#include "arith/mma_rules.h"

namespace lw::arith {

struct SparseMma {
  MmaForm form;    // with the k of B
  MmaRules rules;  // of floating-point forms
  int selector;
  int a_registers;
  int b_registers;
  int c_registers;

  // Fragments as in mma.h, A of k / 2; `metadata` is 32 lanes.
  void run(const void* const* a, const void* const* b, const void* const* c,
           const uint32_t* metadata, void* const* d) const;
};

// Nothing where the form, or the selector for it, does not exist or is not modelled.
std::optional<SparseMma> find_sparse_mma(const MmaForm& form, int selector, MmaTarget target);

}  // namespace lw::arith
