#pragma once
// Element types of buffers and scalar arguments: how wide they are and how numbers become bits.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lw::casefile {

enum class Dtype : uint8_t {
  i8,
  i16,
  i32,
  i64,
  u8,
  u16,
  u32,
  u64,
  f16,
  bf16,
  f32,
  f64,
  e4m3,
  e5m2,
  b8,
  b16,
  b32,
  b64,
  b128
};

enum class NumberKind : uint8_t { signed_integer, unsigned_integer, real };

std::optional<Dtype> find_dtype(std::string_view name);
std::string_view dtype_name(Dtype dtype);
std::vector<std::string> dtype_names();
uint32_t dtype_bytes(Dtype dtype);
NumberKind number_kind(Dtype dtype);  // b8..b128 count as unsigned

// The bits of `value` in `dtype`: rounded to nearest even; integers are clamped to their range.
uint64_t encode(double value, Dtype dtype);
uint64_t encode_integer(int64_t value, Dtype dtype);

// Is `value` representable in the integer type `dtype`? Always true for reals.
bool fits(int64_t value, Dtype dtype);

// The number that `bits` mean.
double decode(uint64_t bits, Dtype dtype);

uint64_t nan_bits(Dtype dtype);  // all ones for integers and raw bits

// Little-endian element `index` of an array of `dtype`; of b128 the low half.
uint64_t load_element(const uint8_t* bytes, uint64_t index, Dtype dtype);
void store_element(uint8_t* bytes, uint64_t index, Dtype dtype, uint64_t bits);

}  // namespace lw::casefile
