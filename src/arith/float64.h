#pragma once
// f64 instructions in all four rounding modes.
//
// NaN: payload and sign kept, quieted. Of several: fma takes b before c before a; add, mul, min and
// max b before a; div a before b. sub, neg and abs do not change a NaN's sign. Inf - Inf and the
// other invalid operations give fff8000000000000. [H200] Directed modes set the host's rounding
// mode around one operation, in float64.cpp alone. Tested in float64_test.cpp and
// ptx_operations_test.cpp.

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

LW_INLINE constexpr double quieted(double x) { return f64_of(bits_of(x) | uint64_t{1} << 51); }
LW_INLINE constexpr double neg_f64(double a) {
  return is_nan(a) ? quieted(a) : f64_of(bits_of(a) ^ (uint64_t{1} << 63));
}
LW_INLINE constexpr double abs_f64(double a) {
  return is_nan(a) ? quieted(a) : f64_of(bits_of(a) & ~(uint64_t{1} << 63));
}
LW_INLINE constexpr double copysign_f64(double a, double b) {
  return f64_of((bits_of(a) & (uint64_t{1} << 63)) | (bits_of(b) & ~(uint64_t{1} << 63)));
}

}  // namespace lw::arith
