#include "arith/tcgen05.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>

#include "arith/block_sum.h"
#include "arith/tcgen05_rules.h"
#include "base/vector_level.h"

namespace lw::arith {

namespace v2 {
void tensor_mma(const TensorProduct&, const std::byte*, const std::byte*, const TensorCells&);
}
namespace v3 {
void tensor_mma(const TensorProduct&, const std::byte*, const std::byte*, const TensorCells&);
}
namespace v4 {
void tensor_mma(const TensorProduct&, const std::byte*, const std::byte*, const TensorCells&);
}

namespace {

using Codes = std::array<uint32_t, kTensorRowBytes>;

int sign_bit(const Format& format) { return format.exponent_bits + format.fraction_bits; }

// The codes of a row, in the format's own bits. Returns how many.
size_t take_codes(TensorType type, bool negate, const std::byte* row, Codes& codes) {
  const uint32_t bytes = element_bytes(type);
  const Format& format = format_of(type);
  const uint32_t sign = 1u << sign_bit(format);
  const size_t count = kTensorRowBytes / bytes;
  for (size_t k = 0; k < count; ++k) {
    uint32_t code = 0;
    std::memcpy(&code, row + k * bytes, bytes);
    if (type == TensorType::kTf32) code >>= 13;
    codes[k] = (code & (2 * sign - 1)) ^ (negate ? sign : 0);
  }
  return count;
}

int32_t integer_at(TensorType type, const std::byte* row, size_t k) {
  const auto byte = static_cast<uint8_t>(row[k]);
  return type == TensorType::kS8 ? static_cast<int8_t>(byte) : byte;
}

uint32_t integer_element(const TensorProduct& product, const std::byte* a, const std::byte* b,
                         uint32_t c) {
  int64_t sum = static_cast<int32_t>(c);
  for (size_t k = 0; k < kTensorRowBytes; ++k)
    sum += int64_t{integer_at(product.a, a, k)} * integer_at(product.b, b, k);
  if (product.saturate)
    sum = std::clamp<int64_t>(sum, std::numeric_limits<int32_t>::min(),
                              std::numeric_limits<int32_t>::max());
  return static_cast<uint32_t>(sum);
}

}  // namespace

const Format& format_of(TensorType type) {
  switch (type) {
    case TensorType::kF16:
      return kF16;
    case TensorType::kBf16:
      return kBf16;
    case TensorType::kTf32:
      return kTf32;
    case TensorType::kE5m2:
      return kE5m2;
    case TensorType::kE2m3:
      return kE2m3;
    case TensorType::kE3m2:
      return kE3m2;
    case TensorType::kE2m1:
      return kE2m1;
    default:
      return kE4m3;
  }
}

uint32_t tensor_element(const TensorProduct& product, const std::byte* a, const std::byte* b,
                        uint32_t row, uint32_t column, uint32_t c) {
  a += size_t{row} * kTensorRowBytes;
  b += size_t{column} * kTensorRowBytes;
  if (product.d == TensorResult::kF16) c &= 0xffff;
  if (!product.accumulate) c = 0;
  if (is_integer(product.a)) return integer_element(product, a, b, c);
  int scale = 0;
  if (product.scales.rows != nullptr) {
    const uint8_t of_row = product.scales.rows[row], of_column = product.scales.columns[column];
    if (of_row == kNanScale || of_column == kNanScale) return kNanF32;
    scale = of_row + of_column - 2 * kScaleBias;
  }
  Codes x, y;
  const size_t count = take_codes(product.a, product.negate_a, a, x);
  take_codes(product.b, product.negate_b, b, y);
  return block_sum(format_of(product.a), {x.data(), count}, format_of(product.b), {y.data(), count},
                   c, product.d == TensorResult::kF16 ? kTensorRulesF16 : kTensorRulesF32, scale);
}

bool shift_f32(uint32_t& cell, int shift) {
  const float old = f32_of(cell), shifted = std::ldexp(old, -shift);
  if (old != old) return true;
  cell = bits_of(shifted);
  return std::ldexp(shifted, shift) == old;
}

bool shift_f16(uint32_t& cell, int shift) {
  const float old = f32_from_f16(static_cast<uint16_t>(cell));
  if (old != old) return true;
  cell = f16_from_f32_rn(std::ldexp(old, -shift));
  return std::ldexp(f32_from_f16(static_cast<uint16_t>(cell)), shift) == old;
}

void tensor_mma(const TensorProduct& product, const std::byte* a, const std::byte* b,
                const TensorCells& d) {
  base::choose_level(&v2::tensor_mma, &v3::tensor_mma, &v4::tensor_mma)(product, a, b, d);
}

}  // namespace lw::arith
