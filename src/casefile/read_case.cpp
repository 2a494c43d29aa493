#include "casefile/read_case.h"

#include <fmt/format.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "casefile/fields.h"
#include "casefile/readers.h"

namespace lw::casefile {
namespace {

constexpr std::string_view kHeaderMark = "//!";

bool is_ptx(const std::string& path) { return path.ends_with(".ptx"); }

// The TOML in the `//!` lines at the top of a PTX file, every character at its own line and column
// so that places in messages are right. Empty if there is none.
std::string header_of(const std::string& text) {
  std::istringstream lines(text);
  std::string header;
  bool any = false;
  for (std::string line; std::getline(lines, line);) {
    const bool marked = line.starts_with(kHeaderMark);
    if (!marked && !line.starts_with("//") && !line.empty()) break;
    if (marked) header += std::string(kHeaderMark.size(), ' ') + line.substr(kHeaderMark.size());
    any |= marked;
    header += '\n';
  }
  return any ? header : std::string();
}

ModuleSource read_module(const Value& table, const std::string& case_path,
                         diagnose::Emitter& emitter) {
  Fields fields(table, "[[module]]", emitter);
  ModuleSource module;
  fields.required("name", module.name, "name = \"gemm\"");
  fields.required("ptx", module.path, "ptx = \"gemm.ptx\"");
  module.place = fields.place("ptx");
  module.path = beside(case_path, module.path);
  fields.finish();
  return module;
}

// Calls `read` for each table of the array `key`; anything else under that name is a mistake.
template <class Read>
void read_each(Fields& fields, std::string_view key, Read read) {
  const Value* list = fields.find(key);
  if (list == nullptr) return;
  const std::string example = fmt::format("[[{}]]", key);
  if (list->kind != Value::Kind::array) {
    fields.emit_type(key, *list, "a list of tables", example);
    return;
  }
  for (const Value& item : list->items) {
    if (item.kind == Value::Kind::table) {
      read(item);
    } else {
      fields.emit_type(key, item, "a table", example);
    }
  }
}

void read_modules(Fields& fields, const std::string& path, bool inside_ptx, Case& result,
                  diagnose::Emitter& emitter) {
  std::string ptx;
  if (inside_ptx) {
    result.modules.push_back({{path, 0, 0}, {}, path});
  } else if (fields.optional("ptx", ptx, "ptx = \"kernel.ptx\"")) {
    result.modules.push_back({fields.place("ptx"), {}, beside(path, ptx)});
  }
  read_each(fields, "module",
            [&](const Value& item) { result.modules.push_back(read_module(item, path, emitter)); });
  if (result.modules.empty() && fields.find("ptx") == nullptr) {
    fields.emit_missing("ptx", "ptx = \"kernel.ptx\"");
  }
}

Case read_tables(const Value& document, const std::string& path, bool inside_ptx,
                 diagnose::Emitter& emitter) {
  Case result;
  result.name = path;
  Fields fields(document, "the case", emitter);
  read_modules(fields, path, inside_ptx, result, emitter);
  if (fields.optional("source_root", result.source_root, "source_root = \"..\"")) {
    result.source_root = beside(path, result.source_root);
  }
  read_each(fields, "buffer",
            [&](const Value& item) { result.buffers.push_back(read_buffer(item, path, emitter)); });
  read_each(fields, "tensor_map", [&](const Value& item) {
    result.tensor_maps.push_back(read_tensor_map(item, path, emitter));
  });
  read_each(fields, "launch",
            [&](const Value& item) { result.launches.push_back(read_launch(item, emitter)); });
  if (fields.find("launch") == nullptr) {
    fields.emit({path, 1, 1}, "the case launches nothing",
                "add `[[launch]]` with `kernel`, `grid`, `block` and `args`");
  }
  if (const Value* check = fields.find("check")) {
    if (check->kind == Value::Kind::table) {
      result.check = read_check(*check, path, emitter);
    } else {
      fields.emit_type("check", *check, "a table", "[check]");
    }
  }
  fields.finish();
  return result;
}

}  // namespace

std::string beside(const std::string& file, const std::string& name) {
  return (std::filesystem::path(file).parent_path() / name).lexically_normal().string();
}

std::optional<std::string> read_text(const std::string& path, const Place& place,
                                     diagnose::Emitter& emitter) {
  std::error_code error;
  if (std::filesystem::is_directory(path, error)) {
    emitter.emit({place, fmt::format("`{}` is a folder", path), {}, "name a file in it"});
    return std::nullopt;
  }
  errno = 0;
  std::ifstream stream(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(stream)), {});
  if (!stream.is_open() || stream.bad()) {
    emitter.emit(
        {place,
         fmt::format("cannot read `{}`: {}", path, std::strerror(errno)),
         {},
         "give the name of a file that is there; names in a case are relative to the case"});
    return std::nullopt;
  }
  return text;
}

std::optional<Case> read_case(const std::string& path, diagnose::Emitter& emitter) {
  std::optional<std::string> text = read_text(path, {path, 0, 0}, emitter);
  if (!text) return std::nullopt;
  const bool inside_ptx = is_ptx(path);
  if (inside_ptx) text = header_of(*text);
  if (inside_ptx && text->empty()) {
    emitter.emit(
        {{path, 1, 1},
         "this PTX has no `//! ` lines at its top that say how to launch it",
         {},
         "describe the launch by flags: `--kernel NAME --grid 1 --block 128 --arg x=f32:1024`"});
    return std::nullopt;
  }
  std::optional<Value> document = parse_toml(*text, path, emitter);
  if (!document) return std::nullopt;
  Case result = read_tables(*document, path, inside_ptx, emitter);
  if (emitter.empty()) check_names(result, emitter);
  if (!emitter.empty()) return std::nullopt;
  return result;
}

}  // namespace lw::casefile
