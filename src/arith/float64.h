#pragma once
// f64 instructions in all four rounding modes.
//
// NaN: payload and sign kept, quieted; of two NaNs the device was seen to return either, we return
// the first. Inf - Inf and the other invalid operations give fff8000000000000. Directed modes set
// the host's rounding mode around one operation, in float64.cpp alone. Tested in float64_test.cpp.

#include "arith/bits.h"

namespace lw::arith {

double add_f64(double a, double b, Rounding rounding);
double sub_f64(double a, double b, Rounding rounding);
double mul_f64(double a, double b, Rounding rounding);
double fma_f64(double a, double b, double c, Rounding rounding);
double div_f64(double a, double b, Rounding rounding);
double sqrt_f64(double a, Rounding rounding);
double min_f64(double a, double b);
double max_f64(double a, double b);

LW_INLINE constexpr double neg_f64(double a) { return f64_of(bits_of(a) ^ (uint64_t{1} << 63)); }
LW_INLINE constexpr double abs_f64(double a) { return f64_of(bits_of(a) & ~(uint64_t{1} << 63)); }
LW_INLINE constexpr double copysign_f64(double a, double b) {
  return f64_of((bits_of(a) & (uint64_t{1} << 63)) | bits_of(abs_f64(b)));
}

}  // namespace lw::arith
