#include "casefile/array_file.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cstring>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "casefile/fields.h"
#include "casefile/read_case.h"
#include "diagnose/words.h"

namespace lw::casefile {
namespace {

using diagnose::Emitter;
using diagnose::Place;

template <size_t size>
using TypeNames = std::array<std::pair<std::string_view, Dtype>, size>;

constexpr TypeNames<12> kNpyTypes{{
    {"|i1", Dtype::i8},
    {"<i2", Dtype::i16},
    {"<i4", Dtype::i32},
    {"<i8", Dtype::i64},
    {"|u1", Dtype::u8},
    {"<u2", Dtype::u16},
    {"<u4", Dtype::u32},
    {"<u8", Dtype::u64},
    {"<f2", Dtype::f16},
    {"<f4", Dtype::f32},
    {"<f8", Dtype::f64},
    {"|b1", Dtype::u8},
}};

constexpr TypeNames<15> kSafetensorsTypes{{
    {"I8", Dtype::i8},
    {"I16", Dtype::i16},
    {"I32", Dtype::i32},
    {"I64", Dtype::i64},
    {"U8", Dtype::u8},
    {"U16", Dtype::u16},
    {"U32", Dtype::u32},
    {"U64", Dtype::u64},
    {"F16", Dtype::f16},
    {"BF16", Dtype::bf16},
    {"F32", Dtype::f32},
    {"F64", Dtype::f64},
    {"F8_E4M3", Dtype::e4m3},
    {"F8_E5M2", Dtype::e5m2},
    {"BOOL", Dtype::u8},
}};

template <size_t size>
std::optional<Dtype> look_up(const TypeNames<size>& names, std::string_view text) {
  for (auto [name, dtype] : names) {
    if (name == text) return dtype;
  }
  return std::nullopt;
}

// What follows `'key': ` in the header of a .npy file, a Python dictionary written by one program
// in one way.
std::string_view npy_field(std::string_view header, std::string_view key) {
  const size_t at = header.find(fmt::format("'{}': ", key));
  return at == std::string_view::npos ? std::string_view() : header.substr(at + key.size() + 4);
}

std::optional<std::vector<uint64_t>> npy_shape(std::string_view text) {
  std::vector<uint64_t> shape;
  if (!text.starts_with('(')) return std::nullopt;
  const char* at = text.data() + 1;
  const char* const end = text.data() + text.size();
  while (at != end && *at != ')') {
    uint64_t extent = 0;
    auto [next, error] = std::from_chars(at, end, extent);
    if (error != std::errc()) return std::nullopt;
    shape.push_back(extent);
    at = next;
    while (at != end && (*at == ',' || *at == ' ')) ++at;
  }
  return shape;
}

// The header text of a .npy file and where the data starts; empty if it is none.
std::pair<std::string_view, size_t> npy_header(std::string_view text) {
  if (text.size() < 12 || text.substr(0, 6) != "\x93NUMPY") return {};
  const auto byte = [&](size_t i) {
    return static_cast<size_t>(static_cast<unsigned char>(text[i]));
  };
  const bool short_length = byte(6) == 1;
  const size_t length =
      byte(8) | byte(9) << 8 | (short_length ? 0 : byte(10) << 16 | byte(11) << 24);
  const size_t start = short_length ? 10 : 12;
  if (start + length > text.size()) return {};
  return {text.substr(start, length), start + length};
}

std::optional<ArrayFile> parse_npy(std::string_view text, const std::string& path,
                                   const Place& place, Emitter& emitter) {
  const auto [header, data_start] = npy_header(text);
  const std::string_view descr = npy_field(header, "descr");
  const auto dtype = descr.size() > 4 ? look_up(kNpyTypes, descr.substr(1, 3)) : std::nullopt;
  const auto shape = npy_shape(npy_field(header, "shape"));
  if (header.empty() || !shape) {
    emitter.emit(
        {place, fmt::format("`{}` is not a .npy file", path), {}, "save it by `numpy.save`"});
    return std::nullopt;
  }
  if (!dtype || !npy_field(header, "fortran_order").starts_with("False")) {
    emitter.emit({place, fmt::format("`{}` holds an array of a kind that is not read", path),
                  std::string(header.substr(0, header.find('\n'))),
                  "save it in C order, as little-endian integers or floats of 1 to 8 bytes"});
    return std::nullopt;
  }
  text.remove_prefix(data_start);
  return ArrayFile{*dtype, *shape, std::vector<uint8_t>(text.begin(), text.end())};
}

void emit_not_safetensors(const std::string& path, const Place& place, Emitter& emitter) {
  emitter.emit({place,
                fmt::format("`{}` is not a .safetensors file", path),
                {},
                "save it by `safetensors.numpy.save_file`"});
}

std::optional<ArrayFile> pick_tensor(const nlohmann::json& header, std::string_view data,
                                     const std::string& path, const std::string& key,
                                     const Place& place, Emitter& emitter) {
  std::vector<std::string> names;
  for (const auto& [name, entry] : header.items()) {
    if (name != "__metadata__") names.push_back(name);
  }
  const std::string wanted = key.empty() && names.size() == 1 ? names[0] : key;
  if (!header.contains(wanted)) {
    emitter.emit({place,
                  wanted.empty() ? fmt::format("`{}` holds several tensors", path)
                                 : fmt::format("`{}` holds no tensor `{}`", path, wanted),
                  {},
                  "write `file#name` with " + diagnose::list_words(names)});
    return std::nullopt;
  }
  const nlohmann::json& entry = header.at(wanted);
  const auto dtype = look_up(kSafetensorsTypes, entry.at("dtype").get<std::string>());
  const auto offsets = entry.at("data_offsets").get<std::vector<size_t>>();
  if (!dtype || offsets.size() != 2 || offsets[0] > offsets[1] || offsets[1] > data.size()) {
    emitter.emit(
        {place, fmt::format("tensor `{}` of `{}` is cut short or of an unknown type", wanted, path),
         entry.dump(), "save it again"});
    return std::nullopt;
  }
  data = data.substr(offsets[0], offsets[1] - offsets[0]);
  return ArrayFile{*dtype, entry.at("shape").get<std::vector<uint64_t>>(),
                   std::vector<uint8_t>(data.begin(), data.end())};
}

std::optional<ArrayFile> parse_safetensors(std::string_view text, const std::string& path,
                                           const std::string& key, const Place& place,
                                           Emitter& emitter) {
  uint64_t length = 0;
  if (text.size() >= 8) std::memcpy(&length, text.data(), 8);
  if (length == 0 || length > text.size() - 8) {
    emit_not_safetensors(path, place, emitter);
    return std::nullopt;
  }
  try {
    const auto header = nlohmann::json::parse(text.substr(8, length));
    return pick_tensor(header, text.substr(8 + length), path, key, place, emitter);
  } catch (const nlohmann::json::exception&) {
    emit_not_safetensors(path, place, emitter);
    return std::nullopt;
  }
}

}  // namespace

std::optional<ArrayFile> read_array(const std::string& path, const std::string& key,
                                    const Place& place, Emitter& emitter) {
  const std::optional<std::string> text = read_text(path, place, emitter);
  if (!text) return std::nullopt;
  if (path.ends_with(".npy")) return parse_npy(*text, path, place, emitter);
  if (path.ends_with(".safetensors")) return parse_safetensors(*text, path, key, place, emitter);
  emitter.emit({place,
                fmt::format("`{}` is of no known kind", path),
                {},
                "name a .npy or a .safetensors file"});
  return std::nullopt;
}

}  // namespace lw::casefile
