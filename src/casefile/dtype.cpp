#include "casefile/dtype.h"

#include <array>
#include <cmath>
#include <cstring>

#include "base/check.h"
#include "casefile/generate.h"

namespace lw::casefile {
namespace {

struct Row {
  std::string_view name;
  uint32_t bytes;
  NumberKind kind;
  const FloatFormat* format;  // of reals
};

constexpr std::array<Row, 19> kRows{{
    {"i8", 1, NumberKind::signed_integer, nullptr},
    {"i16", 2, NumberKind::signed_integer, nullptr},
    {"i32", 4, NumberKind::signed_integer, nullptr},
    {"i64", 8, NumberKind::signed_integer, nullptr},
    {"u8", 1, NumberKind::unsigned_integer, nullptr},
    {"u16", 2, NumberKind::unsigned_integer, nullptr},
    {"u32", 4, NumberKind::unsigned_integer, nullptr},
    {"u64", 8, NumberKind::unsigned_integer, nullptr},
    {"f16", 2, NumberKind::real, &kF16},
    {"bf16", 2, NumberKind::real, &kBf16},
    {"f32", 4, NumberKind::real, &kF32},
    {"f64", 8, NumberKind::real, &kF64},
    {"e4m3", 1, NumberKind::real, &kE4m3},
    {"e5m2", 1, NumberKind::real, &kE5m2},
    {"b8", 1, NumberKind::unsigned_integer, nullptr},
    {"b16", 2, NumberKind::unsigned_integer, nullptr},
    {"b32", 4, NumberKind::unsigned_integer, nullptr},
    {"b64", 8, NumberKind::unsigned_integer, nullptr},
    {"b128", 16, NumberKind::unsigned_integer, nullptr},
}};

const Row& row(Dtype dtype) { return kRows[static_cast<size_t>(dtype)]; }

uint32_t value_bits(Dtype dtype) { return row(dtype).bytes >= 8 ? 64 : row(dtype).bytes * 8; }

uint64_t value_mask(Dtype dtype) { return ~uint64_t{0} >> (64 - value_bits(dtype)); }

// The largest and smallest numbers of an integer type as doubles; 2^63 and 2^64 stand for the
// bounds just above the range.
uint64_t clamp_to_integer(double value, Dtype dtype) {
  const uint32_t bits = value_bits(dtype);
  const bool is_signed = row(dtype).kind == NumberKind::signed_integer;
  const double rounded = std::nearbyint(value);
  const double top = std::ldexp(1.0, static_cast<int>(is_signed ? bits - 1 : bits));
  const double bottom = is_signed ? -top : 0.0;
  const uint64_t largest = is_signed ? value_mask(dtype) >> 1 : value_mask(dtype);
  if (std::isnan(value)) return 0;
  if (rounded >= top) return largest;
  if (rounded <= bottom) return is_signed ? largest + 1 : 0;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(rounded))
                   : static_cast<uint64_t>(rounded);
}

}  // namespace

std::optional<Dtype> find_dtype(std::string_view name) {
  for (size_t i = 0; i < kRows.size(); ++i) {
    if (kRows[i].name == name) return static_cast<Dtype>(i);
  }
  return std::nullopt;
}

std::string_view dtype_name(Dtype dtype) { return row(dtype).name; }

std::vector<std::string> dtype_names() {
  std::vector<std::string> names;
  names.reserve(std::size(kRows));
  for (const Row& r : kRows) names.emplace_back(r.name);
  return names;
}

uint32_t dtype_bytes(Dtype dtype) { return row(dtype).bytes; }

NumberKind number_kind(Dtype dtype) { return row(dtype).kind; }

uint64_t encode(double value, Dtype dtype) {
  if (row(dtype).kind == NumberKind::real) return encode_float(value, *row(dtype).format);
  return clamp_to_integer(value, dtype) & value_mask(dtype);
}

uint64_t encode_integer(int64_t value, Dtype dtype) {
  if (row(dtype).kind == NumberKind::real) return encode(static_cast<double>(value), dtype);
  return static_cast<uint64_t>(value) & value_mask(dtype);
}

bool fits(int64_t value, Dtype dtype) {
  if (row(dtype).kind == NumberKind::real) return true;
  const uint64_t mask = value_mask(dtype);
  const auto bits = static_cast<uint64_t>(value);
  // A negative number is accepted for raw bits and unsigned types where it is the two's complement
  // of something that wide: people write -1 for "all ones".
  if (value < 0) return (~bits & ~(mask >> 1)) == 0;
  return row(dtype).kind == NumberKind::signed_integer ? bits <= mask >> 1 : bits <= mask;
}

double decode(uint64_t bits, Dtype dtype) {
  const Row& r = row(dtype);
  if (r.kind == NumberKind::real) return decode_float(bits, *r.format);
  if (r.kind == NumberKind::unsigned_integer) return static_cast<double>(bits);
  const uint32_t shift = 64 - value_bits(dtype);
  return static_cast<double>(static_cast<int64_t>(bits << shift) >> shift);
}

uint64_t nan_bits(Dtype dtype) {
  const Row& r = row(dtype);
  return r.kind == NumberKind::real ? r.format->nan() : value_mask(dtype);
}

uint64_t load_element(const uint8_t* bytes, uint64_t index, Dtype dtype) {
  const uint32_t size = dtype_bytes(dtype);
  uint64_t bits = 0;
  std::memcpy(&bits, bytes + index * size, size < 8 ? size : 8);
  return bits;
}

void store_element(uint8_t* bytes, uint64_t index, Dtype dtype, uint64_t bits) {
  const uint32_t size = dtype_bytes(dtype);
  if (size > 8) std::memset(bytes + index * size + 8, 0, size - 8);
  std::memcpy(bytes + index * size, &bits, size < 8 ? size : 8);
}

}  // namespace lw::casefile
