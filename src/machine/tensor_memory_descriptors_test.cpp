#include "machine/tensor_memory_descriptors.h"

#include <gtest/gtest.h>

namespace lw::machine {
namespace {

using arith::TensorResult;
using arith::TensorType;

TEST(TensorDescriptors, AProduct) {
  const auto decoded = decode_product(ProductKind::f16, 0x08400490);
  ASSERT_TRUE(decoded.is_fine()) << decoded.fault;
  const ProductShape& shape = decoded.value;
  EXPECT_EQ(shape.product.a, TensorType::kBf16);
  EXPECT_EQ(shape.product.b, TensorType::kBf16);
  EXPECT_EQ(shape.product.d, TensorResult::kF32);
  EXPECT_EQ(shape.m, 128u);
  EXPECT_EQ(shape.n, 256u);
  EXPECT_EQ(shape.k(), 16u);
  EXPECT_FALSE(shape.a_mn_major || shape.b_mn_major || shape.product.negate_a);
}

constexpr uint32_t kEight = 1 << 17, kRows128 = 8 << 24, kRows64 = 4 << 24, kF32 = 1 << 4;

TEST(TensorDescriptors, WrongProducts) {
  const auto fault = [](ProductKind kind, uint32_t bits) {
    return decode_product(kind, bits).fault;
  };
  EXPECT_EQ(fault(ProductKind::f16, kF32 | kEight | kRows128), "");
  EXPECT_EQ(fault(ProductKind::f16, kF32 | kEight | kRows64), "");
  EXPECT_EQ(fault(ProductKind::f16, kF32 | kEight | kRows64 / 2), "M is 32, not 64 or 128");
  EXPECT_EQ(fault(ProductKind::f16, kF32 | kRows128), "N is 0");
  EXPECT_EQ(fault(ProductKind::f16, kF32 | 33 * kEight | kRows128), "N is 264");
  EXPECT_EQ(fault(ProductKind::f16, kF32 | kEight | kRows128 | 4), "it says that A is sparse");
  EXPECT_EQ(fault(ProductKind::f16, kF32 | kEight | kRows128 | 1u << 23), "reserved bits are set");
  EXPECT_EQ(fault(ProductKind::f16, kF32 | kEight | kRows128 | 2 << 7),
            "its kind has no types 2 and 0");
  EXPECT_EQ(fault(ProductKind::f16, kEight | kRows128 | 1 << 7 | 1 << 10), "D cannot be of type 0");
  EXPECT_EQ(fault(ProductKind::tf32, kF32 | kEight | kRows128 | 2 << 7 | 2 << 10), "");
  EXPECT_EQ(fault(ProductKind::tf32, kEight | kRows128 | 2 << 7 | 2 << 10),
            "D cannot be of type 0");
  EXPECT_EQ(fault(ProductKind::i8, 2 << 4 | 5 * kEight | kRows128), "N is 40");
  EXPECT_EQ(fault(ProductKind::i8, 2 << 4 | 3 * kEight | kRows128 | 1 << 15), "");
  EXPECT_EQ(fault(ProductKind::i8, 2 << 4 | 3 * kEight | kRows128 | 1 << 13),
            "reserved bits are set");
  EXPECT_EQ(fault(ProductKind::f8f6f4, kF32 | kEight | kRows128 | 1 << 16), "N is 8");
  EXPECT_EQ(fault(ProductKind::f8f6f4, kF32 | 2 * kEight | kRows128 | 1 << 16 | 4 << 10),
            "an operand of less than 8 bits is not K-major");
  EXPECT_EQ(decode_product(ProductKind::f16, kF32 | kEight | kRows128 | 1 << 7).unmodelled,
            "a product of f16 and bf16");
}

TEST(TensorDescriptors, AScaledProduct) {
  const auto decoded = decode_product(ProductKind::mxf8f6f4, 0x28a00020);
  ASSERT_TRUE(decoded.is_fine()) << decoded.fault;
  const ProductShape& shape = decoded.value;
  EXPECT_EQ(shape.product.a, TensorType::kE4m3);
  EXPECT_EQ(shape.m, 128u);
  EXPECT_EQ(shape.n, 128u);
  EXPECT_EQ(shape.scale_byte_a, 1u);
  EXPECT_EQ(shape.scale_byte_b, 2u);
  EXPECT_EQ(decode_product(ProductKind::mxf8f6f4, 0x28200020).fault,
            "the type of scales is not ue8m0");
  EXPECT_EQ(decode_product(ProductKind::mxf8f6f4, 0x20a00020).fault, "M is 0, not 128");
}

OperandLayout layout(uint32_t start, uint32_t leading, uint32_t stride, OperandSwizzle swizzle,
                     bool mn_major = false) {
  return {start, leading, stride, swizzle, mn_major};
}

TEST(TensorDescriptors, AnOperand) {
  const auto decoded = decode_operand(0x4000404000011240, TensorType::kBf16, false);
  ASSERT_TRUE(decoded.is_fine()) << decoded.fault << decoded.unmodelled;
  EXPECT_EQ(decoded.value.start, 0x12400u);
  EXPECT_EQ(decoded.value.leading, 16u);
  EXPECT_EQ(decoded.value.stride, 1024u);
  EXPECT_EQ(decoded.value.swizzle, OperandSwizzle::b128);
}

TEST(TensorDescriptors, WrongOperands) {
  constexpr uint64_t kVersion = uint64_t{1} << 46;
  const auto decode = [](uint64_t bits, bool mn_major = false, TensorType type = TensorType::kF16) {
    const auto decoded = decode_operand(bits, type, mn_major);
    return decoded.fault + decoded.unmodelled;
  };
  EXPECT_EQ(decode(kVersion), "");
  EXPECT_EQ(decode(0), "bits 46-48 are 0, not 1");
  EXPECT_EQ(decode(kVersion | 1 << 14), "reserved bits are set");
  EXPECT_EQ(decode(kVersion | uint64_t{3} << 61), "there is no swizzling mode 3");
  EXPECT_EQ(decode(kVersion | uint64_t{1} << 61, true), "atoms of 32 bytes are for tf32");
  EXPECT_EQ(decode(kVersion | uint64_t{1} << 61, true, TensorType::kTf32), "");
  EXPECT_EQ(decode(kVersion | uint64_t{2} << 61, true, TensorType::kTf32),
            "tf32 is MN-major in atoms of 32 bytes only");
  EXPECT_EQ(decode(kVersion | uint64_t{1} << 61), "a K-major operand in atoms of 32 bytes");
  EXPECT_EQ(decode(kVersion | uint64_t{1} << 49), "a base offset in a shared-memory descriptor");
}

TEST(TensorDescriptors, SingleCells) {
  using S = OperandSwizzle;
  EXPECT_EQ(layout(0x400, 16, 1024, S::b128).k_major_piece(9, 2) + 8, 0x8b8u);            // k 20
  EXPECT_EQ(layout(0x420, 16, 1024, S::b128).k_major_piece(9, 0) + 8, 0x8b8u);            // k 4
  EXPECT_EQ(layout(0, 2048, 128, S::none).k_major_piece(10, 1) + 6, 2214u);               // k 11
  EXPECT_EQ(layout(0, 4096, 1024, S::b128, true).mn_major_piece(8, 9) + 12, 0x149cu);     // m 70
  EXPECT_EQ(layout(0, 4096, 512, S::b128_atoms32, true).mn_major_piece(10, 6), 0x1360u);  // m 40
  EXPECT_EQ(layout(64, 16, 256, S::b32).k_major_piece(3, 1), 0xa0u);
  EXPECT_EQ(layout(0, 16, 512, S::b64).k_major_piece(2, 0), 0x90u);
}

TEST(TensorDescriptors, ShortFormats) {
  const std::byte nibbles[16] = {std::byte{0x21}, std::byte{0x43}};
  std::byte codes[16];
  unpack_shared(TensorType::kE2m1, nibbles, codes);
  for (int n = 0; n < 4; ++n) EXPECT_EQ(static_cast<int>(codes[n]), n + 1);
  // 1, 1, 2, 3, then the last sixteenth element: 33.
  const std::byte sixes[16] = {
      std::byte{0x41},          std::byte{0x20}, std::byte{0x0c}, {}, {}, {}, {}, {}, {}, {}, {},
      std::byte{33 << 2 & 0xff}};
  unpack_shared(TensorType::kE3m2, sixes, codes);
  EXPECT_EQ(static_cast<int>(codes[0]), 1);
  EXPECT_EQ(static_cast<int>(codes[1]), 1);
  EXPECT_EQ(static_cast<int>(codes[2]), 2);
  EXPECT_EQ(static_cast<int>(codes[3]), 3);
  EXPECT_EQ(static_cast<int>(codes[15]), 33);
  std::byte container[] = {std::byte{0x3c}, std::byte{0x24}};
  unpack_containers(TensorType::kE2m1, container, 2);
  EXPECT_EQ(static_cast<int>(container[0]), 15);
  EXPECT_EQ(static_cast<int>(container[1]), 9);
}

}  // namespace
}  // namespace lw::machine
