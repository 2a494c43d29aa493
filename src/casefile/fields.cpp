#include "casefile/fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace lw::casefile {
namespace {

// Levenshtein distance, one row at a time.
size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({replaced, row[j] + 1, row[j - 1] + 1});
    }
  }
  return row[b.size()];
}

}  // namespace

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  size_t best_distance = std::max<size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    const size_t distance = edit_distance(word, candidate);
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string list_words(const std::vector<std::string>& words) {
  std::string text;
  for (size_t i = 0; i < words.size(); ++i) {
    if (i > 0) text += i + 1 == words.size() ? " or " : ", ";
    text += "`" + words[i] + "`";
  }
  return text;
}

const Value* Fields::find(std::string_view key) {
  if (std::ranges::find(known_, key) == known_.end()) known_.emplace_back(key);
  return table_.find(key);
}

const diagnose::Place& Fields::place(std::string_view key) const {
  const Value* value = table_.find(key);
  return value != nullptr ? value->place : table_.place;
}

void Fields::emit_missing(std::string_view key, std::string_view example) {
  emit(table_.place, fmt::format("{} lacks `{}`", where_, key), fmt::format("add `{}`", example));
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
  emit(value->place, fmt::format("`{}` cannot be {}", key, got), "write " + list_words(list));
  return false;
}

void Fields::finish() {
  for (const Key& key : table_.keys) {
    if (std::ranges::find(known_, key.name) != known_.end()) continue;
    const std::string meant = nearest(key.name, known_);
    std::vector<std::string> sorted = known_;
    std::ranges::sort(sorted);
    emit(key.place, fmt::format("unknown key `{}` in {}", key.name, where_),
         meant.empty() ? "known here: " + list_words(sorted) : "write `" + meant + "`");
  }
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
