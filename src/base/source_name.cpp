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

}  // namespace

std::string source_name(const std::string& name) {
  if (!name.starts_with("_Z")) return name;
  const std::unique_ptr<char, Free> demangled(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, nullptr));
  return demangled == nullptr ? name : std::string(last_word(demangled.get()));
}

}  // namespace lw::base
