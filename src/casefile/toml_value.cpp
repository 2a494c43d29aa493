#include "casefile/toml_value.h"

#include <algorithm>
#include <sstream>
#include <tuple>

#define TOML_HEADER_ONLY 1
#define TOML_ENABLE_FORMATTERS 0
#include <toml++/toml.h>

namespace lw::casefile {
namespace {

using diagnose::Place;

Place place_of(const toml::source_region& source, const std::string& file) {
  return {file, source.begin.line, source.begin.column};
}

Value convert(const toml::node& node, const std::string& file);

void convert_table(const toml::table& table, const std::string& file, Value& value) {
  std::vector<std::pair<Key, const toml::node*>> members;
  for (auto&& [key, node] : table) {
    members.push_back({{std::string(key.str()), place_of(key.source(), file)}, &node});
  }
  std::ranges::stable_sort(members, {}, [](const auto& member) {
    return std::tuple(member.first.place.line, member.first.place.column);
  });
  for (auto& [key, node] : members) {
    value.keys.push_back(std::move(key));
    value.items.push_back(convert(*node, file));
  }
}

Value convert(const toml::node& node, const std::string& file) {
  Value value;
  value.place = place_of(node.source(), file);
  if (const toml::table* table = node.as_table()) {
    convert_table(*table, file, value);
  } else if (const toml::array* array = node.as_array()) {
    value.kind = Value::Kind::array;
    for (const toml::node& item : *array) value.items.push_back(convert(item, file));
  } else if (auto text = node.value_exact<std::string>()) {
    value.kind = Value::Kind::string;
    value.text = *text;
  } else if (auto integer = node.value_exact<int64_t>()) {
    value.kind = Value::Kind::integer;
    value.integer = *integer;
    value.real = static_cast<double>(*integer);
  } else if (auto real = node.value_exact<double>()) {
    value.kind = Value::Kind::real;
    value.real = *real;
  } else if (auto boolean = node.value_exact<bool>()) {
    value.kind = Value::Kind::boolean;
    value.boolean = *boolean;
  } else {
    value.kind = Value::Kind::date;
  }
  return value;
}

// The library's own words, made to fit ours: lower case, no full stop.
std::string reworded(std::string_view description) {
  std::string text(description);
  if (!text.empty()) text[0] = static_cast<char>(std::tolower(static_cast<unsigned char>(text[0])));
  while (!text.empty() && text.back() == '.') text.pop_back();
  return text;
}

std::string line_of(const std::string& text, uint32_t number) {
  std::istringstream lines(text);
  std::string line;
  for (uint32_t i = 0; i < number; ++i) std::getline(lines, line);
  return line.substr(std::min(line.size(), line.find_first_not_of(" \t")));
}

}  // namespace

const Value* Value::find(std::string_view key) const {
  for (size_t i = 0; i < keys.size(); ++i) {
    if (keys[i].name == key) return &items[i];
  }
  return nullptr;
}

std::string_view Value::kind_name() const {
  switch (kind) {
    case Kind::table:
      return "a table";
    case Kind::array:
      return "an array";
    case Kind::string:
      return "a string";
    case Kind::integer:
      return "an integer";
    case Kind::real:
      return "a real number";
    case Kind::boolean:
      return "a truth value";
    case Kind::date:
      return "a date";
  }
  return "a value";
}

std::optional<Value> parse_toml(const std::string& text, const std::string& file,
                                diagnose::Emitter& emitter) {
  try {
    return convert(toml::parse(text, file), file);
  } catch (const toml::parse_error& error) {
    Place place = place_of(error.source(), file);
    std::string excerpt = line_of(text, place.line);
    emitter.emit({place, "not valid TOML: " + reworded(error.description()), excerpt,
                  "a line is `key = value`, text goes in quotes, `[[launch]]` opens a launch"});
    return std::nullopt;
  }
}

}  // namespace lw::casefile
