#include "ptx/verify/targets.h"

#include <algorithm>
#include <charconv>
#include <iterator>

namespace lw::ptx {
namespace {

struct Known {
  int number;
  int plain;
  int exact;
  int family;
};
constexpr Known kTargets[] = {
#define LW_TARGET(number, plain, exact, family) {number, plain, exact, family},
#include "ptx/targets.def"
};

// The last minor version of each major one.
constexpr int kLastMinor[] = {-1, 5, 3, 2, 3, 1, 5, 8, 8, 5};

int version_of(const Target& target) {
  const auto* found = std::ranges::find(kTargets, target.number, &Known::number);
  if (found == std::end(kTargets)) return 0;
  return target.suffix == 'a' ? found->exact : target.suffix == 'f' ? found->family : found->plain;
}

// sm_101 became sm_110 in PTX 9.0.
int family_of(int number) { return number == 101 ? 11 : number / 10; }

bool meets_one(const Target& target, const Target& needed) {
  if (needed.suffix == ' ') return target.number >= needed.number;
  if (needed.suffix == 'a') return target.number == needed.number && target.suffix == 'a';
  const int number = target.number == 101 ? 110 : target.number;
  return target.suffix != ' ' && family_of(target.number) == family_of(needed.number) &&
         number >= needed.number;
}

}  // namespace

std::optional<Target> parse_target(std::string_view name) {
  const std::string_view prefix = name.starts_with("compute_") ? "compute_" : "sm_";
  if (!name.starts_with(prefix)) return std::nullopt;
  name.remove_prefix(prefix.size());
  Target target;
  const char* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, target.number);
  if (error != std::errc() || end - stop > 1) return std::nullopt;
  if (stop != end) target.suffix = *stop;
  const bool known = target.suffix == ' ' || target.suffix == 'a' || target.suffix == 'f';
  target.version = version_of(target);
  return known && target.version != 0 ? std::optional(target) : std::nullopt;
}

bool is_target_option(std::string_view word) {
  return word == "texmode_unified" || word == "texmode_independent" || word == "debug" ||
         word == "map_f64_to_f32";
}

bool is_version(uint32_t major, uint32_t minor) {
  return major < std::size(kLastMinor) && static_cast<int>(minor) <= kLastMinor[major];
}

bool meets(const Target& target, std::string_view needed) {
  while (!needed.empty()) {
    const std::string_view name = first_of(needed);
    if (const auto one = parse_target(name); one && meets_one(target, *one)) return true;
    needed.remove_prefix(std::min(name.size() + 1, needed.size()));
  }
  return false;
}

std::string_view first_of(std::string_view needed) { return needed.substr(0, needed.find(' ')); }

}  // namespace lw::ptx
