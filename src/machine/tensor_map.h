#pragma once
// The 128-byte tensor map (CUtensorMap): its fields, and the bytes that hold them.
//
// Kernels read the real bytes: a host library may have written them itself, a case may hold them
// raw, and a kernel may edit them with `tensormap.replace`. So the bytes are the truth in memory
// and this file goes both ways: `encode` writes what the driver writes for the fields, `decode`
// reads what a copy would use and ignores what it would not (bits of unknown meaning, derived
// fields, the upper half that some libraries leave unwritten). The layout was measured on an H200,
// driver 580.159; Blackwell's additions (packed 4- and 6-bit types, 128-byte swizzle with larger
// atoms, the wide im2col modes) are not in it and `decode` refuses them.

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace lw::machine {

inline constexpr uint32_t kTensorMapBytes = 128;
inline constexpr uint32_t kMaxTensorRank = 5;

enum class TensorType : uint8_t {
  u8,
  u16,
  u32,
  s32,
  u64,
  s64,
  f16,
  f32,
  f32_ftz,
  f64,
  bf16,
  tf32,
  tf32_ftz
};
enum class Interleave : uint8_t { none, b16, b32 };
enum class Swizzle : uint8_t { none, b32, b64, b128 };
enum class OutOfBoundsFill : uint8_t { zero, nan };
enum class L2Promotion : uint8_t { none, b64, b128, b256 };

uint32_t element_bytes(TensorType type);
bool is_floating(TensorType type);
std::string_view tensor_type_name(TensorType type);
uint32_t swizzle_span_bytes(Swizzle swizzle);  // 0 for none

struct TensorMap {
  uint64_t address = 0;
  TensorType type = TensorType::u8;
  uint32_t rank = 1;
  Interleave interleave = Interleave::none;
  Swizzle swizzle = Swizzle::none;
  OutOfBoundsFill fill = OutOfBoundsFill::zero;
  L2Promotion l2_promotion = L2Promotion::none;
  std::array<uint64_t, 5> dims{1, 1, 1, 1, 1};  // elements, dimension 0 innermost
  std::array<uint64_t, 4> strides_bytes{};      // of dimensions 1 to 4
  std::array<uint32_t, 5> element_strides{1, 1, 1, 1, 1};

  bool im2col = false;
  std::array<uint32_t, 5> box{1, 1, 1, 1, 1};  // tiled: elements spanned
  std::array<int32_t, 3> lower_corner{};       // im2col, dimensions 1 on
  std::array<int32_t, 3> upper_corner{};
  uint32_t channels_per_pixel = 1;
  uint32_t pixels_per_column = 1;

  // Tiled: elements of dimension `index` that land in shared memory.
  uint32_t box_elements(uint32_t index) const;
  // Bytes of shared memory that one box fills: what a full load counts on its mbarrier.
  uint32_t box_bytes() const;
  friend bool operator==(const TensorMap&, const TensorMap&) = default;
};

using TensorMapBytes = std::array<uint8_t, kTensorMapBytes>;

// What is wrong with the fields by the driver's rules, empty if nothing is.
std::string check_tensor_map(const TensorMap& map);

// The fields must have passed check_tensor_map.
TensorMapBytes encode_tensor_map(const TensorMap& map);

struct DecodedTensorMap {
  TensorMap map;
  std::string fault;  // why no copy can use it, empty if one can
};
DecodedTensorMap decode_tensor_map(std::span<const uint8_t, kTensorMapBytes> bytes);

}  // namespace lw::machine
