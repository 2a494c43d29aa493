#include "machine/tensor_map.h"

#include <gtest/gtest.h>

#include <cstring>

namespace lw::machine {
namespace {

TensorMap kda_like() {
  TensorMap map;
  map.address = 0x7f0000001000;
  map.type = TensorType::bf16;
  map.rank = 3;
  map.dims = {128, 2, 512, 1, 1};
  map.strides_bytes = {256, 512, 0, 0};
  map.box = {64, 1, 64, 1, 1};
  map.swizzle = Swizzle::b128;
  return map;
}

uint32_t word(const TensorMapBytes& bytes, uint32_t at) {
  uint32_t value;
  std::memcpy(&value, bytes.data() + at, 4);
  return value;
}

TEST(TensorMapTest, FieldsStandWhereTheDriverPutsThem) {
  const TensorMapBytes bytes = encode_tensor_map(kda_like());
  EXPECT_EQ(word(bytes, 0), 0x00001000u);
  EXPECT_EQ(word(bytes, 4), 0x7f00u);
  EXPECT_EQ(word(bytes, 8), 2u << 4 | 10u << 7 | 3u << 13);
  EXPECT_EQ(word(bytes, 12), 16u);
  EXPECT_EQ(word(bytes, 16), 32u);
  EXPECT_EQ(word(bytes, 32), 127u);
  EXPECT_EQ(word(bytes, 36), 1u);
  EXPECT_EQ(word(bytes, 40), 511u);
  EXPECT_EQ(bytes[55], 63);
  EXPECT_EQ(bytes[56], 0);
  EXPECT_EQ(bytes[57], 63);
  EXPECT_EQ(word(bytes, 64), 64u * 64 * 2);
  EXPECT_EQ(word(bytes, 72), 1024u);
}

TEST(TensorMapTest, DecodeIsTheInverse) {
  TensorMap map = kda_like();
  map.rank = 5;
  map.type = TensorType::tf32_ftz;
  map.dims = {uint64_t{1} << 32, 7, 9, 11, 13};
  map.strides_bytes = {uint64_t{1} << 39, (uint64_t{1} << 36) + 16, 32, 48};
  map.element_strides = {1, 2, 3, 8, 5};
  map.box = {16, 5, 8, 16, 2};
  map.swizzle = Swizzle::b64;
  map.fill = OutOfBoundsFill::nan;
  map.l2_promotion = L2Promotion::b256;
  const DecodedTensorMap decoded = decode_tensor_map(encode_tensor_map(map));
  EXPECT_EQ(decoded.fault, "");
  EXPECT_EQ(decoded.map, map);
}

TEST(TensorMapTest, Im2colCornersByRank) {
  for (uint32_t rank = 3; rank <= 5; ++rank) {
    TensorMap map = kda_like();
    map.rank = rank;
    map.box = {1, 1, 1, 1, 1};
    map.strides_bytes = {256, 512, 1024, 2048};
    map.im2col = true;
    map.channels_per_pixel = 64;
    map.pixels_per_column = 1000;
    for (uint32_t index = 0; index + 2 < rank; ++index) {
      map.lower_corner[index] = -static_cast<int32_t>(index) - 1;
      map.upper_corner[index] = static_cast<int32_t>(index) - 2;
    }
    map.dims = {128, 2, 512, 3, 4};
    for (uint32_t index = rank; index < 5; ++index) map.dims[index] = 1;
    for (uint32_t index = rank - 1; index < 4; ++index) map.strides_bytes[index] = 0;
    const DecodedTensorMap decoded = decode_tensor_map(encode_tensor_map(map));
    EXPECT_EQ(decoded.fault, "");
    EXPECT_EQ(decoded.map, map);
  }
}

TEST(TensorMapTest, BitsOfUnknownMeaningAreIgnored) {
  TensorMapBytes bytes = encode_tensor_map(kda_like());
  bytes[8] |= 2;  // seen in maps that a host library writes itself
  bytes[10] |= 1 << 5;
  std::memset(bytes.data() + 64, 0xaa, 64);
  const DecodedTensorMap decoded = decode_tensor_map(bytes);
  EXPECT_EQ(decoded.fault, "");
  EXPECT_EQ(decoded.map, kda_like());
}

TEST(TensorMapTest, BoxBytesCountElementStrides) {
  TensorMap map = kda_like();
  map.element_strides = {1, 1, 3, 1, 1};
  EXPECT_EQ(map.box_elements(2), 22u);
  EXPECT_EQ(map.box_bytes(), 64u * 22 * 2);
}

std::string fault_of(void (*change)(TensorMap&)) {
  TensorMap map = kda_like();
  change(map);
  return check_tensor_map(map);
}

TEST(TensorMapTest, RefusesWhatTheDriverRefuses) {
  EXPECT_EQ(check_tensor_map(kda_like()), "");
  EXPECT_EQ(fault_of([](TensorMap& map) { map.address += 8; }),
            "the address 0x7f0000001008 is not a multiple of 16");
  EXPECT_EQ(fault_of([](TensorMap& map) { map.rank = 6; }), "rank 6 is not 1 to 5");
  EXPECT_EQ(fault_of([](TensorMap& map) { map.dims[1] = 0; }),
            "dimension 1 has 0 elements, not 1 to 2^32");
  EXPECT_EQ(fault_of([](TensorMap& map) { map.strides_bytes[1] = 520; }),
            "the stride of dimension 2 is 520 bytes, not a multiple of 16 below 2^40");
  EXPECT_EQ(fault_of([](TensorMap& map) { map.box[0] = 128; }),
            "the box is 256 bytes wide, more than the 128 of its swizzle");
  EXPECT_EQ(fault_of([](TensorMap& map) { map.box[0] = 4; }),
            "the box is 8 bytes wide, not a multiple of 16");
  EXPECT_EQ(fault_of([](TensorMap& map) { map.box[1] = 257; }),
            "the box has 257 elements in dimension 1, not 1 to 256");
  EXPECT_EQ(fault_of([](TensorMap& map) {
              map.box = {64, 32, 64, 1, 1};
            }),
            "the box fills 262144 bytes, more than shared memory holds");
  EXPECT_EQ(fault_of([](TensorMap& map) { map.element_strides[1] = 9; }),
            "the element stride of dimension 1 is 9, not 1 to 8");
  EXPECT_EQ(fault_of([](TensorMap& map) {
              map.type = TensorType::s32;
              map.box[0] = 32;
              map.fill = OutOfBoundsFill::nan;
            }),
            "fill with NaN needs a floating-point type, not s32");
}

TEST(TensorMapTest, DecodeTellsWhyAMapIsUnusable) {
  TensorMapBytes bytes = encode_tensor_map(kda_like());
  bytes[8] = static_cast<uint8_t>(bytes[8] | 7 << 4);
  EXPECT_EQ(decode_tensor_map(bytes).fault, "rank 8 is not 1 to 5");
  bytes.fill(0xff);
  EXPECT_NE(decode_tensor_map(bytes).fault, "");
}

}  // namespace
}  // namespace lw::machine
