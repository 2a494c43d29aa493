#include "arith/half.h"

#include <cmath>

#include "arith/float32.h"
#include "arith/formats.h"
#include "arith/round_to_odd.h"

namespace lw::arith {

namespace {

uint16_t apply_relu(uint16_t r, bool is_nan) { return (r & 0x8000) != 0 && !is_nan ? 0 : r; }

// `sum`: the exact result or one rounded to odd, so that it still tells on which side of 2^-14 and
// of every f16 midpoint the exact one lies.
uint16_t finish_f16(float sum, HalfMode mode) {
  // Below 2^-14 after rounding to 11 bits, the exponent without bound: ties go up, to the even one.
  if (mode.ftz && std::fabs(sum) < 0x1.ffep-15f) sum = f32_of(bits_of(sum) & kSignF32);
  if (mode.sat) sum = saturate(sum);
  uint16_t r = f16_from_f32_rn(sum);
  return mode.relu ? apply_relu(r, is_nan_f16(r)) : r;
}

float operand_f16(uint16_t x, HalfMode mode) { return f32_from_f16(mode.ftz ? flush_f16(x) : x); }

uint16_t fma_f16_values(float a, float b, float c, HalfMode mode) {
  return finish_f16(sum_to_odd_f32(a * b, c), mode);  // the product has 22 bits: exact
}

// bf16 results through f64: a product has 16 bits and stays in its range.
uint16_t fma_bf16_values(double a, double b, double c, HalfMode mode) {
  double sum = sum_to_odd_f64(a * b, c);
  uint16_t r = std::isnan(sum) ? kNanF16 : bf16_from_f64(sum, {});
  return mode.relu ? apply_relu(r, is_nan_bf16(r)) : r;
}

double bf16_value(uint16_t x) { return f32_from_bf16(x); }

constexpr uint16_t kMinusZero = 0x8000;

bool is_oob_nan(uint16_t x) { return (x & 0x7fff) == kOobNan; }

}  // namespace

uint16_t add_f16(uint16_t a, uint16_t b, HalfMode mode) {
  return finish_f16(operand_f16(a, mode) + operand_f16(b, mode), mode);
}
uint16_t sub_f16(uint16_t a, uint16_t b, HalfMode mode) {
  return add_f16(a, static_cast<uint16_t>(b ^ 0x8000), mode);
}
uint16_t mul_f16(uint16_t a, uint16_t b, HalfMode mode) {
  return finish_f16(operand_f16(a, mode) * operand_f16(b, mode), mode);
}
uint16_t fma_f16(uint16_t a, uint16_t b, uint16_t c, HalfMode mode) {
  return fma_f16_values(operand_f16(a, mode), operand_f16(b, mode), operand_f16(c, mode), mode);
}
uint16_t fma_oob_f16(uint16_t a, uint16_t b, uint16_t c, HalfMode mode) {
  return is_oob_nan(a) || is_oob_nan(b) ? uint16_t{0} : fma_f16(a, b, c, mode);
}

uint16_t add_bf16(uint16_t a, uint16_t b, HalfMode mode) {
  return fma_bf16_values(bf16_value(a), 1.0, bf16_value(b), mode);
}
uint16_t sub_bf16(uint16_t a, uint16_t b, HalfMode mode) {
  return add_bf16(a, static_cast<uint16_t>(b ^ 0x8000), mode);
}
uint16_t mul_bf16(uint16_t a, uint16_t b, HalfMode mode) {
  return fma_bf16_values(bf16_value(a), bf16_value(b), bf16_value(kMinusZero), mode);
}
uint16_t fma_bf16(uint16_t a, uint16_t b, uint16_t c, HalfMode mode) {
  return fma_bf16_values(bf16_value(a), bf16_value(b), bf16_value(c), mode);
}
uint16_t fma_oob_bf16(uint16_t a, uint16_t b, uint16_t c, HalfMode mode) {
  return is_oob_nan(a) || is_oob_nan(b) ? uint16_t{0} : fma_bf16(a, b, c, mode);
}

// min or max of two codes by their f32 values. The sign for .xorsign is the codes' own: NaN has
// one.
template <float (*kWiden)(uint16_t), uint16_t (*kNarrow)(float)>
static uint16_t min_max(uint16_t a, uint16_t b, bool want_max, HalfMinMaxMode mode) {
  uint16_t sign = mode.xorsign_abs ? (a ^ b) & 0x8000 : 0;
  uint16_t mask = mode.xorsign_abs ? 0x7fff : 0xffff;
  float x = kWiden(a & mask);
  float y = kWiden(b & mask);
  float r = select_min_max(x, y, want_max, {.nan = mode.nan});
  return is_nan(r) ? kNanF16 : kNarrow(r) | sign;
}
static uint16_t min_max_f16(uint16_t a, uint16_t b, bool want_max, HalfMinMaxMode mode) {
  if (mode.ftz) a = flush_f16(a), b = flush_f16(b);
  return min_max<f32_from_f16, f16_from_f32_rn>(a, b, want_max, mode);
}
static uint16_t min_max_bf16(uint16_t a, uint16_t b, bool want_max, HalfMinMaxMode mode) {
  return min_max<f32_from_bf16, bf16_from_f32_rn>(a, b, want_max, mode);
}

uint16_t min_f16(uint16_t a, uint16_t b, HalfMinMaxMode mode) {
  return min_max_f16(a, b, false, mode);
}
uint16_t max_f16(uint16_t a, uint16_t b, HalfMinMaxMode mode) {
  return min_max_f16(a, b, true, mode);
}
uint16_t min_bf16(uint16_t a, uint16_t b, HalfMinMaxMode mode) {
  return min_max_bf16(a, b, false, mode);
}
uint16_t max_bf16(uint16_t a, uint16_t b, HalfMinMaxMode mode) {
  return min_max_bf16(a, b, true, mode);
}

}  // namespace lw::arith
