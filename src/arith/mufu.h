#pragma once
// The special-function unit, bit for bit: ex2 lg2 rcp rsqrt sqrt sin cos tanh .approx, and the PTX
// forms that the assembler builds from them.
//
// A piecewise quadratic in fixed point: the operand's top bits choose a segment, the rest is x, and
// (c0 << s) + c1 x + c2 sq(x) + rounding is cut to 24 bits; sq is a square whose low partial
// products the hardware leaves out. The model gave an H200's result on all 2^32 inputs of
// every function (docs/numerics.md). mufu_unit.h has the functions, mufu_tables.h the
// coefficients, mufu.simd.cpp the loops over a warp. Tested in mufu_test.cpp against
// tests/agree/mufu_samples.tsv.
//
// Limits: measured on sm_90; other generations are assumed to have the same unit.

#include "arith/bits.h"

namespace lw::arith {

// One lane. `ftz` chooses between the .ftz form and the plain one.
float ex2_approx(float x, bool ftz);
float lg2_approx(float x, bool ftz);
float rcp_approx(float x, bool ftz);
float rsqrt_approx(float x, bool ftz);
float sqrt_approx(float x, bool ftz);
float sin_approx(float x);  // the .ftz form gives the same
float cos_approx(float x);  // the .ftz form gives the same
float tanh_approx(float x);
float div_approx(float a, float b, bool ftz);
float div_full(float a, float b, bool ftz);

uint16_t ex2_approx_f16(uint16_t x);  // keeps subnormals
uint16_t ex2_approx_ftz_bf16(uint16_t x);
uint16_t tanh_approx_f16(uint16_t x);
uint16_t tanh_approx_bf16(uint16_t x);

double rcp_approx_ftz_f64(double x);
double rsqrt_approx_ftz_f64(double x);
// Without .ftz: what ptxas makes of it, a step from the unit's result (read from its code for
// sm_90).
double rsqrt_approx_f64(double x);

// A whole warp: 32 words in, 32 words out (f32 bits). `out` may be `in`.
using WarpFunction = void (*)(const uint32_t* in, uint32_t* out);

void warp_ex2_approx_ftz(const uint32_t* in, uint32_t* out);
void warp_ex2_approx(const uint32_t* in, uint32_t* out);
void warp_lg2_approx_ftz(const uint32_t* in, uint32_t* out);
void warp_lg2_approx(const uint32_t* in, uint32_t* out);
void warp_rcp_approx_ftz(const uint32_t* in, uint32_t* out);
void warp_rcp_approx(const uint32_t* in, uint32_t* out);
void warp_rsqrt_approx_ftz(const uint32_t* in, uint32_t* out);
void warp_rsqrt_approx(const uint32_t* in, uint32_t* out);
void warp_sqrt_approx_ftz(const uint32_t* in, uint32_t* out);
void warp_sqrt_approx(const uint32_t* in, uint32_t* out);
void warp_sin_approx(const uint32_t* in, uint32_t* out);
void warp_cos_approx(const uint32_t* in, uint32_t* out);
void warp_tanh_approx(const uint32_t* in, uint32_t* out);

}  // namespace lw::arith
