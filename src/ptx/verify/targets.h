#pragma once
// What a `.target` can do. `sm_90` is there for all later ones; `sm_90a` only for itself; `sm_100f`
// for its family: targets with the same tens and a suffix, of at least that number. PTX ISA,
// section PTX Module Directives: .target.

#include <cstdint>
#include <optional>
#include <string_view>

namespace lw::ptx {

struct Target {
  int number = 0;     // 90 of `sm_90a`
  char suffix = ' ';  // 'a', 'f', or a blank
  int version = 0;    // of PTX, times ten, from which on there is such a target
};

inline constexpr uint32_t kNewestMajor = 9;
inline constexpr uint32_t kNewestMinor = 5;

// A target of targets.def, also as `compute_90`.
std::optional<Target> parse_target(std::string_view name);

// What may stand behind the architecture.
bool is_target_option(std::string_view word);

// Whether there is such a version of PTX, up to the last one known here.
bool is_version(uint32_t major, uint32_t minor);

// Whether `target` is any of `needed`, names separated by blanks.
bool meets(const Target& target, std::string_view needed);

// `sm_100f, sm_110f or sm_120f`, for messages.
std::string_view first_of(std::string_view needed);

}  // namespace lw::ptx
