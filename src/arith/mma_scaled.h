#pragma once
// mma.sync of the kinds f8f6f4, mxf8f6f4, mxf4 and mxf4nvf4 (PTX ISA, "Block Scaling for
// mma.sync"): short floating-point operands of any two formats, with scales for each 16 or 32 of k
// or without.
//
// Elements of f8f6f4 and mxf8f6f4 stand in bytes: six bits in the low ones, four in the middle.
// Those of mxf4 and mxf4nvf4 are packed. Scales come from lanes of the quad: of A from two (rows g
// and g + 8), of B from one (column g); the bytes of their words are the scales along k.
//
// With k = 32 the scales' exponents join those of the products, and there is one block of the usual
// rules. With k = 64 the sixteen products of a group are added exactly and multiplied by both
// scales; the four groups and c are the terms of a sum with 35 fraction bits, a group's exponent
// being that of its scales. These rules are those of one public model for sm_120; no device has
// confirmed them (docs/numerics.md). Tested in mma_scaled_test.cpp.

#include <cstdint>
#include <optional>

#include "arith/formats.h"

namespace lw::arith {

enum class ScaleType : uint8_t { kNone, kUe8m0, kUe4m3 };

struct ScaledForm {
  int k;            // 32: elements in bytes; 64: e2m1, packed
  Format a, b;      // of 32
  bool half;        // C and D are f16, else f32
  ScaleType scale;  // of both matrices
  int scales;       // along k: 1, 2 or 4
};

// Which lanes and bytes hold the scales.
struct ScaleSelector {
  uint32_t byte;
  uint32_t thread;
};

struct ScaledMma {
  ScaledForm form;

  int c_registers() const { return form.half ? 2 : 4; }
  bool can_select(ScaleSelector a, ScaleSelector b) const;
  // Fragments as in mma.h; the scales are 32 lanes each, and are not looked at if there are none.
  void run(const void* const* a, const void* const* b, const void* const* c,
           const uint32_t* scales_a, ScaleSelector select_a, const uint32_t* scales_b,
           ScaleSelector select_b, void* const* d) const;
};

inline constexpr int kScaledRegistersOfA = 4;
inline constexpr int kScaledRegistersOfB = 2;

}  // namespace lw::arith
