#pragma once
// For tests: an operand of a product in shared memory, laid out as the manual draws the canonical
// layouts, atom by atom.

#include <bit>
#include <cstring>
#include <vector>

#include "arith/formats.h"
#include "machine/tensor_memory_descriptors.h"

namespace lw::machine {

using arith::TensorType;

inline uint32_t code_of(TensorType type, int value) {
  const auto real = static_cast<float>(value);
  switch (type) {
    case TensorType::kF16:
      return arith::f16_from_f32_rn(real);
    case TensorType::kBf16:
      return arith::bf16_from_f32_rn(real);
    case TensorType::kTf32:
      return std::bit_cast<uint32_t>(real) | 0x1abc;  // the low bits do not count
    case TensorType::kE4m3:
      return arith::e4m3_from_f32(real, {});
    case TensorType::kE5m2:
      return arith::e5m2_from_f32(real, {});
    case TensorType::kE2m3:
      return arith::e2m3_from_f32(real, {});
    case TensorType::kE3m2:
      return arith::e3m2_from_f32(real, {});
    case TensorType::kE2m1:
      return arith::e2m1_from_f32(real, {});
    default:
      return static_cast<uint8_t>(value);
  }
}

// Integers, by row and k.
struct Matrix {
  uint32_t rows, k;
  std::vector<int> values;

  Matrix(uint32_t rows, uint32_t k, bool is_signed, uint32_t seed) : rows(rows), k(k) {
    for (uint32_t i = 0; i < rows * k; ++i) {
      seed = seed * 1664525 + 1013904223;
      values.push_back(static_cast<int>(seed >> 24) % 4 - (is_signed ? 2 : 0));
    }
  }
  int at(uint32_t row, uint32_t column) const { return values[row * k + column]; }
};

// A matrix in shared memory. K-major: `line` bytes of K to a row, eight rows an atom. MN-major:
// `line` bytes of rows to a k, eight (32-byte atoms: four) k's an atom. Without swizzling both are
// core matrices of eight lines of 16 bytes. In an atom, pieces change places with the line's
// number.
struct Layout {
  OperandSwizzle swizzle;
  bool mn_major;

  uint32_t line() const {
    switch (swizzle) {
      case OperandSwizzle::none:
        return 16;
      case OperandSwizzle::b32:
        return 32;
      case OperandSwizzle::b64:
        return 64;
      default:
        return 128;
    }
  }
  uint32_t lines() const { return swizzle == OperandSwizzle::b128_atoms32 ? 4 : 8; }
  uint32_t atom() const { return line() * lines(); }
  // Where a piece of 16 bytes of a line of an atom is.
  uint32_t place(uint32_t in_atom, uint32_t piece) const {
    switch (swizzle) {
      case OperandSwizzle::none:
        return in_atom * 16;
      case OperandSwizzle::b32:
        return in_atom * 32 + (piece ^ in_atom / 4) * 16;
      case OperandSwizzle::b64:
        return in_atom * 64 + (piece ^ in_atom / 2) * 16;
      case OperandSwizzle::b128:
        return in_atom * 128 + (piece ^ in_atom) * 16;
      case OperandSwizzle::b128_atoms32:
        return in_atom * 128 + (piece / 2 ^ in_atom) * 32 + piece % 2 * 16;
    }
    return 0;
  }
};

struct Image {
  std::vector<std::byte> bytes;
  uint64_t descriptor = 0;  // start apart
};

inline uint64_t descriptor_of(const Layout& layout, uint32_t leading, uint32_t stride) {
  return uint64_t{1} << 46 | uint64_t{leading / 16} << 16 | uint64_t{stride / 16} << 32 |
         static_cast<uint64_t>(layout.swizzle) << 61;
}

// Puts the bytes of one element into 16 bytes of packed ones.
inline void put(std::byte* piece, TensorType type, uint32_t n, uint32_t code) {
  if (type == TensorType::kE2m1) {
    piece[n / 2] |= static_cast<std::byte>(code << (n % 2 * 4));
  } else if (is_short(type)) {
    for (uint32_t bit = 0; bit < 6; ++bit)
      piece[(6 * n + bit) / 8] |= static_cast<std::byte>((code >> bit & 1) << (6 * n + bit) % 8);
  } else {
    const uint32_t bytes = arith::element_bytes(type);
    std::memcpy(piece + n * bytes, &code, bytes);
  }
}

// Atoms along rows follow each other; those along K (MN-major: along K too) are a stride apart that
// leaves room in between.
inline Image lay_out(const Matrix& matrix, TensorType type, const Layout& layout) {
  const uint32_t of_piece = 16 / arith::element_bytes(type);
  const uint32_t across = layout.mn_major ? matrix.rows : matrix.k;  // along a line
  const uint32_t along = layout.mn_major ? matrix.k : matrix.rows;   // from line to line
  const uint32_t per_line = layout.line() / 16 * of_piece;
  const uint32_t atoms_across = (across + per_line - 1) / per_line;
  const uint32_t atoms_along = (along + layout.lines() - 1) / layout.lines();
  const uint32_t along_bytes = layout.atom();
  const uint32_t across_bytes = (atoms_along * along_bytes + 1023) / 1024 * 1024;
  Image image;
  image.bytes.resize(size_t{across_bytes} * atoms_across);
  for (uint32_t row = 0; row < matrix.rows; ++row)
    for (uint32_t k = 0; k < matrix.k; ++k) {
      const uint32_t a = layout.mn_major ? row : k, l = layout.mn_major ? k : row;
      const uint32_t at = a / per_line * across_bytes + l / layout.lines() * along_bytes +
                          layout.place(l % layout.lines(), a % per_line / of_piece);
      put(image.bytes.data() + at, type, a % of_piece, code_of(type, matrix.at(row, k)));
    }
  // MN-major without swizzling has the two strides the other way around.
  const bool exchanged = layout.mn_major && layout.swizzle == OperandSwizzle::none;
  image.descriptor = exchanged ? descriptor_of(layout, along_bytes, across_bytes)
                               : descriptor_of(layout, across_bytes, along_bytes);
  return image;
}

// K-major operands go on by 32 bytes in a line; without swizzling by two atoms; MN-major ones by
// the atoms of the k's of a product.
inline uint32_t advance_of(const Layout& layout, const Image& image, uint32_t k) {
  const auto leading = static_cast<uint32_t>(image.descriptor >> 16 & 0x3fff);
  const auto stride = static_cast<uint32_t>(image.descriptor >> 32 & 0x3fff);
  if (!layout.mn_major) return layout.swizzle == OperandSwizzle::none ? 2 * leading : 2;
  return k / layout.lines() * (layout.swizzle == OperandSwizzle::none ? leading : stride);
}

}  // namespace lw::machine
