#pragma once
// What a `.target` can do. `sm_90` is there for all later ones; `sm_90a` only for itself; `sm_100f`
// for its family: targets with the same tens and a suffix, of at least that number. PTX ISA,
// section PTX Module Directives: .target.

#include <optional>
#include <string_view>

namespace lw::ptx {

struct Target {
  int number = 0;     // 90 of `sm_90a`
  char suffix = ' ';  // 'a', 'f', or a blank
};

std::optional<Target> parse_target(std::string_view name);

// Whether `target` is any of `needed`, names separated by blanks.
bool meets(const Target& target, std::string_view needed);

// `sm_100f, sm_110f or sm_120f`, for messages.
std::string_view first_of(std::string_view needed);

}  // namespace lw::ptx
