#pragma once
// tcgen05.mma's arithmetic on whole tiles: D = A B, or D + A B, bit for bit.
//
// K is 32 bytes of a row: 8 products of tf32, 16 of f16 and bf16, 32 of the eight-bit containers
// and of the shorter formats in them. All products of an element and its accumulator are one block
// sum (block_sum.h) with F = 25, for fp8 too; the f32 result is cut to 24 bits, an f16 result
// rounded to nearest even (docs/numerics.md; from two public models, no device of ours). i8 sums
// exactly; the result wraps, or is clamped once. Block scales (mxf8f6f4) add to the exponents of
// the products; that the floor of -133 holds for them too is not known.
//
// `tensor_element` is the definition, one element at a time; `tensor_mma` is fast
// (tcgen05.simd.cpp) and held against it in tcgen05_test.cpp.

#include <cstddef>
#include <cstdint>
#include <span>

#include "arith/formats.h"

namespace lw::arith {

enum class TensorType : uint8_t { kF16, kBf16, kTf32, kE4m3, kE5m2, kE2m3, kE3m2, kE2m1, kU8, kS8 };
enum class TensorResult : uint8_t { kF32, kF16, kS32 };

constexpr bool is_integer(TensorType type) {
  return type == TensorType::kU8 || type == TensorType::kS8;
}
// Bytes of an element as the tiles below have it: short formats in the low bits of a byte.
constexpr uint32_t element_bytes(TensorType type) {
  if (type == TensorType::kTf32) return 4;
  return type == TensorType::kF16 || type == TensorType::kBf16 ? 2 : 1;
}
const Format& format_of(TensorType type);  // of floating-point types

// Block scaling: every product of a row and a column is multiplied by the two scales, ue8m0 codes
// (2^(code - 127), 255: NaN) for all K products. Null: none.
struct TensorScales {
  const uint8_t* rows = nullptr;
  const uint8_t* columns = nullptr;
};

struct TensorProduct {
  TensorType a{};
  TensorType b{};  // of the same size as a
  TensorResult d{};
  bool negate_a = false;
  bool negate_b = false;
  bool saturate = false;  // s32
  bool accumulate = true;
  TensorScales scales{};
};

inline constexpr uint32_t kTensorRowBytes = 32;
inline constexpr uint32_t kMaxTensorRows = 128;
inline constexpr uint32_t kMaxTensorColumns = 256;
inline constexpr uint32_t kTensorRowGroup = 16;

// Where D is: element (i, j) at cells[rows[i / 16] + i % 16 + columns[j]], in the low half of the
// cell if it is f16; then the upper half is ignored and becomes 0.
struct TensorCells {
  uint32_t* cells;
  std::span<const uint32_t> rows;     // of every 16 rows, 1 to 8
  std::span<const uint32_t> columns;  // of every column, a multiple of 8, at most 256
  // By row, all ones where it is not written; null: all are.
  const uint32_t* kept = nullptr;
};

// `a` has 32 bytes for each row of D, `b` for each column.
void tensor_mma(const TensorProduct& product, const std::byte* a, const std::byte* b,
                const TensorCells& d);

// Element (row, column) of D, of the same operands; `c` is the code that it had. The code that it
// gets.
uint32_t tensor_element(const TensorProduct& product, const std::byte* a, const std::byte* b,
                        uint32_t row, uint32_t column, uint32_t c);

// scale-input-d: the code times 2^-shift, in place. False if that is not exact: what the hardware
// does then is not known.
bool shift_f32(uint32_t& cell, int shift);
bool shift_f16(uint32_t& cell, int shift);

}  // namespace lw::arith
