#pragma once
// How each architecture sums the products of a dense mma.sync: the block rules of block_sum.h by
// form and target (docs/numerics.md; sm_90 measured on an H200, the others from public models).

#include <cstdint>
#include <optional>

#include "arith/block_sum.h"

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
  int m;
  int n;
  int k;
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
  MmaType c;                                   // and d
  bool satfinite = false;                      // integer forms
  BitOperation bits = BitOperation::kXor;      // b1
  Rounding rounding = Rounding::kNearestEven;  // f64
  friend constexpr bool operator==(const MmaForm&, const MmaForm&) = default;
};

struct MmaRules {
  BlockRules block;
  int block_length;  // products summed at once; k is cut into such blocks, in order
  // fp8 through f16 instructions: two blocks, k mod 4 in {0, 1} and in {2, 3}, from
  // zero; c is added to their sum by an ordinary rounded addition.
  bool emulated = false;

  friend constexpr bool operator==(const MmaRules&, const MmaRules&) = default;
};

// Bits of an element of A or B.
constexpr int element_bits(MmaType type) {
  switch (type) {
    case MmaType::kF64:
      return 64;
    case MmaType::kF32:
    case MmaType::kS32:
    case MmaType::kTf32:
      return 32;
    case MmaType::kF16:
    case MmaType::kBf16:
      return 16;
    case MmaType::kS4:
    case MmaType::kU4:
      return 4;
    case MmaType::kB1:
      return 1;
    default:
      return 8;
  }
}

constexpr bool is_fp8(MmaType type) { return type == MmaType::kE4m3 || type == MmaType::kE5m2; }
constexpr bool is_int8(MmaType type) { return type == MmaType::kS8 || type == MmaType::kU8; }
constexpr bool is_int4(MmaType type) { return type == MmaType::kS4 || type == MmaType::kU4; }

namespace rules_detail {

constexpr bool shape_exists(const MmaForm& form) {
  if (form.shape.m != 16 || form.shape.n != 8) return false;
  int k = form.shape.k;
  switch (form.a) {
    case MmaType::kF16:
    case MmaType::kBf16:
      return k == 8 || k == 16;
    case MmaType::kTf32:
      return k == 4 || k == 8;
    default:
      return k == 16 || k == 32;
  }
}

constexpr bool types_fit(const MmaForm& form) {
  bool f16_result = form.c == MmaType::kF16;
  if (!f16_result && form.c != MmaType::kF32) return false;
  if (is_fp8(form.a)) return is_fp8(form.b);
  if (form.a != form.b) return false;
  if (form.a == MmaType::kF16) return true;
  return (form.a == MmaType::kBf16 || form.a == MmaType::kTf32) && !f16_result;
}

// f16, bf16 and tf32.
constexpr MmaRules rules_of_halves(const MmaForm& form, MmaTarget target) {
  bool f16_result = form.c == MmaType::kF16;
  BlockRules::Result result = f16_result ? BlockRules::Result::kF16 : BlockRules::Result::kF32Cut;
  if (target.sm >= 90) return {{25, f16_result ? -21 : -133, result}, form.shape.k};
  int length = form.a == MmaType::kTf32 ? 4 : 8;
  return {{24, f16_result ? -20 : -132, result}, length};
}

constexpr std::optional<MmaRules> rules_of_fp8(const MmaForm& form, MmaTarget target) {
  bool f16_result = form.c == MmaType::kF16;
  if (target.sm < 89) return std::nullopt;
  if (target.sm == 89)
    return MmaRules{{13, f16_result ? -20 : -132,
                     f16_result ? BlockRules::Result::kF16 : BlockRules::Result::kF32Reduced},
                    16};
  BlockRules full{25, f16_result ? -21 : -133,
                  f16_result ? BlockRules::Result::kF16 : BlockRules::Result::kF32Cut};
  bool native = target.sm >= 120;
  if (native) return MmaRules{full, form.shape.k};
  return MmaRules{full, form.shape.k / 2, true};
}

}  // namespace rules_detail

// Nothing: the form does not exist, or is not a floating-point sum of this kind (integers, f64).
constexpr std::optional<MmaRules> mma_rules(const MmaForm& form, MmaTarget target) {
  if (target.sm < 80 || !rules_detail::types_fit(form) || !rules_detail::shape_exists(form))
    return std::nullopt;
  if (is_fp8(form.a)) return rules_detail::rules_of_fp8(form, target);
  return rules_detail::rules_of_halves(form, target);
}

}  // namespace lw::arith
