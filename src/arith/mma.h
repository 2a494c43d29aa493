#pragma once
// Dense mma.sync on a whole warp, bit for bit.
//
// Fragments are registers: a[r] points at the 32 lanes of A's r-th register as the PTX manual
// numbers them (fragments.h), likewise b, c and d. Lanes are 32-bit words (f16x2, bf16x2, tf32,
// four fp8 or s8, f32, s32), 64-bit for f64. A register of d may be any of the operands' registers.
//
// find_mma gives the function of a form on a target, or nothing where the form is not modelled: the
// sum depends on the architecture (mma_rules.h) and, for fp8, on what the assembler makes of it.
// Tested in mma_test.cpp: against block_sum.h and the H200's results in
// tests/agree/mma_samples.tsv.

#include <cstdint>
#include <optional>

#include "arith/mma_rules.h"

namespace lw::arith {

struct Mma;
using MmaFunction = void (*)(const Mma& self, const void* const* a, const void* const* b,
                             const void* const* c, void* const* d);

struct Mma {
  MmaForm form;
  MmaRules rules;  // of floating-point forms but f64
  MmaFunction function;
  int a_registers;
  int b_registers;
  int c_registers;

  void run(const void* const* a, const void* const* b, const void* const* c, void* const* d) const {
    function(*this, a, b, c, d);
  }
};

std::optional<Mma> find_mma(const MmaForm& form, MmaTarget target);

}  // namespace lw::arith
