#pragma once
// The two descriptors of tcgen05.mma (PTX: TensorCore 5th Generation Instructions, Instruction
// descriptor, Shared memory descriptor): what is multiplied, and where its operands lie.
//
// An operand is rows (of A along M, of B along N) of 32 bytes of K. In shared memory it lies in
// pieces of 16 bytes: K-major, a row is two of them; MN-major, a piece is neighbouring rows at one
// k. Strides place groups of eight rows (or k) and what is beyond a line of the swizzle;
// swizzling exchanges pieces by bits of the final shared address, so a start inside a pattern
// works.
//
// Limits: a nonzero base offset, absolute leading addresses and K-major operands in atoms of 32
// bytes are not modelled. Tested in tensor_memory_descriptors_test.cpp.

#include <cstdint>
#include <string>

#include "arith/tcgen05.h"

namespace lw::machine {

enum class ProductKind : uint8_t { f16, tf32, f8f6f4, i8, mxf8f6f4 };

// What was decoded, and why it cannot be used, if it cannot.
template <class Value>
struct Decoded {
  Value value{};
  std::string fault;       // an error of the kernel
  std::string unmodelled;  // right, or nobody knows

  bool is_fine() const { return fault.empty() && unmodelled.empty(); }
};

struct ProductShape {
  arith::TensorProduct product;
  uint32_t m = 0;
  uint32_t n = 0;
  bool a_mn_major = false;
  bool b_mn_major = false;
  uint32_t scale_byte_a = 0;  // mxf8f6f4: of the cells that hold the scales
  uint32_t scale_byte_b = 0;

  uint32_t k() const { return arith::kTensorRowBytes / arith::element_bytes(product.a); }
};
// Dense. Of a pair of CTAs (cta_group::2) `m` is what each of the two has.
Decoded<ProductShape> decode_product(ProductKind kind, uint32_t bits, bool pair = false);

enum class OperandSwizzle : uint8_t { none = 0, b128_atoms32 = 1, b128 = 2, b64 = 4, b32 = 6 };

struct OperandLayout {
  uint32_t start = 0;  // shared addresses and bytes
  uint32_t leading = 0;
  uint32_t stride = 0;
  OperandSwizzle swizzle{};
  bool mn_major = false;

  // The shared address of 16 bytes. K-major: bytes 16 `part` and up of a row.
  uint32_t k_major_piece(uint32_t row, uint32_t part) const;
  // MN-major: of the row of bytes at `k`, bytes 16 `part` and up.
  uint32_t mn_major_piece(uint32_t part, uint32_t k) const;

 private:
  uint32_t swizzled(uint32_t address) const;
  uint32_t line_bytes() const;
};
Decoded<OperandLayout> decode_operand(uint64_t bits, arith::TensorType type, bool mn_major);

inline constexpr uint32_t kPieceBytes = 16;

// There are two pieces a row, either way. The address of one by its number.
inline constexpr uint32_t kPiecesOfRow = arith::kTensorRowBytes / kPieceBytes;
uint32_t piece_address(const OperandLayout& layout, uint32_t rows, uint32_t element_bytes,
                       uint32_t piece);
// Puts a piece into the tile of `rows` rows of 32 bytes; short formats are unpacked to a code in
// the low bits of each byte.
void place_piece(const OperandLayout& layout, uint32_t rows, arith::TensorType type, uint32_t piece,
                 const std::byte* from, std::byte* tile);

// Of less than eight bits.
constexpr bool is_short(arith::TensorType type) {
  using T = arith::TensorType;
  return type == T::kE2m3 || type == T::kE3m2 || type == T::kE2m1;
}
inline constexpr int kNibbleInContainer = 2;  // the bit where e2m1 begins in its byte
// Sixteen elements of a short format: packed in shared memory, and one a byte in tensor memory.
void unpack_shared(arith::TensorType type, const std::byte* from, std::byte* codes);
void unpack_containers(arith::TensorType type, std::byte* codes, uint32_t count);

}  // namespace lw::machine
