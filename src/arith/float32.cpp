#include "arith/float32.h"

#include <cmath>

#include "arith/formats.h"
#include "arith/round_to_odd.h"

namespace lw::arith {

namespace {

float with_sign_of(double x) { return std::signbit(x) ? -0.0f : 0.0f; }

// Whether x is below the normal numbers once rounded to 24 bits, the exponent without bound:
// rounded far above where f32 ends.
bool is_tiny(double x, Rounding rounding) {
  return std::fabs(f32_from_f64(x * 0x1p100, {.rounding = rounding})) < 0x1p-26f;
}

// The one rounding to f32, from a number rounded to odd.
float round_once(double x, FloatMode mode) {
  float r;
  if (std::isnan(x))
    r = f32_of(kNanF32);
  else if (mode.ftz && std::fabs(x) < 0x1p-126 && is_tiny(x, mode.rounding))
    r = with_sign_of(x);
  else
    r = f32_from_f64(x, {.rounding = mode.rounding});
  return mode.sat ? saturate(r) : r;
}

// A sum of two terms; where it is exactly zero, the sign depends on the rounding.
float round_sum(double a, double b, FloatMode mode) {
  double sum = sum_to_odd_f64(a, b);
  if (sum == 0 && std::signbit(a) != std::signbit(b))
    sum = mode.rounding == Rounding::kDown ? -0.0 : 0.0;
  return round_once(sum, mode);
}

double operand(float x, FloatMode mode) { return mode.ftz ? flush(x) : x; }

}  // namespace

float add_exactly(float a, float b, FloatMode mode) {
  return round_sum(operand(a, mode), operand(b, mode), mode);
}

float mul_exactly(float a, float b, FloatMode mode) {
  return round_once(operand(a, mode) * operand(b, mode), mode);  // 48 bits: exact in f64
}

float fma_exactly(float a, float b, float c, FloatMode mode) {
  return round_sum(operand(a, mode) * operand(b, mode), operand(c, mode), mode);
}

float div_exactly(float a, float b, FloatMode mode) {
  double dividend = operand(a, mode);
  double divisor = operand(b, mode);
  double quotient = dividend / divisor;
  if (!std::isfinite(quotient) || !std::isfinite(divisor)) return round_once(quotient, mode);
  double rest = std::fma(-quotient, divisor, dividend);  // exact
  return round_once(to_odd(quotient, divisor < 0 ? -rest : rest), mode);
}

float sqrt_exactly(float a, FloatMode mode) {
  double square = operand(a, mode);
  double root = std::sqrt(square);
  if (!std::isfinite(root)) return round_once(root, mode);
  return round_once(to_odd(root, std::fma(-root, root, square)), mode);  // the rest is exact
}

}  // namespace lw::arith
