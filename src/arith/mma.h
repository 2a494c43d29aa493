#pragma once
// Dense mma.sync on a whole warp, bit for bit.
//
// Fragments are registers: a[r] points at the 32 lanes of A's r-th register as the PTX manual
// numbers them ("Matrix Fragments for mma.m16n8k16" and so on), likewise b, c and d. Lanes are
// 32-bit words (f16x2, bf16x2, tf32, four fp8 or s8, f32, s32), 64-bit for f64. d[r] may be c[r].
//
// find_mma gives the function of a form on a target, or nothing where the form is not modelled:
// the sum depends on the architecture (block_sum.h) and, for fp8, on what the assembler makes of
// it.

#include <cstdint>
#include <optional>

namespace lw::arith {

enum class MmaType : uint8_t {
  kF16,
  kBf16,
  kTf32,
  kE4m3,
  kE5m2,
  kS8,
  kU8,
  kS4,
  kU4,
  kB1,
  kF32,
  kS32,
  kF64,
};

struct MmaShape {
  uint8_t m;
  uint8_t n;
  uint8_t k;
  friend constexpr bool operator==(MmaShape, MmaShape) = default;
};

// What the PTX is assembled for: 80, 86, 89, 90, 100, 103, 120, 121.
struct MmaTarget {
  int sm = 90;
};

enum class BitOperation : uint8_t { kXor, kAnd };  // .b1: .xor.popc, .and.popc

struct MmaForm {
  MmaShape shape;
  MmaType a;
  MmaType b;
  MmaType c;                               // and d
  bool satfinite = false;                  // integer forms
  BitOperation bits = BitOperation::kXor;  // b1
  friend constexpr bool operator==(const MmaForm&, const MmaForm&) = default;
};

using MmaFunction = void (*)(const void* const* a, const void* const* b, const void* const* c,
                             void* const* d);

struct Mma {
  MmaFunction run;
  int a_registers;
  int b_registers;
  int c_registers;
};

std::optional<Mma> find_mma(const MmaForm& form, MmaTarget target);

// The hot ones by name, sm_90 and later. d[r] may be c[r].
void mma_m16n8k16_f32_bf16(const void* const* a, const void* const* b, const void* const* c,
                           void* const* d);
void mma_m16n8k16_f32_f16(const void* const* a, const void* const* b, const void* const* c,
                          void* const* d);

}  // namespace lw::arith
