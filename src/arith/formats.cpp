#include "arith/formats.h"

namespace lw::arith {

namespace {

constexpr uint64_t ones(int count) { return (uint64_t{1} << count) - 1; }

constexpr uint64_t infinity_code(const Format& format) {
  return ones(format.exponent_bits) << format.fraction_bits;
}

constexpr uint64_t largest_code(const Format& format) {
  uint64_t all = ones(format.exponent_bits + format.fraction_bits);
  switch (format.top) {
    case Format::Top::kInfinityAndNan:
      return infinity_code(format) - 1;
    case Format::Top::kOneNan:
      return all - 1;
    default:
      return all;
  }
}

// Where the discarded part of a number lies.
struct Remainder {
  bool nonzero;
  bool above_half;
  bool half;
};

bool rounds_away(Rounding rounding, bool negative, bool odd, Remainder rest) {
  switch (rounding) {
    case Rounding::kNearestEven:
      return rest.above_half || (rest.half && odd);
    case Rounding::kNearestAway:
      return rest.above_half || rest.half;
    case Rounding::kTowardZero:
      return false;
    case Rounding::kDown:
      return rest.nonzero && negative;
    case Rounding::kUp:
      return rest.nonzero && !negative;
  }
  return false;
}

uint64_t overflow_code(const Format& format, bool negative, Rounding rounding, bool satfinite) {
  bool towards_zero =
      rounding == Rounding::kTowardZero || rounding == (negative ? Rounding::kUp : Rounding::kDown);
  bool has_infinity = format.top == Format::Top::kInfinityAndNan;
  return satfinite || towards_zero || !has_infinity ? largest_code(format) : infinity_code(format);
}

// significand >> shift, shift at least 1, rounded.
uint64_t shift_rounded(uint64_t significand, int shift, Rounding rounding, bool negative) {
  if (shift > 63) return rounds_away(rounding, negative, false, {true, false, false}) ? 1 : 0;
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & ones(shift);
  uint64_t half = uint64_t{1} << (shift - 1);
  Remainder remainder{rest != 0, rest > half, rest == half};
  return kept + (rounds_away(rounding, negative, (kept & 1) != 0, remainder) ? 1 : 0);
}

// A finite f32 or f64 as the general engine takes it.
template <class Float>
uint64_t narrow_finite(const Format& format, Float x, Narrowing how) {
  Decoded d = decode(sizeof(Float) == 4 ? kF32 : kF64, bits_of(x));
  return encode(format, d.negative, d.significand, d.exponent, how.rounding, how.satfinite);
}

// Narrowing with the rules that all formats share. nan: the code a NaN becomes.
template <class Float>
uint64_t narrow(const Format& format, Float x, Narrowing how, uint64_t nan) {
  if (is_nan(x)) return nan;
  bool negative = x < 0;
  if (how.relu && (negative || x == 0)) return 0;
  uint64_t sign = uint64_t{negative} << (format.exponent_bits + format.fraction_bits);
  if (x - x != 0)  // infinite
    return sign | overflow_code(format, negative, Rounding::kNearestEven, how.satfinite);
  return narrow_finite(format, x, how);
}

constexpr uint32_t kTf32Mask = 0xffffe000u;

}  // namespace

uint64_t encode(const Format& format, bool negative, uint64_t significand, int exponent,
                Rounding rounding, bool satfinite) {
  uint64_t sign = uint64_t{negative} << (format.exponent_bits + format.fraction_bits);
  if (significand == 0) return sign;
  int smallest = 1 - format.bias;
  int leading = exponent + 63 - std::countl_zero(significand);
  if (leading > format.bias + 2) return sign | overflow_code(format, negative, rounding, satfinite);
  int binade = leading < smallest ? smallest : leading;
  int shift = binade - format.fraction_bits - exponent;
  uint64_t kept =
      shift <= 0 ? significand << -shift : shift_rounded(significand, shift, rounding, negative);
  // The leading one of `kept` adds the last 1 to the exponent field; a subnormal has none.
  uint64_t code = kept + (static_cast<uint64_t>(binade - smallest) << format.fraction_bits);
  if (code > largest_code(format)) code = overflow_code(format, negative, rounding, satfinite);
  return sign | code;
}

Decoded decode(const Format& format, uint64_t code) {
  uint64_t fraction = code & ones(format.fraction_bits);
  uint64_t field = (code >> format.fraction_bits) & ones(format.exponent_bits);
  bool negative = (code >> (format.exponent_bits + format.fraction_bits) & 1) != 0;
  uint64_t magnitude = field << format.fraction_bits | fraction;
  using Kind = Decoded::Kind;
  if (magnitude > largest_code(format)) {
    bool infinite = format.top == Format::Top::kInfinityAndNan && fraction == 0;
    return {infinite ? Kind::kInfinity : Kind::kNan, negative, 0, 0};
  }
  uint64_t hidden = field != 0 ? uint64_t{1} << format.fraction_bits : 0;
  int exponent = static_cast<int>(field != 0 ? field : 1) - format.bias - format.fraction_bits;
  return {Kind::kFinite, negative, hidden | fraction, exponent};
}

// --- to f32 ---

static float widen(const Format& format, uint64_t code) {
  Decoded d = decode(format, code);
  uint32_t sign = d.negative ? kSignF32 : 0;
  if (d.kind == Decoded::Kind::kNan) return f32_of(kNanF32);
  if (d.kind == Decoded::Kind::kInfinity) return f32_of(sign | 0x7f800000u);
  return f32_of(static_cast<uint32_t>(
      encode(kF32, d.negative, d.significand, d.exponent, Rounding::kNearestEven, false)));
}

float f32_from_e4m3(uint8_t x) { return widen(kE4m3, x); }
float f32_from_e5m2(uint8_t x) { return widen(kE5m2, x); }
float f32_from_e3m2(uint8_t x) { return widen(kE3m2, x & 63); }
float f32_from_e2m3(uint8_t x) { return widen(kE2m3, x & 63); }
float f32_from_e2m1(uint8_t x) { return widen(kE2m1, x & 15); }
float f32_from_ue8m0(uint8_t x) {
  if (x == 255) return f32_of(kNanF32);
  return f32_of(x == 0 ? 0x00400000u : static_cast<uint32_t>(x) << 23);  // 2^-127 is subnormal
}

// --- from f32 and f64 ---

uint16_t f16_from_f32(float x, Narrowing how) {
  return static_cast<uint16_t>(narrow(kF16, x, how, kNanF16));
}
uint16_t bf16_from_f32(float x, Narrowing how) {
  return static_cast<uint16_t>(narrow(kBf16, x, how, kNanF16));
}
// From f64 a NaN keeps its sign and the upper bits of its payload, quieted.
static uint64_t shortened_nan(const Format& format, double x) {
  uint64_t bits = bits_of(x);
  uint64_t quiet = uint64_t{1} << (format.fraction_bits - 1);
  uint64_t payload = (bits & ones(52)) >> (52 - format.fraction_bits);
  uint64_t sign = bits >> 63 << (format.exponent_bits + format.fraction_bits);
  return sign | infinity_code(format) | quiet | payload;
}
uint16_t f16_from_f64(double x, Narrowing how) {
  return static_cast<uint16_t>(narrow(kF16, x, how, shortened_nan(kF16, x)));
}
uint16_t bf16_from_f64(double x, Narrowing how) {
  return static_cast<uint16_t>(narrow(kBf16, x, how, shortened_nan(kBf16, x)));
}

uint32_t tf32_from_f32(float x, Narrowing how) {
  // .rna is an addition on the bits; at exponent 255 nothing but the cut. .satfinite then takes one
  // last place from whatever has that exponent, NaN too. [H200]
  if (how.rounding == Rounding::kNearestAway && !how.relu) {
    bool finite = (bits_of(x) & 0x7f800000u) != 0x7f800000u;
    uint32_t cut = (bits_of(x) + (finite ? 0x1000 : 0)) & kTf32Mask;
    bool saturates = how.satfinite && (cut & 0x7f800000u) == 0x7f800000u;
    return saturates ? cut - 0x2000 : cut;
  }
  constexpr int kDropped = kF32.fraction_bits - kTf32.fraction_bits;
  return static_cast<uint32_t>(narrow(kTf32, x, how, kNanTf32 >> kDropped)) << kDropped;
}

uint8_t e4m3_from_f32(float x, Narrowing how) {
  how.satfinite = true;
  return static_cast<uint8_t>(narrow(kE4m3, x, how, 0x7f));
}
uint8_t e5m2_from_f32(float x, Narrowing how) {
  how.satfinite = true;
  return static_cast<uint8_t>(narrow(kE5m2, x, how, 0x7f));
}
uint8_t e3m2_from_f32(float x, Narrowing how) {
  return static_cast<uint8_t>(narrow(kE3m2, x, how, largest_code(kE3m2)));
}
uint8_t e2m3_from_f32(float x, Narrowing how) {
  return static_cast<uint8_t>(narrow(kE2m3, x, how, largest_code(kE2m3)));
}
uint8_t e2m1_from_f32(float x, Narrowing how) {
  return static_cast<uint8_t>(narrow(kE2m1, x, how, largest_code(kE2m1)));
}

uint8_t ue8m0_from_f32(float x, Narrowing how) {
  // The magnitude's power of two below or above. Code 0 is 2^-127, half of the smallest normal.
  uint32_t magnitude = bits_of(x) & ~kSignF32;
  if (magnitude > 0x7f800000u) return 0xff;
  if (magnitude <= 0x00400000u) return 0;
  uint32_t field = magnitude >> 23;
  bool exact = (magnitude & 0x007fffffu) == 0;
  uint32_t up = how.rounding == Rounding::kUp && !exact ? 1 : 0;
  uint32_t code = field + up;
  if (code > 254) return how.satfinite || how.rounding == Rounding::kTowardZero ? 254 : 255;
  return static_cast<uint8_t>(code);
}

static uint16_t f16_from_short(float x) { return is_nan(x) ? kNanF16 : f16_from_f32_rn(x); }
uint16_t f16_from_e4m3(uint8_t x) { return f16_from_short(f32_from_e4m3(x)); }
uint16_t f16_from_e5m2(uint8_t x) { return f16_from_short(f32_from_e5m2(x)); }

// --- f32 <-> f64 ---

double f64_from_f32(float x) { return static_cast<double>(x); }

float f32_from_f64(double x, FloatMode mode) {
  float r;
  if (is_nan(x) || mode.rounding == Rounding::kNearestEven || x - x != 0)
    r = static_cast<float>(x);
  else
    r = f32_of(static_cast<uint32_t>(narrow_finite(kF32, x, {.rounding = mode.rounding})));
  if (mode.ftz && __builtin_fabs(x) < 0x1p-126) {
    // Too small after rounding to 24 bits with an exponent without bound (float32.h).
    float unbounded = f32_from_f64(x * 0x1p100, {.rounding = mode.rounding});
    if (__builtin_fabsf(unbounded) < 0x1p-26f) r = f32_of(bits_of(r) & kSignF32);
  }
  return mode.sat ? saturate(r) : r;
}

}  // namespace lw::arith
