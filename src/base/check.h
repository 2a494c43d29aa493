#pragma once
// LW_CHECK(condition, values...): an invariant of ours. On in release builds; a broken one ends the
// process with exit code 70 after printing the condition, the values and the context of the run.

#include <fmt/format.h>

#include <string>
#include <string_view>

namespace lw::base {

inline constexpr int kBrokenInvariantExit = 70;

// What a broken invariant prints beside itself (case, seed); one per thread, set by the command
// line.
void set_check_context(std::string context);

[[noreturn]] void fail_check(std::string_view condition, std::string_view file, int line,
                             std::string_view values);

template <class... Values>
std::string format_check_values(const Values&... values) {
  std::string text;
  ((text += fmt::format(" {}", values)), ...);
  return text;
}

}  // namespace lw::base

#define LW_CHECK(condition, ...)                                            \
  do {                                                                      \
    if (!(condition)) [[unlikely]]                                          \
      ::lw::base::fail_check(#condition, __FILE__, __LINE__,                \
                             ::lw::base::format_check_values(__VA_ARGS__)); \
  } while (false)
