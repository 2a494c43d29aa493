#pragma once
// f16 and bf16 instructions on raw codes; the x2 forms apply them to both halves of a word.
//
// Model: one IEEE rounding to nearest even, NaN results 7fff. f16 `.ftz` flushes subnormal f16
// inputs and results, judged small as f32's are; bf16 keeps subnormals. The whole-warp forms of
// the hot ones are in warp.h. Tested in half_test.cpp against exact integers, and over all codes of
// one operand.

#include "arith/bits.h"

namespace lw::arith {

// What a tensor copy fills with in its NaN mode. `fma.oob` gives +0 if a factor is this one, of
// either sign, whatever the addend (H200, 2026-11-30: every code as either factor, both types).
constexpr uint16_t kOobNan = 0x7ff7;

struct HalfMode {
  bool ftz = false;   // f16 only
  bool sat = false;   // f16 only: clamp to [0, 1], NaN gives +0
  bool relu = false;  // negative gives +0, NaN stays 7fff
};

uint16_t add_f16(uint16_t a, uint16_t b, HalfMode mode = {});
uint16_t sub_f16(uint16_t a, uint16_t b, HalfMode mode = {});
uint16_t mul_f16(uint16_t a, uint16_t b, HalfMode mode = {});
uint16_t fma_f16(uint16_t a, uint16_t b, uint16_t c, HalfMode mode = {});
uint16_t fma_oob_f16(uint16_t a, uint16_t b, uint16_t c, HalfMode mode = {});

uint16_t add_bf16(uint16_t a, uint16_t b, HalfMode mode = {});
uint16_t sub_bf16(uint16_t a, uint16_t b, HalfMode mode = {});
uint16_t mul_bf16(uint16_t a, uint16_t b, HalfMode mode = {});
uint16_t fma_bf16(uint16_t a, uint16_t b, uint16_t c, HalfMode mode = {});
uint16_t fma_oob_bf16(uint16_t a, uint16_t b, uint16_t c, HalfMode mode = {});

// min, max{.ftz}{.NaN}{.xorsign.abs}, as f32's; NaN results 7fff.
struct HalfMinMaxMode {
  bool ftz = false;
  bool nan = false;
  bool xorsign_abs = false;
};
uint16_t min_f16(uint16_t a, uint16_t b, HalfMinMaxMode mode = {});
uint16_t max_f16(uint16_t a, uint16_t b, HalfMinMaxMode mode = {});
uint16_t min_bf16(uint16_t a, uint16_t b, HalfMinMaxMode mode = {});
uint16_t max_bf16(uint16_t a, uint16_t b, HalfMinMaxMode mode = {});

// neg and abs: NaN results 7fff.
LW_INLINE constexpr uint16_t flush_f16(uint16_t x) {
  return static_cast<uint16_t>((x & 0x7c00) == 0 ? x & 0x8000 : x);
}
LW_INLINE constexpr uint16_t neg_f16(uint16_t x, bool ftz = false) {
  return is_nan_f16(x) ? kNanF16 : static_cast<uint16_t>((ftz ? flush_f16(x) : x) ^ 0x8000);
}
LW_INLINE constexpr uint16_t abs_f16(uint16_t x, bool ftz = false) {
  return is_nan_f16(x) ? kNanF16 : static_cast<uint16_t>((ftz ? flush_f16(x) : x) & 0x7fff);
}
LW_INLINE constexpr uint16_t neg_bf16(uint16_t x) {
  return is_nan_bf16(x) ? kNanF16 : static_cast<uint16_t>(x ^ 0x8000);
}
LW_INLINE constexpr uint16_t abs_bf16(uint16_t x) {
  return is_nan_bf16(x) ? kNanF16 : static_cast<uint16_t>(x & 0x7fff);
}

// A scalar operation on both halves: each_half(a, b, [](uint16_t x, uint16_t y) { ... }).
template <class Operation, class... Words>
LW_INLINE uint32_t each_half(Operation operation, Words... words) {
  uint16_t low = operation(static_cast<uint16_t>(words)...);
  uint16_t high = operation(static_cast<uint16_t>(words >> 16)...);
  return static_cast<uint32_t>(high) << 16 | low;
}

}  // namespace lw::arith
