#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace lw::base {
namespace {

std::string& context() {
  thread_local std::string text;
  return text;
}

}  // namespace

void set_check_context(std::string text) { context() = std::move(text); }

void fail_check(std::string_view condition, std::string_view file, int line,
                std::string_view values) {
  fmt::print(stderr, "latewarp: broken invariant `{}` at {}:{}{}\n{}", condition, file, line,
             values, context().empty() ? "" : "in " + context() + "\n");
  std::fflush(stderr);
  std::_Exit(kBrokenInvariantExit);
}

}  // namespace lw::base
