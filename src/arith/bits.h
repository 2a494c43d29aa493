#pragma once
// What every file of arith needs: bit casts, the rounding modes of PTX, canonical NaNs.

#include <bit>
#include <cstdint>

// Always inlined, for two reasons: these functions stand inside lane loops, and a *.simd.cpp file
// must not leave a copy compiled for AVX-512 that the linker then uses for everyone.
#define LW_INLINE [[gnu::always_inline]] inline

namespace lw::arith {

// .rn .rz .rm .rp .rna; the integer roundings .rni .rzi .rmi .rpi are the same four.
enum class Rounding : uint8_t { kNearestEven, kTowardZero, kDown, kUp, kNearestAway };

// The modifiers of a floating-point instruction. Functions that take one are inlined where the
// common case is a few host instructions, so a constant mode costs nothing.
struct FloatMode {
  Rounding rounding = Rounding::kNearestEven;
  bool ftz = false;
  bool sat = false;

  friend constexpr bool operator==(FloatMode, FloatMode) = default;
};

inline constexpr uint32_t kNanF32 = 0x7fffffffu;
inline constexpr uint16_t kNanF16 = 0x7fffu;  // f16 and bf16
inline constexpr uint32_t kNanTf32 = 0x7fffe000u;
inline constexpr uint32_t kSignF32 = 0x80000000u;

// The builtin, not std::bit_cast, which is a function that unoptimised builds share between levels.
LW_INLINE constexpr uint32_t bits_of(float x) { return __builtin_bit_cast(uint32_t, x); }
LW_INLINE constexpr uint64_t bits_of(double x) { return __builtin_bit_cast(uint64_t, x); }
LW_INLINE constexpr float f32_of(uint32_t bits) { return __builtin_bit_cast(float, bits); }
LW_INLINE constexpr double f64_of(uint64_t bits) { return __builtin_bit_cast(double, bits); }

LW_INLINE constexpr bool is_nan(float x) { return (bits_of(x) & 0x7fffffffu) > 0x7f800000u; }
LW_INLINE constexpr bool is_nan(double x) {
  return (bits_of(x) & ~(uint64_t{1} << 63)) > 0x7ff0000000000000u;
}
LW_INLINE constexpr bool is_nan_f16(uint16_t x) { return (x & 0x7fff) > 0x7c00; }
LW_INLINE constexpr bool is_nan_bf16(uint16_t x) { return (x & 0x7fff) > 0x7f80; }

// .ftz: a subnormal becomes a zero of its sign.
LW_INLINE constexpr float flush(float x) {
  uint32_t bits = bits_of(x);
  return f32_of((bits & 0x7f800000u) == 0 ? bits & kSignF32 : bits);
}

LW_INLINE constexpr float canonical_nan(float x) { return is_nan(x) ? f32_of(kNanF32) : x; }

// .sat: clamp to [0, 1]; NaN and -0 become +0.
LW_INLINE constexpr float saturate(float x) { return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f; }

}  // namespace lw::arith
