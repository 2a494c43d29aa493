#include "casefile/flags.h"

#include <fmt/format.h>

#include <charconv>

#include "casefile/fields.h"
#include "casefile/read_case.h"
#include "casefile/readers.h"

namespace lw::casefile {
namespace {

constexpr std::string_view kArgumentHint =
    "a pointer is `[name=]dtype:count[=data]`, as in `x=f32:1024=normal`; a scalar is `i32=8`";

template <class Number>
bool parse(std::string_view text, Number& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

std::vector<std::string_view> split(std::string_view text, char mark) {
  std::vector<std::string_view> parts;
  while (true) {
    const size_t at = text.find(mark);
    parts.push_back(text.substr(0, at));
    if (at == std::string_view::npos) return parts;
    text.remove_prefix(at + 1);
  }
}

// Makes one case; each flag is its own place in messages.
class Builder {
 public:
  Builder(const Flags& flags, diagnose::Emitter& emitter) : flags_(flags), emitter_(emitter) {}

  Case build(const std::string& ptx_path) {
    result_.name = ptx_path;
    result_.modules.push_back({{ptx_path, 0, 0}, {}, ptx_path});
    Launch launch;
    launch.place = {"--kernel " + flags_.kernel, 0, 0};
    launch.kernel = flags_.kernel;
    launch.grid = extents("--grid", flags_.grid, launch.grid_place, true);
    launch.block = extents("--block", flags_.block, launch.block_place, true);
    if (!flags_.cluster.empty()) {
      launch.cluster = extents("--cluster", flags_.cluster, launch.cluster_place, false);
    }
    launch.cooperative = flags_.cooperative;
    launch.shared = flags_.shared;
    launch.shared_place = {fmt::format("--shared {}", flags_.shared), 0, 0};
    launch.registers = flags_.registers;
    launch.open_arguments = true;
    launch.args_place = {"--arg", 0, 0};
    for (const std::string& text : flags_.arguments) launch.args.push_back(argument(text));
    result_.launches.push_back(std::move(launch));
    for (const std::string& name : flags_.outputs) {
      result_.check.outputs.push_back({{"--out " + name, 0, 0}, name});
    }
    check_names(result_, emitter_);
    return std::move(result_);
  }

 private:
  void emit(std::string place, std::string message, std::string hint) {
    emitter_.emit({{std::move(place), 0, 0}, std::move(message), {}, std::move(hint)});
  }

  Dim3 extents(std::string_view flag, const std::string& text, Place& place, bool required) {
    place = {fmt::format("{} {}", flag, text), 0, 0};
    Dim3 result;
    if (text.empty()) {
      if (required) {
        emit("the command line", fmt::format("`{}` is missing", flag),
             fmt::format("add `{} 1`", flag));
      }
      return result;
    }
    const std::vector<std::string_view> parts = split(text, ',');
    uint64_t* into[] = {&result.x, &result.y, &result.z};
    bool good = parts.size() <= 3;
    for (size_t i = 0; good && i < parts.size(); ++i) good = parse(parts[i], *into[i]);
    if (!good) {
      emit(place.file, fmt::format("`{}` is no extent", text),
           fmt::format("write `{} 4` or `{} 4,2,1`", flag, flag));
    }
    return result;
  }

  Argument argument(const std::string& text) {
    Argument result;
    result.place = {"--arg " + text, 0, 0};
    const std::vector<std::string_view> parts = split(text, '=');
    if (text.find(':') == std::string::npos && parts.size() == 2) {
      scalar(parts, result);
    } else {
      pointer(parts, result);
    }
    return result;
  }

  void scalar(const std::vector<std::string_view>& parts, Argument& result) {
    const auto dtype = find_dtype(parts[0]);
    int64_t integer = 0;
    double real = 0;
    if (!dtype || *dtype == Dtype::b128) {
      emit(result.place.file, fmt::format("there is no scalar type `{}`", parts[0]),
           std::string(kArgumentHint));
      return;
    }
    result.kind = Argument::Kind::scalar;
    result.dtype = *dtype;
    if (parse(parts[1], integer) && fits(integer, *dtype)) {
      result.bits = encode_integer(integer, *dtype);
    } else if (number_kind(*dtype) == NumberKind::real && parse(parts[1], real)) {
      result.bits = encode(real, *dtype);
    } else {
      emit(result.place.file, fmt::format("`{}` is no {}", parts[1], parts[0]),
           std::string(kArgumentHint));
    }
  }

  // [name=]dtype:count[=data]
  void pointer(std::vector<std::string_view> parts, Argument& result) {
    Buffer buffer;
    buffer.place = result.place;
    buffer.seed = flags_.seed + result_.buffers.size();
    buffer.name = fmt::format("arg{}", argument_number_++);
    if (parts[0].find(':') == std::string_view::npos) {
      buffer.name = parts[0];
      parts.erase(parts.begin());
    }
    if (parts.empty() || parts.size() > 2 || !typed_shape(parts[0], buffer) ||
        (parts.size() == 2 && !data(parts[1], buffer))) {
      emit(result.place.file, "this argument cannot be read", std::string(kArgumentHint));
      return;
    }
    result.kind = Argument::Kind::object;
    result.name = buffer.name;
    result_.buffers.push_back(std::move(buffer));
  }

  static bool typed_shape(std::string_view text, Buffer& buffer) {
    const size_t colon = text.find(':');
    if (colon == std::string_view::npos) return false;
    const auto dtype = find_dtype(text.substr(0, colon));
    uint64_t elements = 1;
    for (std::string_view part : split(text.substr(colon + 1), 'x')) {
      uint64_t extent = 0;
      if (!parse(part, extent) || extent == 0 || extent > (uint64_t{1} << 36) / elements)
        return false;
      elements *= extent;
      buffer.shape.push_back(extent);
    }
    if (dtype) buffer.dtype = *dtype;
    return dtype.has_value();
  }

  static bool data(std::string_view text, Buffer& buffer) {
    const std::string word(text);
    if (auto kind = find_data_kind(word)) {
      buffer.data = *kind;
    } else if (parse(text, buffer.value)) {
      buffer.data = DataKind::constant;
    } else {
      const size_t mark = word.rfind('#');
      buffer.data = DataKind::file;
      buffer.file_place = buffer.place;
      buffer.file = word.substr(0, mark);
      if (mark != std::string::npos) buffer.file_key = word.substr(mark + 1);
      return buffer.file.ends_with(".npy") || buffer.file.ends_with(".safetensors");
    }
    return true;
  }

  const Flags& flags_;
  diagnose::Emitter& emitter_;
  Case result_;
  size_t argument_number_ = 0;
};

}  // namespace

std::optional<Case> case_from_flags(const std::string& ptx_path, const Flags& flags,
                                    diagnose::Emitter& emitter) {
  Case result = Builder(flags, emitter).build(ptx_path);
  if (!emitter.empty()) return std::nullopt;
  return result;
}

}  // namespace lw::casefile
