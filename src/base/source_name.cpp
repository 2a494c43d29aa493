#include "base/source_name.h"

#include <cxxabi.h>

#include <cstdlib>
#include <memory>
#include <string_view>

namespace lw::base {
namespace {

struct Free {
  void operator()(char* text) const { std::free(text); }
};

// "softmax(float const*)::part": the last `::` that is in no argument list.
std::string_view last_word(std::string_view name) {
  int depth = 0;
  for (size_t i = name.size(); i-- > 1;) {
    const char c = name[i];
    if (c == ')' || c == '>') ++depth;
    if (c == '(' || c == '<') --depth;
    if (depth == 0 && c == ':' && name[i - 1] == ':') return name.substr(i + 1);
  }
  return name;
}

std::unique_ptr<char, Free> demangled(const std::string& name) {
  return std::unique_ptr<char, Free>(abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr));
}

// "void lw::softmax<4>(float const*)" up to its last list in brackets, or all.
std::string_view before_list(std::string_view name, char open, char close) {
  if (name.empty() || name.back() != close) return name;
  int depth = 0;
  for (size_t i = name.size(); i-- > 0;) {
    if (name[i] == close) ++depth;
    if (name[i] == open && --depth == 0) return name.substr(0, i);
  }
  return name;
}

}  // namespace

std::string source_name(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  const auto text = demangled(name);
  return text == nullptr ? name : std::string(last_word(text.get()));
}

std::string declared_name(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  const auto text = demangled(name);
  if (text == nullptr) return name;
  const std::string_view word = last_word(before_list(before_list(text.get(), '(', ')'), '<', '>'));
  return std::string(word.substr(word.rfind(' ') + 1));
}

}  // namespace lw::base
