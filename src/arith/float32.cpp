#include "arith/float32.h"

#include <cmath>

#include "arith/formats.h"

namespace lw::arith {

namespace {

// `rounded` is the f64 nearest to a number that lies off it by something of error's sign. Round to
// odd instead: of the two neighbours the one whose last bit is set, which then stands for "not
// exact".
double to_odd(double rounded, double error) {
  uint64_t bits = bits_of(rounded);
  if (error == 0 || !std::isfinite(rounded) || (bits & 1) != 0) return rounded;
  return f64_of((error > 0) == (rounded > 0) ? bits + 1 : bits - 1);
}

// a + b in f64, round to odd. The error of a sum is itself an f64 (Knuth's two-sum).
double sum_to_odd(double a, double b) {
  double sum = a + b;
  double b_part = sum - a;
  double error = (a - (sum - b_part)) + (b - b_part);
  return to_odd(sum, error);
}

float with_sign_of(double x) { return std::signbit(x) ? -0.0f : 0.0f; }

// The one rounding to f32, from a number rounded to odd.
float round_once(double x, FloatMode mode) {
  float r;
  if (std::isnan(x))
    r = f32_of(kNanF32);
  else if (mode.ftz && std::fabs(x) < 0x1p-126)
    r = with_sign_of(x);
  else
    r = f32_from_f64(x, {.rounding = mode.rounding});
  return mode.sat ? saturate(r) : r;
}

// A sum of two terms; where it is exactly zero, the sign depends on the rounding.
float round_sum(double a, double b, FloatMode mode) {
  double sum = sum_to_odd(a, b);
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
