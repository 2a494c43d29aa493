#include "cli/schedule_flag.h"

#include <fmt/format.h>

#include <charconv>
#include <sstream>
#include <string_view>

namespace lw::cli {
namespace {

constexpr std::string_view kHint =
    "write `steady`, `random:1`, `late:3` (warp 3 of every CTA), `late:0.3`, `late:ROLE` or "
    "`late:hold … until …`";

template <class Number>
bool parse(std::string_view text, Number& out) {
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), out);
  return error == std::errc() && end == text.data() + text.size();
}

schedule::WarpNames warp_of_every_cta(uint32_t warp) { return {0, UINT32_MAX, 1u << warp}; }

bool add_role(const std::string& name, const casefile::Case& parts,
              std::vector<schedule::WarpNames>& late) {
  bool found = false;
  for (const casefile::Launch& launch : parts.launches) {
    for (const casefile::Role& role : launch.roles) {
      if (role.name != name) continue;
      found = true;
      for (auto [first, last] : role.warps) {
        for (uint32_t warp = first; warp <= last && warp < 32; ++warp)
          late.push_back(warp_of_every_cta(warp));
      }
    }
  }
  return found;
}

// One entry of WHO.
bool add_late(const std::string& text, const casefile::Case& parts,
              std::vector<schedule::WarpNames>& late) {
  uint32_t cta = 0;
  uint32_t warp = 0;
  const size_t dot = text.find('.');
  if (dot != std::string::npos) {
    if (!parse(std::string_view(text).substr(0, dot), cta) ||
        !parse(std::string_view(text).substr(dot + 1), warp) || warp > 31) {
      return false;
    }
    late.push_back({cta, cta, 1u << warp});
    return true;
  }
  if (parse(text, warp) && warp < 32) {
    late.push_back(warp_of_every_cta(warp));
    return true;
  }
  return add_role(text, parts, late);
}

bool add_all_late(const std::string& list, const casefile::Case& parts,
                  std::vector<schedule::WarpNames>& late) {
  std::istringstream entries(list);
  for (std::string entry; std::getline(entries, entry, ',');) {
    if (!add_late(entry, parts, late)) return false;
  }
  return !late.empty();
}

}  // namespace

std::optional<ScheduleFlag> parse_schedule(const std::string& text, const casefile::Case& parts,
                                           std::span<const program::Place> places,
                                           diagnose::Emitter& emitter) {
  constexpr std::string_view kLate = "late:";
  constexpr std::string_view kRandom = "random:";
  ScheduleFlag flag;
  if (text == "steady") return flag;
  if (text.starts_with(kRandom) &&
      parse(std::string_view(text).substr(kRandom.size()), flag.schedule.seed)) {
    flag.schedule.kind = prove::Schedule::Kind::random;
    return flag;
  }
  if (text.starts_with(kLate)) {
    const std::string who = text.substr(kLate.size());
    if (who.starts_with("hold ")) {
      auto holds = schedule::parse_holds(who, places, emitter);
      if (!holds) return std::nullopt;
      flag.holds = std::move(*holds);
      return flag;
    }
    if (add_all_late(who, parts, flag.schedule.late)) return flag;
  }
  emitter.emit({{fmt::format("--schedule {}", text), 0, 0},
                "there is no such schedule",
                {},
                std::string(kHint)});
  return std::nullopt;
}

}  // namespace lw::cli
