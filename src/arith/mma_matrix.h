#pragma once
// Matrices out of the fragments of mma.sync and results back into them, one element after another:
// the plain kernels of mma.cpp and mma_sparse.cpp.

#include <array>
#include <cstring>

#include "arith/bits.h"
#include "arith/formats.h"
#include "arith/fragments.h"
#include "arith/mma_rules.h"

namespace lw::arith::mma_detail {

using Registers = const void* const*;

// A matrix of at most 16 x 256 elements, taken out of fragments; what is in it depends on the form.
template <class Element>
struct Matrix {
  std::array<Element, 16 * 256> elements;
  Element& at(int row, int column) { return elements[row * 256 + column]; }
};

template <class Word>
Word& word_at(void* const* registers, int r, int lane) {
  return static_cast<Word*>(registers[r])[lane];
}
template <class Word>
Word word_at(Registers registers, int r, int lane) {
  return static_cast<const Word*>(registers[r])[lane];
}

// Bits of element i of a register.
inline uint32_t element_of(uint32_t word, int bits, int i) {
  return bits == 32 ? word : (word >> (bits * i)) & ((1u << bits) - 1);
}

template <class Element, class Convert>
void take_a(const MmaForm& form, int registers, Registers a, Matrix<Element>& matrix,
            Convert convert) {
  int bits = element_bits(form.a);
  for (int r = 0; r < registers; ++r)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 32 / bits; ++i) {
        Place place = place_in_a(form.shape.m, 32 / bits, lane, r, i);
        matrix.at(place.row, place.column) =
            convert(element_of(word_at<uint32_t>(a, r, lane), bits, i));
      }
}

// B transposed: a row of the result is a column of B.
template <class Element, class Convert>
void take_b(const MmaForm& form, int registers, Registers b, Matrix<Element>& matrix,
            Convert convert) {
  int bits = element_bits(form.b);
  for (int r = 0; r < registers; ++r)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < 32 / bits; ++i) {
        Place place = place_in_b(32 / bits, lane, r, i);
        matrix.at(place.column, place.row) =
            convert(element_of(word_at<uint32_t>(b, r, lane), bits, i));
      }
}

// d = sum(row, column, c) for every element of an accumulator of 32-bit words. Results are kept
// until all operands were read: registers of d may be operands.
template <class Sum>
void each_result(const MmaForm& form, Registers c, void* const* d, Sum sum) {
  bool half = form.c == MmaType::kF16;
  int count = half ? 2 : 1;
  int bits = 32 / count;
  const int registers = form.shape.m * form.shape.n / (32 * count);
  uint32_t results[4][32] = {};
  for (int r = 0; r < registers; ++r)
    for (int lane = 0; lane < 32; ++lane)
      for (int i = 0; i < count; ++i) {
        Place place = place_in_c(count, lane, r, i);
        uint32_t addend = element_of(word_at<uint32_t>(c, r, lane), bits, i);
        results[r][lane] |= sum(place.row, place.column, addend) << (bits * i);
      }
  for (int r = 0; r < registers; ++r) std::memcpy(d[r], results[r], sizeof results[r]);
}

inline const Format& format_of(MmaType type) {
  switch (type) {
    case MmaType::kF16:
      return kF16;
    case MmaType::kBf16:
      return kBf16;
    case MmaType::kTf32:
      return kTf32;
    case MmaType::kE4m3:
      return kE4m3;
    default:
      return kE5m2;
  }
}

// An integer element with its sign.
inline auto integer_code(MmaType type) {
  int bits = element_bits(type);
  bool is_signed = type == MmaType::kS8 || type == MmaType::kS4;
  return [=](uint32_t code) -> int32_t {
    if (!is_signed) return static_cast<int32_t>(code);
    return static_cast<int32_t>(code << (32 - bits)) >> (32 - bits);
  };
}

// Codes of A and B as they are multiplied.
inline auto operand_code(MmaType type, bool emulated) {
  return [=](uint32_t code) -> uint32_t {
    if (type == MmaType::kTf32) return code >> 13;
    if (!emulated) return code;
    uint8_t byte = static_cast<uint8_t>(code);
    return type == MmaType::kE4m3 ? f16_from_e4m3(byte) : f16_from_e5m2(byte);
  };
}

// The sum of an emulated form and its addend.
inline uint32_t rounded_add(MmaType type, uint32_t sum, uint32_t c) {
  if (type != MmaType::kF16) return bits_of(canonical_nan(f32_of(sum) + f32_of(c)));
  return f16_from_f32_rn(f32_from_f16(static_cast<uint16_t>(sum)) +
                         f32_from_f16(static_cast<uint16_t>(c)));
}

// Index of the j-th product of a block.
inline int product_of_block(const MmaRules& rules, int block, int j) {
  return rules.emulated ? j / 2 * 4 + block * 2 + j % 2 : block * rules.block_length + j;
}

}  // namespace lw::arith::mma_detail
