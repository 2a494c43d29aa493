#pragma once
// Reads the keys of one TOML table into typed fields. Says what is wrong with a key (missing, of
// the wrong type, unknown) and shows a line that would be right; never stops at the first mistake.

#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>
#include <vector>

#include "casefile/case.h"
#include "casefile/toml_value.h"
#include "diagnose/diagnostic.h"

namespace lw::casefile {

class Fields {
 public:
  // `where` names the table in messages: "[[launch]]".
  Fields(const Value& table, std::string where, diagnose::Emitter& emitter)
      : table_(table), where_(std::move(where)), emitter_(emitter) {}

  // Leaves `out` alone when the key is absent; `example` is a line that would be right.
  template <class T>
  bool optional(std::string_view key, T& out, std::string_view example) {
    const Value* value = find(key);
    if (value == nullptr) return false;
    if (convert(*value, out)) return true;
    emit_type(key, *value, expected(static_cast<T*>(nullptr)), example);
    return false;
  }

  template <class T>
  bool required(std::string_view key, T& out, std::string_view example) {
    if (table_.find(key) == nullptr) emit_missing(key, example);
    return optional(key, out, example);
  }

  // One of a few words; `out` becomes the index of the word in `words`.
  bool choice(std::string_view key, size_t& out, std::initializer_list<std::string_view> words);

  // For keys whose value the caller reads by itself.
  const Value* find(std::string_view key);
  const diagnose::Place& place(std::string_view key) const;  // of the value, or of the table
  const diagnose::Place& place() const { return table_.place; }
  const std::string& where() const { return where_; }

  void emit(const diagnose::Place& place, std::string message, std::string hint) {
    emitter_.emit({place, std::move(message), {}, std::move(hint)});
  }
  // The keys that are missing become one message.
  void emit_missing(std::string_view key, std::string_view example);
  void emit_type(std::string_view key, const Value& value, std::string_view expected,
                 std::string_view example);

  // To be called last: every key that nobody asked for is unknown.
  void finish();

 private:
  void report_missing();
  void report_unknown();
  static bool convert(const Value& value, std::string& out);
  static bool convert(const Value& value, bool& out);
  static bool convert(const Value& value, double& out);
  static bool convert(const Value& value, int64_t& out);
  static bool convert(const Value& value, uint64_t& out);
  static bool convert(const Value& value, uint32_t& out);
  static bool convert(const Value& value, std::vector<uint64_t>& out);
  static bool convert(const Value& value, std::vector<std::string>& out);
  static bool convert(const Value& value, Dim3& out);

  static std::string_view expected(const std::string*) { return "text in quotes"; }
  static std::string_view expected(const bool*) { return "true or false"; }
  static std::string_view expected(const double*) { return "a number"; }
  static std::string_view expected(const int64_t*) { return "an integer"; }
  static std::string_view expected(const uint64_t*) { return "an integer that is not negative"; }
  static std::string_view expected(const uint32_t*) { return "an integer from 0 to 4294967295"; }
  static std::string_view expected(const std::vector<uint64_t>*) {
    return "a list of integers that are not negative";
  }
  static std::string_view expected(const std::vector<std::string>*) { return "a list of names"; }
  static std::string_view expected(const Dim3*) { return "an integer or a list of one to three"; }

  const Value& table_;
  std::string where_;
  diagnose::Emitter& emitter_;
  std::vector<std::string> known_;
  std::vector<std::string> missing_;   // keys
  std::vector<std::string> examples_;  // of them
};

}  // namespace lw::casefile
