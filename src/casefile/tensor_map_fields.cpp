#include "casefile/tensor_map_fields.h"

#include <fmt/format.h>

#include <cstring>

#include "casefile/read_case.h"

namespace lw::casefile {
namespace {

using machine::TensorType;

TensorType tensor_type(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
      return TensorType::f16;
    case Dtype::bf16:
      return TensorType::bf16;
    case Dtype::f32:
      return TensorType::f32;
    case Dtype::f64:
      return TensorType::f64;
    case Dtype::i32:
      return TensorType::s32;
    case Dtype::i64:
      return TensorType::s64;
    default:
      break;
  }
  // Copies move bits: for the others only the width counts.
  switch (dtype_bytes(dtype)) {
    case 1:
      return TensorType::u8;
    case 2:
      return TensorType::u16;
    case 4:
      return TensorType::u32;
    default:
      return TensorType::u64;
  }
}

machine::TensorMap fields_of(const TensorMap& map, Dtype dtype, uint64_t address) {
  machine::TensorMap fields;
  fields.address = address;
  fields.type = tensor_type(dtype);
  fields.rank = static_cast<uint32_t>(map.dims.size());
  fields.interleave = static_cast<machine::Interleave>(map.interleave);
  fields.swizzle = static_cast<machine::Swizzle>(map.swizzle);
  fields.fill = static_cast<machine::OutOfBoundsFill>(map.fill);
  for (size_t i = 0; i < map.dims.size(); ++i) {
    fields.dims[i] = map.dims[i];
    fields.box[i] = static_cast<uint32_t>(map.box[i]);
    if (i > 0) fields.strides_bytes[i - 1] = map.strides[i - 1];
    if (!map.element_strides.empty()) {
      fields.element_strides[i] = static_cast<uint32_t>(map.element_strides[i]);
    }
  }
  return fields;
}

// One byte past the last element.
uint64_t extent_bytes(const TensorMap& map, uint64_t element_bytes) {
  uint64_t end = map.dims[0] * element_bytes;
  for (size_t i = 1; i < map.dims.size(); ++i) end += (map.dims[i] - 1) * map.strides[i - 1];
  return end;
}

}  // namespace

std::vector<uint8_t> read_raw_map(const TensorMap& map, diagnose::Emitter& emitter) {
  if (map.raw.empty()) return {};
  const std::optional<std::string> text = read_text(map.raw, map.place, emitter);
  if (!text) return {};
  if (text->size() != machine::kTensorMapBytes) {
    emitter.emit({map.place,
                  fmt::format("`{}` has {} bytes", map.raw, text->size()),
                  {},
                  "a tensor map has 128"});
    return {};
  }
  return {text->begin(), text->end()};
}

void check_tensor_map(const Case& parts, const TensorMap& map, diagnose::Emitter& emitter) {
  if (!map.raw.empty()) return;
  const Buffer& buffer = *parts.find_buffer(map.buffer);
  const std::string wrong = machine::check_tensor_map(fields_of(map, buffer.dtype, 0));
  if (!wrong.empty()) {
    emitter.emit({map.place,
                  fmt::format("tensor map `{}`: {}", map.name, wrong),
                  {},
                  "the driver's rules for `cuTensorMapEncodeTiled` hold here"});
    return;
  }
  const uint64_t end = extent_bytes(map, dtype_bytes(buffer.dtype));
  if (end > buffer.size_bytes()) {
    emitter.emit({map.place,
                  fmt::format("tensor map `{}` spans {} bytes, its buffer `{}` has {}", map.name,
                              end, buffer.name, buffer.size_bytes()),
                  {},
                  "check `dims` and `strides`; strides are in bytes"});
  }
}

machine::TensorMapBytes tensor_map_bytes(const TensorMap& map, const std::vector<uint8_t>& raw,
                                         Dtype dtype, uint64_t address) {
  if (raw.empty()) return machine::encode_tensor_map(fields_of(map, dtype, address));
  machine::TensorMapBytes bytes;
  std::memcpy(bytes.data(), raw.data(), bytes.size());
  std::memcpy(bytes.data(), &address, sizeof address);  // raw bytes hold another run's address
  return bytes;
}

}  // namespace lw::casefile
