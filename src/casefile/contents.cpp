#include "casefile/contents.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstring>

#include "casefile/array_file.h"
#include "casefile/generate.h"

namespace lw::casefile {
namespace {

// Elements [0, count) of `bytes` by `make(index)`, in the format of the buffer. The format is a
// constant inside the loop: large buffers are filled several times faster than by encode().
template <FloatFormat format, class Make>
void fill_floats(uint8_t* bytes, uint64_t count, Make&& make) {
  constexpr size_t kSize = (1 + format.exponent_bits + format.mantissa_bits) / 8;
  for (uint64_t i = 0; i < count; ++i) {
    const uint64_t bits = encode_float(make(i), format);
    std::memcpy(bytes + i * kSize, &bits, kSize);
  }
}

// Returns false if the dtype has no loop of its own.
template <class Make>
bool fill_floats(const Buffer& buffer, uint8_t* bytes, uint64_t count, Make&& make) {
  switch (buffer.dtype) {
    case Dtype::bf16:
      fill_floats<kBf16>(bytes, count, make);
      return true;
    case Dtype::f16:
      fill_floats<kF16>(bytes, count, make);
      return true;
    case Dtype::f32:
      fill_floats<kF32>(bytes, count, make);
      return true;
    default:
      return false;
  }
}

bool fill_fast(const Buffer& buffer, uint8_t* bytes, uint64_t count) {
  if (buffer.data == DataKind::normal)
    return fill_floats(buffer, bytes, count,
                       [&](uint64_t i) { return buffer.scale * random_normal(buffer.seed, i); });
  if (buffer.data == DataKind::uniform)
    return fill_floats(buffer, bytes, count,
                       [&](uint64_t i) { return buffer.scale * random_uniform(buffer.seed, i); });
  return false;
}

uint64_t made_up(const Buffer& buffer, uint64_t index) {
  switch (buffer.data) {
    case DataKind::normal:
      return encode(buffer.scale * random_normal(buffer.seed, index), buffer.dtype);
    case DataKind::uniform:
      return encode(buffer.scale * random_uniform(buffer.seed, index), buffer.dtype);
    case DataKind::integers:
      return encode_integer(random_integer(buffer.seed, index, buffer.low, buffer.high),
                            buffer.dtype);
    case DataKind::iota:
      return encode(buffer.value + buffer.scale * static_cast<double>(index), buffer.dtype);
    case DataKind::constant:
      return encode(buffer.value, buffer.dtype);
    case DataKind::nan:
      return nan_bits(buffer.dtype);
    case DataKind::none:
    case DataKind::file:
      break;
  }
  return 0;
}

std::optional<std::vector<uint8_t>> read_file(const Buffer& buffer, diagnose::Emitter& emitter) {
  std::optional<ArrayFile> array =
      read_array(buffer.file, buffer.file_key, buffer.file_place, emitter);
  if (!array) return std::nullopt;
  if (array->bytes.size() != buffer.size_bytes()) {
    emitter.emit({buffer.file_place,
                  fmt::format("buffer `{}` has {} bytes ({} of {}), but `{}` holds {} ({} of {})",
                              buffer.name, buffer.size_bytes(), dtype_name(buffer.dtype),
                              fmt::join(buffer.shape, "x"), buffer.file, array->bytes.size(),
                              dtype_name(array->dtype), fmt::join(array->shape, "x")),
                  {},
                  fmt::format("write `dtype = \"{}\"` and `shape = [{}]`", dtype_name(array->dtype),
                              fmt::join(array->shape, ", "))});
    return std::nullopt;
  }
  return std::move(array->bytes);
}

}  // namespace

std::optional<std::vector<uint8_t>> make_contents(const Buffer& buffer,
                                                  diagnose::Emitter& emitter) {
  if (buffer.data == DataKind::none) return std::vector<uint8_t>();
  if (buffer.data == DataKind::file) return read_file(buffer, emitter);
  const uint64_t count = buffer.element_count();
  const uint64_t tail = buffer.tail ? buffer.tail->from : count;
  std::vector<uint8_t> bytes(buffer.size_bytes());
  if (!fill_fast(buffer, bytes.data(), tail))
    for (uint64_t i = 0; i < tail; ++i)
      store_element(bytes.data(), i, buffer.dtype, made_up(buffer, i));
  const uint64_t end = buffer.tail ? encode(buffer.tail->value, buffer.dtype) : 0;
  for (uint64_t i = tail; i < count; ++i) store_element(bytes.data(), i, buffer.dtype, end);
  return bytes;
}

}  // namespace lw::casefile
