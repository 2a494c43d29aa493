#include "machine/tensor_memory_descriptors.h"

#include <fmt/format.h>

#include <cstring>

namespace lw::machine {
namespace {

using arith::TensorResult;
using arith::TensorType;

template <class Number>
constexpr uint32_t field(Number bits, int first, int width) {
  return static_cast<uint32_t>(bits >> first & ((Number{1} << width) - 1));
}

// --- instruction descriptor ---

// The types that a kind's codes stand for; false: none.
bool type_of(ProductKind kind, uint32_t code, TensorType& type) {
  constexpr TensorType kHalves[] = {TensorType::kF16, TensorType::kBf16};
  constexpr TensorType kBytes[] = {TensorType::kE4m3, TensorType::kE5m2, TensorType::kE2m3,
                                   TensorType::kE3m2, TensorType::kE2m1};
  constexpr TensorType kIntegers[] = {TensorType::kU8, TensorType::kS8};
  const auto pick = [&](auto& types) {
    if (code >= std::size(types)) return false;
    type = types[code];
    return true;
  };
  switch (kind) {
    case ProductKind::f16:
      return pick(kHalves);
    case ProductKind::f8f6f4:
    case ProductKind::mxf8f6f4:
      return pick(kBytes);
    case ProductKind::i8:
      return pick(kIntegers);
    case ProductKind::tf32:
      type = TensorType::kTf32;
      return code == 2;
  }
  return false;
}

bool result_of(ProductKind kind, TensorType input, uint32_t code, TensorResult& result) {
  constexpr TensorResult kResults[] = {TensorResult::kF16, TensorResult::kF32, TensorResult::kS32};
  if (code >= std::size(kResults)) return false;
  result = kResults[code];
  if (kind == ProductKind::i8) return result == TensorResult::kS32;
  if (result == TensorResult::kF32) return true;
  return result == TensorResult::kF16 && input != TensorType::kBf16 && kind != ProductKind::tf32;
}

bool n_is_right(ProductKind kind, const ProductShape& shape) {
  if (shape.n < 8 || shape.n > arith::kMaxTensorColumns || shape.n % 8 != 0) return false;
  if (kind == ProductKind::i8 && shape.n > 32 && shape.n % 16 != 0) return false;
  const bool bytes = arith::element_bytes(shape.product.b) == 1;
  return !(bytes && shape.b_mn_major) || shape.n % 16 == 0;
}

uint32_t reserved_bits(ProductKind kind) {
  if (kind == ProductKind::mxf8f6f4) return 0x87000048;
  return kind == ProductKind::i8 ? 0xe0806040 : 0xe0800048;
}

// `shape` says what one CTA has.
std::string fault_of(ProductKind kind, uint32_t bits, const ProductShape& shape, bool pair) {
  const uint32_t ctas = pair ? 2 : 1;
  if (field(bits, 2, 1) != 0) return "it says that A is sparse";
  if ((bits & reserved_bits(kind)) != 0) return "reserved bits are set";
  const bool scaled = kind == ProductKind::mxf8f6f4;
  if (scaled && field(bits, 23, 1) == 0) return "the type of scales is not ue8m0";
  if (shape.m != 128 && (scaled || shape.m != 64))
    return fmt::format("M is {}, not {}{}", ctas * shape.m,
                       scaled ? "" : fmt::format("{} or ", ctas * 64), ctas * 128);
  const uint32_t least = kind == ProductKind::i8 ? 32 : 16;  // the step of a pair
  if (!n_is_right(kind, shape) || (pair && shape.n % least != 0))
    return fmt::format("N is {}", shape.n);
  if ((shape.a_mn_major && is_short(shape.product.a)) ||
      (shape.b_mn_major && is_short(shape.product.b)))
    return "an operand of less than 8 bits is not K-major";
  return {};
}

// --- shared-memory descriptor ---

std::string fault_of(uint64_t bits, TensorType type, bool mn_major) {
  constexpr uint32_t kVersion = 1;
  if (field(bits, 46, 3) != kVersion)
    return fmt::format("bits 46-48 are {}, not {}", field(bits, 46, 3), kVersion);
  if (field(bits, 14, 2) != 0 || field(bits, 30, 2) != 0 || field(bits, 53, 8) != 0)
    return "reserved bits are set";
  const uint32_t swizzle = field(bits, 61, 3);
  if (swizzle > 1 && swizzle % 2 != 0) return fmt::format("there is no swizzling mode {}", swizzle);
  const bool atoms32 = swizzle == static_cast<uint32_t>(OperandSwizzle::b128_atoms32);
  if (mn_major && atoms32 != (type == TensorType::kTf32))
    return atoms32 ? "atoms of 32 bytes are for tf32"
                   : "tf32 is MN-major in atoms of 32 bytes only";
  return {};
}

std::string unmodelled_in(uint64_t bits, bool mn_major) {
  if (field(bits, 49, 3) != 0) return "a base offset in a shared-memory descriptor";
  if (field(bits, 52, 1) != 0) return "an absolute leading address in a shared-memory descriptor";
  const uint32_t swizzle = field(bits, 61, 3);
  if (!mn_major && swizzle == static_cast<uint32_t>(OperandSwizzle::b128_atoms32))
    return "a K-major operand in atoms of 32 bytes";
  return {};
}

uint32_t six_bits(const std::byte* from, uint32_t n) {
  uint32_t bits = 0;
  std::memcpy(&bits, from + 6 * n / 8, 2);
  return bits >> (6 * n % 8) & 0x3f;
}

}  // namespace

Decoded<ProductShape> decode_product(ProductKind kind, uint32_t bits, bool pair) {
  Decoded<ProductShape> decoded;
  ProductShape& shape = decoded.value;
  if (!type_of(kind, field(bits, 7, 3), shape.product.a) ||
      !type_of(kind, field(bits, 10, 3), shape.product.b)) {
    decoded.fault =
        fmt::format("its kind has no types {} and {}", field(bits, 7, 3), field(bits, 10, 3));
    return decoded;
  }
  if (kind == ProductKind::mxf8f6f4) {
    shape.product.d = TensorResult::kF32;
    shape.scale_byte_a = field(bits, 29, 2);
    shape.scale_byte_b = field(bits, 4, 2);
  } else if (!result_of(kind, shape.product.a, field(bits, 4, 2), shape.product.d)) {
    decoded.fault = fmt::format("D cannot be of type {}", field(bits, 4, 2));
  }
  shape.product.saturate = kind == ProductKind::i8 && field(bits, 3, 1) != 0;
  shape.product.negate_a = field(bits, 13, 1) != 0;
  shape.product.negate_b = field(bits, 14, 1) != 0;
  shape.a_mn_major = field(bits, 15, 1) != 0;
  shape.b_mn_major = field(bits, 16, 1) != 0;
  shape.n = 8 * field(bits, 17, 6);
  shape.m = kind == ProductKind::mxf8f6f4 ? 128 * field(bits, 27, 2) : 16 * field(bits, 24, 5);
  if (pair) shape.m /= 2;
  if (decoded.fault.empty()) decoded.fault = fault_of(kind, bits, shape, pair);
  if (kind == ProductKind::f16 && shape.product.a != shape.product.b)
    decoded.unmodelled = "a product of f16 and bf16";
  return decoded;
}

Decoded<OperandLayout> decode_operand(uint64_t bits, TensorType type, bool mn_major) {
  Decoded<OperandLayout> decoded;
  decoded.value = {16 * field(bits, 0, 14), 16 * field(bits, 16, 14), 16 * field(bits, 32, 14),
                   static_cast<OperandSwizzle>(field(bits, 61, 3)), mn_major};
  decoded.fault = fault_of(bits, type, mn_major);
  decoded.unmodelled = unmodelled_in(bits, mn_major);
  return decoded;
}

uint32_t OperandLayout::line_bytes() const {
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

uint32_t OperandLayout::swizzled(uint32_t address) const {
  switch (swizzle) {
    case OperandSwizzle::none:
      return address;
    case OperandSwizzle::b32:
      return address ^ (address >> 3 & 0x10);
    case OperandSwizzle::b64:
      return address ^ (address >> 3 & 0x30);
    case OperandSwizzle::b128:
      return address ^ (address >> 3 & 0x70);
    case OperandSwizzle::b128_atoms32:
      return address ^ (address >> 2 & 0x60);
  }
  return address;
}

uint32_t OperandLayout::k_major_piece(uint32_t row, uint32_t part) const {
  const uint32_t apart = swizzle == OperandSwizzle::none ? leading : kPieceBytes;
  return swizzled(start + row % 8 * line_bytes() + row / 8 * stride + part * apart);
}

uint32_t OperandLayout::mn_major_piece(uint32_t part, uint32_t k) const {
  if (swizzle == OperandSwizzle::none)
    return start + part * stride + k % 8 * kPieceBytes + k / 8 * leading;
  const uint32_t line = line_bytes();
  const uint32_t lines = swizzle == OperandSwizzle::b128_atoms32 ? 4 : 8;
  const uint32_t byte = part * kPieceBytes;
  return swizzled(start + byte % line + byte / line * leading + k % lines * line +
                  k / lines * stride);
}

// MN-major, the pieces of one k follow each other.
uint32_t piece_address(const OperandLayout& layout, uint32_t rows, uint32_t element_bytes,
                       uint32_t piece) {
  if (!layout.mn_major) return layout.k_major_piece(piece / 2, piece % 2);
  const uint32_t parts = rows * element_bytes / kPieceBytes;
  return layout.mn_major_piece(piece % parts, piece / parts);
}

void place_piece(const OperandLayout& layout, uint32_t rows, TensorType type, uint32_t piece,
                 const std::byte* from, std::byte* tile) {
  const uint32_t bytes = arith::element_bytes(type);
  if (!layout.mn_major) {
    std::byte* to = tile + piece * kPieceBytes;
    if (is_short(type)) return unpack_shared(type, from, to);
    std::memcpy(to, from, kPieceBytes);
    return;
  }
  const uint32_t parts = rows * bytes / kPieceBytes;
  const uint32_t row = piece % parts * (kPieceBytes / bytes), k = piece / parts;
  for (uint32_t i = 0; i < kPieceBytes / bytes; ++i)
    std::memcpy(tile + (row + i) * arith::kTensorRowBytes + k * bytes, from + i * bytes, bytes);
}

void unpack_shared(TensorType type, const std::byte* from, std::byte* codes) {
  for (uint32_t n = 0; n < kPieceBytes; ++n) {
    if (type == TensorType::kE2m1) {
      codes[n] = (from[n / 2] >> (n % 2 * 4)) & std::byte{0xf};
    } else {
      codes[n] = static_cast<std::byte>(six_bits(from, n));
    }
  }
}

void unpack_containers(TensorType type, std::byte* codes, uint32_t count) {
  for (uint32_t n = 0; n < count; ++n)
    codes[n] = type == TensorType::kE2m1 ? codes[n] >> kNibbleInContainer & std::byte{0xf}
                                         : codes[n] & std::byte{0x3f};
}

}  // namespace lw::machine
