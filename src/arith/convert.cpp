#include "arith/convert.h"

#include "arith/formats.h"

namespace lw::arith {

namespace {

uint64_t encode_int(const Format& format, int64_t x, Rounding rounding) {
  uint64_t magnitude = static_cast<uint64_t>(x);
  return encode(format, x < 0, x < 0 ? 0 - magnitude : magnitude, 0, rounding, false);
}
uint64_t encode_int(const Format& format, uint64_t x, Rounding rounding) {
  return encode(format, false, x, 0, rounding, false);
}

}  // namespace

float f32_from_int(int64_t x, Rounding rounding) {
  return f32_of(static_cast<uint32_t>(encode_int(kF32, x, rounding)));
}
float f32_from_int(uint64_t x, Rounding rounding) {
  return f32_of(static_cast<uint32_t>(encode_int(kF32, x, rounding)));
}
double f64_from_int(int64_t x, Rounding rounding) { return f64_of(encode_int(kF64, x, rounding)); }
double f64_from_int(uint64_t x, Rounding rounding) { return f64_of(encode_int(kF64, x, rounding)); }
uint16_t f16_from_int(int64_t x, Rounding rounding) {
  return static_cast<uint16_t>(encode_int(kF16, x, rounding));
}
uint16_t f16_from_int(uint64_t x, Rounding rounding) {
  return static_cast<uint16_t>(encode_int(kF16, x, rounding));
}
uint16_t bf16_from_int(int64_t x, Rounding rounding) {
  return static_cast<uint16_t>(encode_int(kBf16, x, rounding));
}
uint16_t bf16_from_int(uint64_t x, Rounding rounding) {
  return static_cast<uint16_t>(encode_int(kBf16, x, rounding));
}

}  // namespace lw::arith
