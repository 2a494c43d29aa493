#include "machine/tensor_map.h"

#include <fmt/format.h>

#include <cstring>

#include "base/check.h"

namespace lw::machine {
namespace {

struct TypeRow {
  std::string_view name;
  uint8_t code;  // bits 7-10, with bit 16 for tf32
  bool tf32;
  uint8_t bytes;
  bool floating;
};

constexpr TypeRow kTypes[] = {
    {"u8", 0, false, 1, false},     {"u16", 1, false, 2, false},  {"u32", 2, false, 4, false},
    {"s32", 3, false, 4, false},    {"u64", 4, false, 8, false},  {"s64", 5, false, 8, false},
    {"f16", 6, false, 2, true},     {"f32", 7, false, 4, true},   {"f32.ftz", 8, false, 4, true},
    {"f64", 9, false, 8, true},     {"bf16", 10, false, 2, true}, {"tf32", 7, true, 4, true},
    {"tf32.ftz", 8, true, 4, true},
};

// Bit fields of the 32-bit word at byte 8.
constexpr uint32_t kIm2colBit = 0;
constexpr uint32_t kRankBit = 4;
constexpr uint32_t kTypeBit = 7;
constexpr uint32_t kInterleaveBit = 11;
constexpr uint32_t kSwizzleBit = 13;
constexpr uint32_t kFillBit = 15;
constexpr uint32_t kTf32Bit = 16;
constexpr uint32_t kL2Bit = 17;

// Byte offsets.
constexpr uint32_t kFlagsAt = 8;
constexpr uint32_t kStridesAt = 12;
constexpr uint32_t kStridesHighAt = 28;
constexpr uint32_t kDimsAt = 32;
constexpr uint32_t kElementStridesAt = 52;
constexpr uint32_t kBoxAt = 55;
constexpr uint32_t kCornersAt = 56;
constexpr uint32_t kPixelsAt = 60;
constexpr uint32_t kBoxBytesAt = 64;
constexpr uint32_t kAlignmentAt = 72;

const TypeRow& row_of(TensorType type) { return kTypes[static_cast<size_t>(type)]; }

template <class Number>
void put(TensorMapBytes& bytes, uint32_t at, Number value) {
  std::memcpy(bytes.data() + at, &value, sizeof value);
}

template <class Number>
Number get(std::span<const uint8_t, kTensorMapBytes> bytes, uint32_t at) {
  Number value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

uint32_t field(uint32_t word, uint32_t bit, uint32_t width) {
  return (word >> bit) & ((1u << width) - 1);
}

// How the corners of an im2col box share the two 16-bit words at byte 56: bits each by rank.
uint32_t corner_bits(uint32_t rank) { return rank == 3 ? 16 : rank == 4 ? 8 : 5; }

int32_t sign_extended(uint32_t value, uint32_t bits) {
  const uint32_t sign = 1u << (bits - 1);
  return static_cast<int32_t>((value ^ sign) - sign);
}

void put_corners(TensorMapBytes& bytes, const TensorMap& map) {
  const uint32_t bits = corner_bits(map.rank);
  uint32_t lower = 0, upper = 0;
  for (uint32_t index = 0; index + 2 < map.rank; ++index) {
    const uint32_t mask = (1u << bits) - 1;
    lower |= (static_cast<uint32_t>(map.lower_corner[index]) & mask) << (bits * index);
    upper |= (static_cast<uint32_t>(map.upper_corner[index]) & mask) << (bits * index);
  }
  put(bytes, kCornersAt, static_cast<uint16_t>(lower));
  put(bytes, kCornersAt + 2, static_cast<uint16_t>(upper));
}

void get_corners(std::span<const uint8_t, kTensorMapBytes> bytes, TensorMap& map) {
  const uint32_t bits = corner_bits(map.rank);
  const uint32_t lower = get<uint16_t>(bytes, kCornersAt);
  const uint32_t upper = get<uint16_t>(bytes, kCornersAt + 2);
  for (uint32_t index = 0; index + 2 < map.rank; ++index) {
    map.lower_corner[index] = sign_extended(field(lower, bits * index, bits), bits);
    map.upper_corner[index] = sign_extended(field(upper, bits * index, bits), bits);
  }
}

uint32_t flags_of(const TensorMap& map) {
  const TypeRow& type = row_of(map.type);
  return static_cast<uint32_t>(map.im2col) << kIm2colBit | (map.rank - 1) << kRankBit |
         static_cast<uint32_t>(type.code) << kTypeBit |
         static_cast<uint32_t>(map.interleave) << kInterleaveBit |
         static_cast<uint32_t>(map.swizzle) << kSwizzleBit |
         static_cast<uint32_t>(map.fill) << kFillBit |
         static_cast<uint32_t>(type.tf32) << kTf32Bit |
         static_cast<uint32_t>(map.l2_promotion) << kL2Bit;
}

void put_strides(TensorMapBytes& bytes, const TensorMap& map) {
  uint32_t high = 0;
  for (uint32_t index = 0; index + 1 < map.rank; ++index) {
    const uint64_t units = map.strides_bytes[index] / 16;
    put(bytes, kStridesAt + 4 * index, static_cast<uint32_t>(units));
    high |= static_cast<uint32_t>(units >> 32 & 15) << (4 * index);
  }
  put(bytes, kStridesHighAt, static_cast<uint16_t>(high));
}

std::string check_shape(const TensorMap& map) {
  if (map.rank < 1 || map.rank > kMaxTensorRank)
    return fmt::format("rank {} is not 1 to 5", map.rank);
  if (map.interleave != Interleave::none && map.rank < 3)
    return "an interleaved tensor needs at least 3 dimensions";
  const uint64_t alignment = map.interleave == Interleave::b32 ? 32 : 16;
  if (map.address % alignment != 0)
    return fmt::format("the address {:#x} is not a multiple of {}", map.address, alignment);
  for (uint32_t index = 0; index < map.rank; ++index)
    if (map.dims[index] == 0 || map.dims[index] > uint64_t{1} << 32)
      return fmt::format("dimension {} has {} elements, not 1 to 2^32", index, map.dims[index]);
  for (uint32_t index = 0; index + 1 < map.rank; ++index) {
    const uint64_t stride = map.strides_bytes[index];
    if (stride % alignment != 0 || stride >= uint64_t{1} << 40)
      return fmt::format("the stride of dimension {} is {} bytes, not a multiple of {} below 2^40",
                         index + 1, stride, alignment);
  }
  for (uint32_t index = 0; index < map.rank; ++index)
    if (map.element_strides[index] < 1 || map.element_strides[index] > 8)
      return fmt::format("the element stride of dimension {} is {}, not 1 to 8", index,
                         map.element_strides[index]);
  return {};
}

std::string check_modes(const TensorMap& map) {
  if (map.fill == OutOfBoundsFill::nan && !is_floating(map.type))
    return fmt::format("fill with NaN needs a floating-point type, not {}",
                       tensor_type_name(map.type));
  if (map.interleave == Interleave::b32 && map.swizzle != Swizzle::b32)
    return "interleave 32B needs swizzle 32B";
  return {};
}

std::string check_box(const TensorMap& map) {
  for (uint32_t index = 0; index < map.rank; ++index)
    if (map.box[index] < 1 || map.box[index] > 256)
      return fmt::format("the box has {} elements in dimension {}, not 1 to 256", map.box[index],
                         index);
  const uint32_t inner = map.box[0] * element_bytes(map.type);
  if (map.interleave == Interleave::none && inner % 16 != 0)
    return fmt::format("the box is {} bytes wide, not a multiple of 16", inner);
  const uint32_t span = swizzle_span_bytes(map.swizzle);
  if (map.interleave == Interleave::none && span != 0 && inner > span)
    return fmt::format("the box is {} bytes wide, more than the {} of its swizzle", inner, span);
  uint64_t bytes = element_bytes(map.type);
  for (uint32_t index = 0; index < map.rank; ++index) bytes *= map.box_elements(index);
  if (bytes >= uint64_t{1} << 18)
    return fmt::format("the box fills {} bytes, more than shared memory holds", bytes);
  return {};
}

std::string check_im2col(const TensorMap& map) {
  if (map.rank < 3) return "im2col needs at least 3 dimensions";
  if (map.channels_per_pixel < 1 || map.channels_per_pixel > 256)
    return fmt::format("{} channels per pixel, not 1 to 256", map.channels_per_pixel);
  if (map.pixels_per_column < 1 || map.pixels_per_column > 1024)
    return fmt::format("{} pixels per column, not 1 to 1024", map.pixels_per_column);
  const int32_t limit = 1 << (corner_bits(map.rank) - 1);
  for (uint32_t index = 0; index + 2 < map.rank; ++index)
    for (int32_t corner : {map.lower_corner[index], map.upper_corner[index]})
      if (corner < -limit || corner >= limit)
        return fmt::format("corner {} of the pixel box is not in {} to {}", corner, -limit,
                           limit - 1);
  return {};
}

std::optional<TensorType> type_of(uint32_t flags) {
  const uint32_t code = field(flags, kTypeBit, 4);
  const bool tf32 = field(flags, kTf32Bit, 1) != 0;
  for (size_t index = 0; index < std::size(kTypes); ++index)
    if (kTypes[index].code == code && kTypes[index].tf32 == tf32)
      return static_cast<TensorType>(index);
  return std::nullopt;
}

void get_shape(std::span<const uint8_t, kTensorMapBytes> bytes, TensorMap& map) {
  const uint32_t high = get<uint16_t>(bytes, kStridesHighAt);
  const uint32_t element_strides = get<uint16_t>(bytes, kElementStridesAt);
  for (uint32_t index = 0; index < map.rank; ++index) {
    map.dims[index] = uint64_t{get<uint32_t>(bytes, kDimsAt + 4 * index)} + 1;
    map.element_strides[index] = field(element_strides, 3 * index, 3) + 1;
    if (index > 0)
      map.strides_bytes[index - 1] = (uint64_t{field(high, 4 * (index - 1), 4)} << 32 |
                                      get<uint32_t>(bytes, kStridesAt + 4 * (index - 1))) *
                                     16;
  }
}

void get_box(std::span<const uint8_t, kTensorMapBytes> bytes, TensorMap& map) {
  if (!map.im2col) {
    for (uint32_t index = 0; index < map.rank; ++index) map.box[index] = bytes[kBoxAt + index] + 1u;
    return;
  }
  map.channels_per_pixel = bytes[kBoxAt] + 1u;
  map.pixels_per_column = get<uint16_t>(bytes, kPixelsAt) + 1u;
  get_corners(bytes, map);
}

}  // namespace

uint32_t element_bytes(TensorType type) { return row_of(type).bytes; }
bool is_floating(TensorType type) { return row_of(type).floating; }
std::string_view tensor_type_name(TensorType type) { return row_of(type).name; }

uint32_t swizzle_span_bytes(Swizzle swizzle) {
  return swizzle == Swizzle::none ? 0 : 16u << static_cast<uint32_t>(swizzle);
}

uint32_t TensorMap::box_elements(uint32_t index) const {
  // Without interleave the hardware takes no element stride along dimension 0.
  if (index == 0 && interleave == Interleave::none) return box[0];
  return (box[index] + element_strides[index] - 1) / element_strides[index];
}

uint32_t TensorMap::box_bytes() const {
  uint32_t bytes = element_bytes(type);
  if (im2col) return bytes * channels_per_pixel * pixels_per_column;
  for (uint32_t index = 0; index < rank; ++index) bytes *= box_elements(index);
  return bytes;
}

std::string check_tensor_map(const TensorMap& map) {
  if (std::string fault = check_shape(map); !fault.empty()) return fault;
  if (std::string fault = check_modes(map); !fault.empty()) return fault;
  return map.im2col ? check_im2col(map) : check_box(map);
}

TensorMapBytes encode_tensor_map(const TensorMap& map) {
  LW_CHECK(check_tensor_map(map).empty(), check_tensor_map(map));
  TensorMapBytes bytes{};
  put(bytes, 0, map.address);
  put(bytes, kFlagsAt, flags_of(map));
  put_strides(bytes, map);
  uint32_t element_strides = 0;
  for (uint32_t index = 0; index < map.rank; ++index) {
    put(bytes, kDimsAt + 4 * index, static_cast<uint32_t>(map.dims[index] - 1));
    element_strides |= (map.element_strides[index] - 1) << (3 * index);
    if (!map.im2col) bytes[kBoxAt + index] = static_cast<uint8_t>(map.box[index] - 1);
  }
  put(bytes, kElementStridesAt, static_cast<uint16_t>(element_strides));
  if (map.im2col) {
    bytes[kBoxAt] = static_cast<uint8_t>(map.channels_per_pixel - 1);
    put(bytes, kPixelsAt, static_cast<uint16_t>(map.pixels_per_column - 1));
    put_corners(bytes, map);
  }
  const uint32_t span = swizzle_span_bytes(map.swizzle);
  put(bytes, kBoxBytesAt, map.box_bytes());
  put(bytes, kAlignmentAt, static_cast<uint16_t>(span == 0 ? 16 : 8 * span));
  return bytes;
}

DecodedTensorMap decode_tensor_map(std::span<const uint8_t, kTensorMapBytes> bytes) {
  DecodedTensorMap decoded;
  TensorMap& map = decoded.map;
  const uint32_t flags = get<uint32_t>(bytes, kFlagsAt);
  const std::optional<TensorType> type = type_of(flags);
  const uint32_t interleave = field(flags, kInterleaveBit, 2);
  map.rank = field(flags, kRankBit, 3) + 1;
  if (!type) decoded.fault = fmt::format("element type {} is not known", field(flags, kTypeBit, 4));
  if (map.rank > kMaxTensorRank) decoded.fault = fmt::format("rank {} is not 1 to 5", map.rank);
  if (interleave > 2) decoded.fault = "interleave mode 3 is not known";
  if (!decoded.fault.empty()) return decoded;
  map.address = get<uint64_t>(bytes, 0);
  map.type = *type;
  map.im2col = field(flags, kIm2colBit, 1) != 0;
  map.interleave = static_cast<Interleave>(interleave);
  map.swizzle = static_cast<Swizzle>(field(flags, kSwizzleBit, 2));
  map.fill = static_cast<OutOfBoundsFill>(field(flags, kFillBit, 1));
  map.l2_promotion = static_cast<L2Promotion>(field(flags, kL2Bit, 2));
  get_shape(bytes, map);
  get_box(bytes, map);
  decoded.fault = check_tensor_map(map);
  return decoded;
}

}  // namespace lw::machine
