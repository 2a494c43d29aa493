// [[buffer]] and [[tensor_map]].

#include <fmt/format.h>

#include <array>

#include "casefile/fields.h"
#include "casefile/read_case.h"
#include "casefile/readers.h"
#include "diagnose/words.h"

namespace lw::casefile {
namespace {

constexpr uint64_t kMostBufferBytes = uint64_t{1} << 40;

constexpr std::array<std::pair<std::string_view, DataKind>, 6> kDataKinds{{
    {"normal", DataKind::normal},
    {"uniform", DataKind::uniform},
    {"integers", DataKind::integers},
    {"iota", DataKind::iota},
    {"constant", DataKind::constant},
    {"nan", DataKind::nan},
}};

void read_dtype(Fields& fields, Buffer& buffer) {
  std::string name;
  if (!fields.required("dtype", name, "dtype = \"f32\"")) return;
  if (std::optional<Dtype> dtype = find_dtype(name)) {
    buffer.dtype = *dtype;
  } else {
    fields.emit(fields.place("dtype"), fmt::format("there is no element type `{}`", name),
                "write " + diagnose::list_words(dtype_names()));
  }
}

void read_shape(Fields& fields, Buffer& buffer) {
  if (!fields.required("shape", buffer.shape, "shape = [4, 128]")) return;
  unsigned __int128 bytes = dtype_bytes(buffer.dtype);
  for (uint64_t extent : buffer.shape) {
    bytes *= extent;
    if (bytes > kMostBufferBytes) break;
  }
  if (bytes == 0) {
    fields.emit(fields.place("shape"), fmt::format("buffer `{}` has no elements", buffer.name),
                "give each dimension at least 1");
  } else if (bytes > kMostBufferBytes) {
    fields.emit(
        fields.place("shape"),
        fmt::format("buffer `{}` is larger than {} GiB", buffer.name, kMostBufferBytes >> 30),
        "give a smaller shape");
  }
}

void read_file(Fields& fields, const std::string& case_path, Buffer& buffer) {
  std::string file;
  if (!fields.optional("file", file, "file = \"q.npy\"")) return;
  if (buffer.data != DataKind::none) {
    fields.emit(fields.place("file"),
                fmt::format("buffer `{}` has both `data` and `file`", buffer.name),
                "keep one of them");
  }
  buffer.data = DataKind::file;
  buffer.file_place = fields.place("file");
  const size_t mark = file.rfind('#');
  if (mark != std::string::npos) buffer.file_key = file.substr(mark + 1);
  buffer.file = beside(case_path, file.substr(0, mark));
}

void read_data(Fields& fields, Buffer& buffer) {
  std::string word;
  if (!fields.optional("data", word, "data = \"normal\"")) return;
  if (std::optional<DataKind> kind = find_data_kind(word)) {
    buffer.data = *kind;
  } else {
    fields.emit(fields.place("data"), fmt::format("there is no data called `{}`", word),
                "write `normal`, `uniform`, `integers`, `iota`, `constant` or `nan`, or `file = "
                "\"q.npy\"`");
  }
}

void read_tail(Fields& outer, Buffer& buffer, diagnose::Emitter& emitter) {
  const std::string_view example = "tail = { from = 300, value = 0 }";
  const Value* table = outer.find("tail");
  if (table == nullptr) return;
  if (table->kind != Value::Kind::table) {
    outer.emit_type("tail", *table, "a table", example);
    return;
  }
  Fields fields(*table, "`tail`", emitter);
  Tail tail;
  fields.required("from", tail.from, "from = 300");
  fields.required("value", tail.value, "value = 0");
  fields.finish();
  if (tail.from > buffer.element_count()) {
    fields.emit(fields.place("from"),
                fmt::format("the tail of `{}` starts at element {}, but it has {}", buffer.name,
                            tail.from, buffer.element_count()),
                "`from` counts elements of the whole buffer, from 0");
  }
  buffer.tail = tail;
}

void check_integers(Fields& fields, const Buffer& buffer) {
  if (buffer.low > buffer.high) {
    fields.emit(fields.place("low"),
                fmt::format("`low` {} is above `high` {}", buffer.low, buffer.high), "swap them");
  }
}

void check_map_shape(Fields& fields, const TensorMap& map) {
  const size_t rank = map.dims.size();
  if (rank < 1 || rank > 5) {
    fields.emit(fields.place("dims"),
                fmt::format("tensor map `{}` has {} dimensions", map.name, rank),
                "give one to five sizes, the contiguous dimension first");
    return;
  }
  auto want = [&](std::string_view key, size_t count, size_t wanted, std::string_view what) {
    if (count == wanted) return;
    fields.emit(fields.place(key),
                fmt::format("`{}` has {} entries, but a map of {} dimensions needs {}", key, count,
                            rank, wanted),
                std::string(what));
  };
  want("strides", map.strides.size(), rank - 1,
       "give bytes from dimension 1 on; dimension 0 has none");
  want("box", map.box.size(), rank, "give the box in elements, dimension 0 first");
  if (!map.element_strides.empty()) {
    want("element_strides", map.element_strides.size(), rank, "give one for each dimension");
  }
}

}  // namespace

std::optional<DataKind> find_data_kind(const std::string& word) {
  for (auto [name, kind] : kDataKinds) {
    if (name == word) return kind;
  }
  return std::nullopt;
}

Buffer read_buffer(const Value& table, const std::string& case_path, diagnose::Emitter& emitter) {
  Fields fields(table, "[[buffer]]", emitter);
  Buffer buffer;
  buffer.place = fields.place();
  fields.required("name", buffer.name, "name = \"q\"");
  read_dtype(fields, buffer);
  read_shape(fields, buffer);
  read_data(fields, buffer);
  read_file(fields, case_path, buffer);
  fields.optional("scale", buffer.scale, "scale = 0.5");
  fields.optional("value", buffer.value, "value = 0");
  fields.optional("low", buffer.low, "low = -8");
  fields.optional("high", buffer.high, "high = 8");
  fields.optional("seed", buffer.seed, "seed = 1");
  check_integers(fields, buffer);
  read_tail(fields, buffer, emitter);
  fields.finish();
  return buffer;
}

TensorMap read_tensor_map(const Value& table, const std::string& case_path,
                          diagnose::Emitter& emitter) {
  Fields fields(table, "[[tensor_map]]", emitter);
  TensorMap map;
  map.place = fields.place();
  fields.required("name", map.name, "name = \"q_map\"");
  fields.required("buffer", map.buffer, "buffer = \"q\"");
  if (fields.optional("raw", map.raw, "raw = \"map.bin\"")) map.raw = beside(case_path, map.raw);
  size_t choice = 0;
  const bool described = map.raw.empty();
  if (described) fields.required("dims", map.dims, "dims = [128, 512]");
  if (described) fields.required("box", map.box, "box = [64, 64]");
  fields.optional("strides", map.strides, "strides = [256]");
  fields.optional("element_strides", map.element_strides, "element_strides = [1, 1]");
  if (fields.choice("swizzle", choice, {"none", "32B", "64B", "128B"})) {
    map.swizzle = static_cast<Swizzle>(choice);
  }
  if (fields.choice("interleave", choice, {"none", "16B", "32B"})) {
    map.interleave = static_cast<Interleave>(choice);
  }
  if (fields.choice("fill", choice, {"none", "zero", "nan"})) {
    map.fill = choice == 2 ? OutOfBoundsFill::nan : OutOfBoundsFill::zero;
  }
  if (described && fields.find("dims") != nullptr && fields.find("box") != nullptr) {
    check_map_shape(fields, map);
  }
  fields.finish();
  return map;
}

}  // namespace lw::casefile
