#include "casefile/fields.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <limits>

#include "diagnose/words.h"

namespace lw::casefile {
const Value* Fields::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  return table_.find(key);
}

const diagnose::Place& Fields::place(std::string_view key) const {
  const Value* value = table_.find(key);
  return value != nullptr ? value->place : table_.place;
}

void Fields::emit_missing(std::string_view key, std::string_view example) {
  missing_.emplace_back(key);
  examples_.emplace_back(example);
}

void Fields::emit_type(std::string_view key, const Value& value, std::string_view expected,
                       std::string_view example) {
  std::string message = fmt::format("`{}` must be {}, not {}", key, expected, value.kind_name());
  const bool is_number = value.kind == Value::Kind::integer || value.kind == Value::Kind::real;
  if (is_number && value.real < 0) {
    message = fmt::format("`{}` must be {}, not {}", key, expected, value.real);
  }
  emit(value.place, std::move(message), fmt::format("write it as in `{}`", example));
}

bool Fields::choice(std::string_view key, size_t& out,
                    std::initializer_list<std::string_view> words) {
  const Value* value = find(key);
  if (value == nullptr) return false;
  const std::vector<std::string> list(words.begin(), words.end());
  auto it = std::ranges::find(list, value->text);
  if (value->kind == Value::Kind::string && it != list.end()) {
    out = static_cast<size_t>(it - list.begin());
    return true;
  }
  const std::string got = value->kind == Value::Kind::string ? "`" + value->text + "`"
                                                             : std::string(value->kind_name());
  emit(value->place, fmt::format("`{}` cannot be {}", key, got),
       "write " + diagnose::list_words(list));
  return false;
}

void Fields::finish() {
  report_missing();
  report_unknown();
}

void Fields::report_missing() {
  if (missing_.empty()) return;
  emit(table_.place, fmt::format("{} lacks `{}`", where_, fmt::join(missing_, "`, `")),
       fmt::format("add `{}`", fmt::join(examples_, "`, `")));
}

// Keys that are like none that is known may all be of another table: they are one message.
void Fields::report_unknown() {
  const Key* first = nullptr;
  std::vector<std::string> strange;
  for (const Key& key : table_.keys) {
    if (std::ranges::find(known_, key.name) != known_.end()) continue;
    const std::string meant = diagnose::nearest(key.name, known_);
    if (!meant.empty()) {
      emit(key.place, fmt::format("unknown key `{}` in {}", key.name, where_),
           "write `" + meant + "`");
      continue;
    }
    if (first == nullptr) first = &key;
    strange.push_back(key.name);
  }
  if (first == nullptr) return;
  std::vector<std::string> sorted = known_;
  std::ranges::sort(sorted);
  emit(first->place,
       fmt::format("unknown key{} `{}` in {}", strange.size() == 1 ? "" : "s",
                   fmt::join(strange, "`, `"), where_),
       "known here: " + diagnose::list_words(sorted));
}

bool Fields::convert(const Value& value, std::string& out) {
  if (value.kind != Value::Kind::string) return false;
  out = value.text;
  return true;
}

bool Fields::convert(const Value& value, bool& out) {
  if (value.kind != Value::Kind::boolean) return false;
  out = value.boolean;
  return true;
}

bool Fields::convert(const Value& value, double& out) {
  if (value.kind != Value::Kind::integer && value.kind != Value::Kind::real) return false;
  out = value.real;
  return true;
}

bool Fields::convert(const Value& value, int64_t& out) {
  if (value.kind != Value::Kind::integer) return false;
  out = value.integer;
  return true;
}

bool Fields::convert(const Value& value, uint64_t& out) {
  if (value.kind != Value::Kind::integer || value.integer < 0) return false;
  out = static_cast<uint64_t>(value.integer);
  return true;
}

bool Fields::convert(const Value& value, uint32_t& out) {
  uint64_t wide = 0;
  if (!convert(value, wide) || wide > std::numeric_limits<uint32_t>::max()) return false;
  out = static_cast<uint32_t>(wide);
  return true;
}

bool Fields::convert(const Value& value, std::vector<uint64_t>& out) {
  if (value.kind != Value::Kind::array) return false;
  out.clear();
  for (const Value& item : value.items) {
    if (!convert(item, out.emplace_back())) return false;
  }
  return true;
}

bool Fields::convert(const Value& value, std::vector<std::string>& out) {
  if (value.kind != Value::Kind::array) return false;
  out.clear();
  for (const Value& item : value.items) {
    if (!convert(item, out.emplace_back())) return false;
  }
  return true;
}

bool Fields::convert(const Value& value, Dim3& out) {
  std::vector<uint64_t> extents;
  if (value.kind == Value::Kind::integer) {
    extents.resize(1);
    if (!convert(value, extents[0])) return false;
  } else if (!convert(value, extents) || extents.empty() || extents.size() > 3) {
    return false;
  }
  extents.resize(3, 1);
  out = {extents[0], extents[1], extents[2]};
  return true;
}

}  // namespace lw::casefile
