#pragma once
// cvt between integers and floating point, and rounding to an integral value.
//
// Out of range clamps to the destination, infinities too. NaN: 0 from f16, bf16 and f32 to 8, 16
// and 32 bits; 8000000000000000 from f32 to 64 bits; from f64 80000000 (both 32-bit types) and
// 8000000000000000. numerics 3; PTX ISA "cvt". Tested in convert_test.cpp.

#include "arith/bits.h"

namespace lw::arith {

// Int: int8_t ... uint64_t. f16 and bf16 sources widen to f32 first (exact, same NaN rule).
// cvt.{rni,rzi,rmi,rpi}{.ftz}: flush the operand first for .ftz.
template <class Int>
Int int_from_f32(float x, Rounding rounding);
template <class Int>
Int int_from_f64(double x, Rounding rounding);

// cvt.{rn,rz,rm,rp} from any integer type, widened to 64 bits by the caller's conversion.
float f32_from_int(int64_t x, Rounding rounding);
float f32_from_int(uint64_t x, Rounding rounding);
double f64_from_int(int64_t x, Rounding rounding);
double f64_from_int(uint64_t x, Rounding rounding);
uint16_t f16_from_int(int64_t x, Rounding rounding);
uint16_t f16_from_int(uint64_t x, Rounding rounding);
uint16_t bf16_from_int(int64_t x, Rounding rounding);
uint16_t bf16_from_int(uint64_t x, Rounding rounding);

// cvt.{rni,rzi,rmi,rpi}.f32.f32 and .f64.f64: integral values; NaN 7fffffff (f64: kept, quieted).
float round_to_integral(float x, Rounding rounding);
double round_to_integral_f64(double x, Rounding rounding);

}  // namespace lw::arith
