#pragma once
// One form of mma.sync as a compile-time value, and the order of its products. Only for *.simd.cpp
// files.

#include "arith/block_sum_vector.h"
#include "arith/mma_rules.h"

namespace lw::arith::LW_SIMD_NAMESPACE {

// Elements of a 32-bit register.
constexpr int per_register(MmaType type) { return 32 / element_bits(type); }

// Element i of each word, as decode() wants it; fp8 of an emulated form becomes f16.
template <MmaType kType, bool kEmulated>
LW_INLINE I element_layout(I word, int i) {
  if constexpr (kType == MmaType::kF16) {
    I half = i == 0 ? word : word >> 16;
    return (half & 0x8000) << 16 | (half & 0x7fff) << 13;
  } else if constexpr (kType == MmaType::kBf16) {
    return i == 0 ? word << 16 : word & INT32_C(-65536);
  } else if constexpr (kType == MmaType::kTf32) {
    return word & ~0x1fff;
  } else if constexpr (kType == MmaType::kE5m2) {
    I byte = word >> (8 * i);
    return (byte & 0x80) << 24 | (byte & 0x7f) << 21;
  } else {
    I byte = word >> (8 * i);
    I magnitude = (byte & 0x7f) << 20;
    if constexpr (kEmulated) {
      // A subnormal e4m3 is a normal f16: fraction * 2^-6 from a subtraction that normalises.
      I subnormal = as_i(as_f(magnitude | 0x3f800000) - 1.0f) - (118 << 23);
      subnormal = magnitude == 0 ? magnitude : subnormal;
      magnitude = magnitude < (1 << 23) ? subnormal : magnitude + (8 << 23);
    }
    return (byte & 0x80) << 24 | magnitude;
  }
}

template <MmaType kType, bool kEmulated>
inline constexpr int kBias = kType == MmaType::kBf16 || kType == MmaType::kTf32 ? 127
                             : kType == MmaType::kE4m3 && !kEmulated            ? 7
                                                                                : 15;

// Lanes whose layout is a NaN or an infinity.
template <MmaType kType, bool kEmulated>
LW_INLINE I is_special(I layout) {
  I magnitude = layout & INT32_MAX;
  if constexpr (kType == MmaType::kE4m3)  // 7f alone
    return magnitude == ((kEmulated ? 8 << 23 : 0) + (0x7f << 20));
  else
    return magnitude >= (kBias<kType, kEmulated> == 127 ? 0x7f800000 : 31 << 23);
}

// What decides about NaN and infinities in a sum: the value itself if special, else its sign, else
// zero.
template <MmaType kType, bool kEmulated>
LW_INLINE F class_of(I layout) {
  I special = is_special<kType, kEmulated>(layout);
  I fraction = kType == MmaType::kE4m3 ? broadcast(1) : layout & 0x7fffff;
  I value = fraction == 0 ? broadcast(0x7f800000) : broadcast(0x7fc00000);
  I finite = (layout & INT32_MAX) == 0 ? I{} : broadcast(0x3f800000);
  return as_f((special ? value : finite) | (layout & INT32_MIN));
}

// Which products belong to which block, and where a column holds its factors of B: registers of B
// one after another, 32 lanes for each of their elements; a lane is column * 4 + t.
template <int kProducts, int kElements, int kBlockLength, bool kEmulated>
struct Order {
  static constexpr int kK = kProducts;
  static constexpr int kPerRegister = kElements;
  static constexpr int kCount = kBlockLength;
  static constexpr int kBlocks = kProducts / kBlockLength;
  static constexpr bool kFromZero = kEmulated;  // c is added at the end

  static constexpr int k(int block, int j) {
    return kEmulated ? j / 2 * 4 + block * 2 + j % 2 : block * kCount + j;
  }
  static constexpr int offset(int k) {
    int r = k / (4 * kPerRegister);
    return (r * kPerRegister + k % kPerRegister) * 32 + k % (4 * kPerRegister) / kPerRegister;
  }
};

template <MmaForm kForm, MmaRules kRules>
struct Form {
  static constexpr MmaType kA = kForm.a;
  static constexpr MmaType kB = kForm.b;
  static constexpr BlockRules kBlockRules = kRules.block;
  static constexpr bool kEmulated = kRules.emulated;
  static constexpr int kPerRegister = per_register(kForm.a);
  static constexpr int kBRegisters = kForm.shape.k / (4 * kPerRegister);
  static constexpr int kARegisters = 2 * kBRegisters;
  using Products = Order<kForm.shape.k, kPerRegister, kRules.block_length, kEmulated>;
  // Every operand's exponent is moderate, whatever the code.
  static constexpr bool kAlwaysNarrow =
      kBias<kA, kEmulated> == kF16.bias && kBias<kB, kEmulated> == kF16.bias;
  static constexpr bool kMayBeNarrow = kAlwaysNarrow || kBias<kA, kEmulated> == kF32.bias;
};

}  // namespace lw::arith::LW_SIMD_NAMESPACE
