#pragma once
// A TOML document as a plain tree in which every key and value knows its place, so that the readers
// can point at what is wrong. The TOML library is seen by toml_value.cpp alone.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnostic.h"

namespace lw::casefile {

struct Key {
  std::string name;
  diagnose::Place place;
};

struct Value {
  enum class Kind : uint8_t { table, array, string, integer, real, boolean, date };
  Kind kind = Kind::table;
  diagnose::Place place;
  std::string text;     // of a string
  int64_t integer = 0;  // of an integer
  double real = 0;      // of an integer or a real
  bool boolean = false;
  std::vector<Key> keys;     // of a table, in the order of the text; parallel to `items`
  std::vector<Value> items;  // of a table or an array

  const Value* find(std::string_view key) const;
  std::string_view kind_name() const;  // "a string", "an integer", ...
};

// Parses `text`, which came from `file`; a syntax error is one diagnostic.
std::optional<Value> parse_toml(const std::string& text, const std::string& file,
                                diagnose::Emitter& emitter);

}  // namespace lw::casefile
