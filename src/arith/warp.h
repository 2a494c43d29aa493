#pragma once
// Hot instructions on a whole warp: 32 words a register, every lane computed. A caller with
// inactive lanes computes all and keeps what it wants; no operand can trap. `d` may be any of the
// operands.
//
// The right vector level of the machine is chosen once, at start (vector_level.h).

#include "arith/bits.h"
#include "arith/float32.h"

namespace lw::arith {

// f32 .rn
void warp_add(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_add_ftz(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_sub(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_sub_ftz(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_mul(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_mul_ftz(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_fma(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d);
void warp_fma_ftz(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d);
void warp_div(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_div_ftz(const uint32_t* a, const uint32_t* b, uint32_t* d);

// f16x2 and bf16x2 .rn, no other modifier
void warp_add_f16x2(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_sub_f16x2(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_mul_f16x2(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_fma_f16x2(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d);
void warp_add_bf16x2(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_sub_bf16x2(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_mul_bf16x2(const uint32_t* a, const uint32_t* b, uint32_t* d);
void warp_fma_bf16x2(const uint32_t* a, const uint32_t* b, const uint32_t* c, uint32_t* d);

// cvt.rn.{f16x2,bf16x2}.f32 d, high, low
void warp_f16x2_from_f32(const uint32_t* high, const uint32_t* low, uint32_t* d);
void warp_bf16x2_from_f32(const uint32_t* high, const uint32_t* low, uint32_t* d);
// cvt.rn.{f16,bf16}.f32: the result in the low half of each word, high half zero.
void warp_f16_from_f32(const uint32_t* a, uint32_t* d);
void warp_bf16_from_f32(const uint32_t* a, uint32_t* d);
// cvt.f32.{f16,bf16}: from the low half of each word.
void warp_f32_from_f16(const uint32_t* a, uint32_t* d);
void warp_f32_from_bf16(const uint32_t* a, uint32_t* d);

}  // namespace lw::arith
