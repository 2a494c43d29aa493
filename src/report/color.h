#pragma once
// ANSI colours, or none.

#include <string>
#include <string_view>

namespace lw::report {

class Color {
 public:
  explicit Color(bool on) : on_(on) {}
  std::string bold(std::string_view text) const { return wrap("1", text); }
  std::string red(std::string_view text) const { return wrap("1;31", text); }
  std::string green(std::string_view text) const { return wrap("1;32", text); }
  std::string yellow(std::string_view text) const { return wrap("1;33", text); }
  std::string faint(std::string_view text) const { return wrap("2", text); }

 private:
  std::string wrap(std::string_view code, std::string_view text) const {
    if (!on_) return std::string(text);
    return "\x1b[" + std::string(code) + "m" + std::string(text) + "\x1b[0m";
  }

  bool on_;
};

}  // namespace lw::report
