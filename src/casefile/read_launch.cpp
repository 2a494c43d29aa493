// [[launch]] and its arguments.

#include <fmt/format.h>

#include <charconv>

#include "casefile/fields.h"
#include "casefile/readers.h"

namespace lw::casefile {
namespace {

std::optional<uint32_t> parse_number(std::string_view text) {
  uint32_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

void read_roles(Fields& outer, Launch& launch) {
  const std::string_view example = "roles = { producer = \"0\", math = \"4-11\" }";
  const Value* table = outer.find("roles");
  if (table == nullptr) return;
  if (table->kind != Value::Kind::table) {
    outer.emit_type("roles", *table, "a table", example);
    return;
  }
  for (size_t i = 0; i < table->keys.size(); ++i) {
    const Value& value = table->items[i];
    auto warps = parse_ranges(value.text);
    if (value.kind == Value::Kind::string && warps) {
      launch.roles.push_back({table->keys[i].name, *warps});
    } else {
      outer.emit(value.place,
                 fmt::format("the warps of role `{}` cannot be read", table->keys[i].name),
                 fmt::format("write warp numbers as in `{}`", example));
    }
  }
}

std::optional<std::vector<uint8_t>> parse_hex(std::string_view text) {
  std::vector<uint8_t> bytes;
  std::string digits;
  for (char c : text) {
    if (c == ' ' || c == '_') continue;
    digits += c;
  }
  if (digits.size() % 2 != 0) return std::nullopt;
  for (size_t i = 0; i < digits.size(); i += 2) {
    uint8_t byte = 0;
    auto [end, error] = std::from_chars(&digits[i], &digits[i] + 2, byte, 16);
    if (error != std::errc() || end != &digits[i] + 2) return std::nullopt;
    bytes.push_back(byte);
  }
  return bytes;
}

void read_bytes(const Value& value, Argument& argument, diagnose::Emitter& emitter) {
  argument.kind = Argument::Kind::bytes;
  auto bytes = value.kind == Value::Kind::string ? parse_hex(value.text) : std::nullopt;
  if (bytes && !bytes->empty()) {
    argument.bytes = std::move(*bytes);
  } else {
    emitter.emit(
        {value.place,
         "`bytes` cannot be read",
         {},
         "write hexadecimal digits, two a byte, lowest address first: `{ bytes = \"0010 ff\" }`"});
  }
}

void read_scalar(const Value& value, Dtype dtype, Argument& argument, diagnose::Emitter& emitter) {
  argument.kind = Argument::Kind::scalar;
  argument.dtype = dtype;
  const bool real = number_kind(dtype) == NumberKind::real;
  if (value.kind == Value::Kind::integer && fits(value.integer, dtype)) {
    argument.bits = encode_integer(value.integer, dtype);
  } else if (value.kind == Value::Kind::real && real) {
    argument.bits = encode(value.real, dtype);
  } else if (value.kind == Value::Kind::integer) {
    emitter.emit({value.place,
                  fmt::format("{} does not fit {}", value.integer, dtype_name(dtype)),
                  {},
                  "give a smaller number or a wider type"});
  } else {
    emitter.emit({value.place,
                  fmt::format("a value of type {} must be {}, not {}", dtype_name(dtype),
                              real ? "a number" : "an integer", value.kind_name()),
                  {},
                  fmt::format("write `{{ {} = 1 }}`", dtype_name(dtype))});
  }
}

void emit_bad_argument(const Place& place, std::string message, diagnose::Emitter& emitter) {
  emitter.emit(
      {place,
       std::move(message),
       {},
       "write the name of a buffer or tensor map in quotes, a scalar as `{ i32 = 8 }`, raw bytes "
       "as `{ bytes = \"00ff\" }`, a struct as `[{ offset = 0, i32 = 8 }, …]`"});
}

// `{ pointer = "q", plus = 256 }`
void read_pointer(Fields& fields, Argument& argument) {
  argument.kind = Argument::Kind::object;
  fields.required("pointer", argument.name, "pointer = \"q\"");
  fields.optional("plus", argument.byte_offset, "plus = 256");
  fields.finish();
}

Argument read_table(const Value& table, diagnose::Emitter& emitter) {
  Argument argument;
  argument.place = table.place;
  Fields fields(table, "an argument", emitter);
  if (table.find("pointer") != nullptr) {
    read_pointer(fields, argument);
    return argument;
  }
  if (table.keys.size() != 1) {
    emit_bad_argument(table.place, fmt::format("an argument has {} keys", table.keys.size()),
                      emitter);
    return argument;
  }
  const std::string& key = table.keys[0].name;
  if (key == "bytes") {
    read_bytes(table.items[0], argument, emitter);
  } else if (auto dtype = find_dtype(key); dtype && *dtype != Dtype::b128) {
    read_scalar(table.items[0], *dtype, argument, emitter);
  } else {
    emit_bad_argument(table.keys[0].place, fmt::format("there is no argument type `{}`", key),
                      emitter);
  }
  return argument;
}

// A member of a struct: an argument with `offset` beside its own key.
ArgumentField read_member(const Value& value, diagnose::Emitter& emitter) {
  ArgumentField field;
  if (value.kind != Value::Kind::table || value.find("offset") == nullptr) {
    emit_bad_argument(value.place, "a member of a struct needs `offset`", emitter);
    return field;
  }
  Value rest = value;
  for (size_t i = 0; i < rest.keys.size(); ++i) {
    if (rest.keys[i].name != "offset") continue;
    const Value& offset = rest.items[i];
    field.offset = static_cast<uint64_t>(offset.integer);
    if (offset.kind != Value::Kind::integer || offset.integer < 0 || offset.integer > 32768) {
      emit_bad_argument(offset.place, "`offset` must be an integer from 0 to 32768", emitter);
    }
    rest.keys.erase(rest.keys.begin() + static_cast<ptrdiff_t>(i));
    rest.items.erase(rest.items.begin() + static_cast<ptrdiff_t>(i));
    break;
  }
  field.value = read_table(rest, emitter);
  return field;
}

void read_arguments(Fields& fields, Launch& launch, diagnose::Emitter& emitter) {
  const std::string_view example = "args = [\"q\", { i32 = 512 }]";
  const Value* list = fields.find("args");
  if (list == nullptr) {
    fields.emit_missing("args", example);
  } else if (list->kind != Value::Kind::array) {
    fields.emit_type("args", *list, "a list", example);
  } else {
    launch.args_place = list->place;
    for (const Value& item : list->items) launch.args.push_back(read_argument(item, emitter));
  }
}

}  // namespace

std::optional<std::vector<std::pair<uint32_t, uint32_t>>> parse_ranges(const std::string& text) {
  std::vector<std::pair<uint32_t, uint32_t>> ranges;
  std::string_view rest = text;
  while (true) {
    const size_t comma = rest.find(',');
    const std::string_view part = trimmed(rest.substr(0, comma));
    const size_t dash = part.find('-');
    const auto first = parse_number(trimmed(part.substr(0, dash)));
    const auto last =
        dash == std::string_view::npos ? first : parse_number(trimmed(part.substr(dash + 1)));
    if (!first || !last || *first > *last) return std::nullopt;
    ranges.emplace_back(*first, *last);
    if (comma == std::string_view::npos) return ranges;
    rest.remove_prefix(comma + 1);
  }
}

Argument read_argument(const Value& value, diagnose::Emitter& emitter) {
  if (value.kind == Value::Kind::table) return read_table(value, emitter);
  Argument argument;
  argument.place = value.place;
  if (value.kind == Value::Kind::string) {
    argument.kind = Argument::Kind::object;
    argument.name = value.text;
  } else if (value.kind == Value::Kind::array) {
    argument.kind = Argument::Kind::fields;
    for (const Value& item : value.items) argument.fields.push_back(read_member(item, emitter));
  } else {
    emit_bad_argument(value.place,
                      fmt::format("{} is no argument: its width is not known", value.kind_name()),
                      emitter);
  }
  return argument;
}

Launch read_launch(const Value& table, diagnose::Emitter& emitter) {
  Fields fields(table, "[[launch]]", emitter);
  Launch launch;
  launch.place = fields.place();
  fields.required("kernel", launch.kernel, "kernel = \"name\"");
  fields.optional("module", launch.module, "module = \"gemm\"");
  fields.required("grid", launch.grid, "grid = [4, 1, 1]");
  fields.required("block", launch.block, "block = [256, 1, 1]");
  Dim3 cluster;
  if (fields.optional("cluster", cluster, "cluster = [2, 1, 1]")) launch.cluster = cluster;
  fields.optional("shared", launch.shared, "shared = 4096");
  fields.optional("registers", launch.registers, "registers = 64");
  fields.optional("stream", launch.stream, "stream = 0");
  fields.optional("programmatic", launch.programmatic, "programmatic = false");
  fields.optional("cooperative", launch.cooperative, "cooperative = true");
  launch.grid_place = fields.place("grid");
  launch.block_place = fields.place("block");
  launch.cluster_place = fields.place("cluster");
  launch.shared_place = fields.place("shared");
  launch.args_place = fields.place("args");
  read_arguments(fields, launch, emitter);
  read_roles(fields, launch);
  fields.finish();
  return launch;
}

}  // namespace lw::casefile
