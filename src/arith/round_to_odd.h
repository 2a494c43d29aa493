#pragma once
// Sums rounded to odd: of the two neighbours of an inexact sum, the one whose last bit is set. A
// later rounding to a format with two bits less, or fewer, then gives what rounding the exact sum
// once would.

#include "arith/bits.h"

namespace lw::arith {

// `rounded` is nearest to a number that lies off it by something of error's sign.
LW_INLINE double to_odd(double rounded, double error) {
  uint64_t bits = bits_of(rounded);
  uint64_t moved = (error > 0) == (rounded > 0) ? bits + 1 : bits - 1;
  bool keep = error == 0 || error != error || (bits & 1) != 0;
  return f64_of(keep ? bits : moved);
}
LW_INLINE float to_odd(float rounded, float error) {
  uint32_t bits = bits_of(rounded);
  uint32_t moved = (error > 0) == (rounded > 0) ? bits + 1 : bits - 1;
  bool keep = error == 0 || error != error || (bits & 1) != 0;
  return f32_of(keep ? bits : moved);
}

// The error of a sum is itself a float (Knuth's two-sum); it is NaN where the sum is not finite.
template <class Float>
LW_INLINE Float two_sum_error(Float a, Float b, Float sum) {
  Float b_part = sum - a;
  return (a - (sum - b_part)) + (b - b_part);
}
LW_INLINE double sum_to_odd_f64(double a, double b) {
  double sum = a + b;
  return to_odd(sum, two_sum_error(a, b, sum));
}
LW_INLINE float sum_to_odd_f32(float a, float b) {
  float sum = a + b;
  return to_odd(sum, two_sum_error(a, b, sum));
}

}  // namespace lw::arith
