// [check], and whether the parts of a case name each other rightly.

#include <fmt/format.h>

#include <set>

#include "casefile/fields.h"
#include "casefile/read_case.h"
#include "casefile/readers.h"
#include "diagnose/words.h"

namespace lw::casefile {
namespace {

void read_outputs(Fields& fields, Check& check) {
  const std::string_view example = "outputs = [\"out\"]";
  const Value* list = fields.find("outputs");
  if (list == nullptr) return;
  if (list->kind != Value::Kind::array) {
    fields.emit_type("outputs", *list, "a list of names", example);
    return;
  }
  for (const Value& item : list->items) {
    if (item.kind == Value::Kind::string) {
      check.outputs.push_back({item.place, item.text});
    } else {
      fields.emit_type("outputs", item, "a name in quotes", example);
    }
  }
}

std::vector<std::string> buffer_names(const Case& parts) {
  std::vector<std::string> names;
  for (const Buffer& buffer : parts.buffers) names.push_back(buffer.name);
  return names;
}

// Whether the parts of a case name each other rightly.
class NameCheck {
 public:
  NameCheck(const Case& parts, diagnose::Emitter& emitter) : parts_(parts), emitter_(emitter) {}

  void run() {
    check_unique();
    for (const TensorMap& map : parts_.tensor_maps) {
      if (!map.buffer.empty())
        want_buffer(map.place, fmt::format("tensor map `{}`", map.name), map.buffer);
    }
    for (const Launch& launch : parts_.launches) {
      check_module_name(launch);
      for (const Argument& argument : launch.args) check_argument(argument);
    }
    for (const Output& output : parts_.check.outputs) {
      want_buffer(output.place, "`outputs`", output.buffer);
    }
  }

 private:
  void check_unique() {
    std::set<std::string> seen;
    auto note = [&](const std::string& name, const Place& place) {
      if (name.empty() || seen.insert(name).second) return;
      emitter_.emit(
          {place, fmt::format("the name `{}` is used twice", name), {}, "give it another name"});
    };
    for (const Buffer& buffer : parts_.buffers) note(buffer.name, buffer.place);
    for (const TensorMap& map : parts_.tensor_maps) note(map.name, map.place);
    seen.clear();
    for (const ModuleSource& module : parts_.modules) note(module.name, module.place);
  }

  // A name that no buffer has is complained about where it stands first.
  void want_buffer(const Place& place, std::string_view what, const std::string& name) {
    if (parts_.find_buffer(name) != nullptr || !unknown_.insert(name).second) return;
    const std::string meant = diagnose::nearest(name, buffer_names(parts_));
    emitter_.emit(
        {place,
         fmt::format("{} names `{}`, and no [[buffer]] has that name", what, name),
         {},
         meant.empty()
             ? fmt::format("add `[[buffer]]` with `name = \"{}\"`, `dtype` and `shape`", name)
             : "write `" + meant + "`"});
  }

  void check_argument(const Argument& argument) {
    for (const ArgumentField& field : argument.fields) check_argument(field.value);
    if (argument.kind != Argument::Kind::object) return;
    const Buffer* buffer = parts_.find_buffer(argument.name);
    if (buffer == nullptr) {
      if (parts_.find_tensor_map(argument.name) == nullptr)
        want_buffer(argument.place, "an argument", argument.name);
    } else if (argument.byte_offset > buffer->size_bytes()) {
      emitter_.emit({argument.place,
                     fmt::format("the pointer stands {} bytes into `{}`, which has {}",
                                 argument.byte_offset, argument.name, buffer->size_bytes()),
                     {},
                     "give a smaller `plus`"});
    }
  }

  void check_module_name(const Launch& launch) {
    if (launch.module.empty()) return;
    std::vector<std::string> names;
    for (const ModuleSource& module : parts_.modules) {
      if (module.name == launch.module) return;
      if (!module.name.empty()) names.push_back(module.name);
    }
    emitter_.emit({launch.place,
                   fmt::format("no [[module]] is called `{}`", launch.module),
                   {},
                   names.empty() ? "add `[[module]]` with `name` and `ptx`"
                                 : "write " + diagnose::list_words(names)});
  }

  const Case& parts_;
  diagnose::Emitter& emitter_;
  std::set<std::string> unknown_;
};

}  // namespace

Check read_check(const Value& table, const std::string& case_path, diagnose::Emitter& emitter) {
  Fields fields(table, "[check]", emitter);
  Check check;
  read_outputs(fields, check);
  fields.optional("expect", check.expect, "expect = \"clean, all schedules\"");
  if (fields.optional("reference", check.reference, "reference = \"expected.safetensors\"")) {
    check.reference = beside(case_path, check.reference);
    check.reference_place = fields.place("reference");
  }
  fields.optional("rmse_ratio", check.rmse_ratio, "rmse_ratio = 5e-3");
  fields.optional("max_abs", check.max_abs, "max_abs = 1e-6");
  fields.optional("cosine", check.cosine, "cosine = 0.999");
  fields.finish();
  return check;
}

void check_names(const Case& parts, diagnose::Emitter& emitter) { NameCheck(parts, emitter).run(); }

}  // namespace lw::casefile
