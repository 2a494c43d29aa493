#include "schedule/hold.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <string_view>

#include "schedule/line_index.h"

namespace lw::schedule {
namespace {

using program::Place;

constexpr std::string_view kHint =
    "a hold is `hold 0.3@k.ptx:1432#3 until 0.1@k.ptx:1211#4`: cta.warp[.lane]@file:line#n, with "
    "`.read` or `.write` after n for that milestone of an asynchronous operation";

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

class PointParser {
 public:
  PointParser(std::string_view text, std::span<const Place> places, diagnose::Emitter& emitter,
              bool may_be_next)
      : text_(text), rest_(text), places_(places), emitter_(emitter), may_be_next_(may_be_next) {}

  std::optional<Point> parse() {
    Point point;
    if (!agent(point) || !site() || !occurrence(point)) {
      emit(fmt::format("`{}` is no point of a schedule", text_));
      return std::nullopt;
    }
    const std::vector<base::OpId> found = instructions_of_line(places_, file_, line_);
    if (found.size() < which_) {
      emit(fmt::format("line {} of `{}` has {} of the run's instructions", line_, file_,
                       found.size()));
      return std::nullopt;
    }
    point.instruction = found[which_ - 1];
    return point;
  }

 private:
  void emit(std::string message) {
    emitter_.emit({{"--replay", 0, 0}, std::move(message), std::string(text_), std::string(kHint)});
  }

  bool agent(Point& point) {
    uint32_t lane = 0;
    uint32_t warp = 0;
    if (!number(point.cta.value) || !take('.') || !number(warp) || warp > 0xffff) return false;
    point.warp = base::WarpId(static_cast<uint16_t>(warp));
    if (take('.')) {
      if (!number(lane) || lane >= base::kWarpSize) return false;
      point.lanes = 1u << lane;
    }
    return take('@');
  }

  // The file may hold any character: its line is what follows the last colon before `#`.
  bool site() {
    const size_t hash = rest_.rfind('#');
    if (hash == std::string_view::npos) return false;
    const std::string_view name = rest_.substr(0, hash);
    const size_t colon = name.rfind(':');
    if (colon == std::string_view::npos) return false;
    file_ = name.substr(0, colon);
    rest_.remove_prefix(colon + 1);
    if (!number(line_)) return false;
    if (take('/') && (!number(which_) || which_ == 0)) return false;
    return take('#');
  }

  bool occurrence(Point& point) {
    if (may_be_next_ && rest_ == "next") {
      point.n = kNext;
      return true;
    }
    uint32_t n = 0;
    if (!number(n) || n == 0) return false;
    point.n = n;
    if (rest_ == ".read") point.moment = Moment::read_done;
    if (rest_ == ".write") point.moment = Moment::write_done;
    return rest_.empty() || point.moment != Moment::execution;
  }

  bool take(char c) {
    if (!rest_.starts_with(c)) return false;
    rest_.remove_prefix(1);
    return true;
  }

  bool number(uint32_t& out) {
    auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), out);
    rest_.remove_prefix(static_cast<size_t>(end - rest_.data()));
    return error == std::errc();
  }

  std::string_view text_;
  std::string_view rest_;
  std::span<const Place> places_;
  diagnose::Emitter& emitter_;
  bool may_be_next_;
  std::string_view file_;
  uint32_t line_ = 0;
  uint32_t which_ = 1;
};

std::optional<Hold> parse_hold(std::string_view text, std::span<const Place> places,
                               diagnose::Emitter& emitter) {
  constexpr std::string_view kHoldWord = "hold ";
  constexpr std::string_view kUntilWord = " until ";
  const size_t until = text.find(kUntilWord);
  if (!text.starts_with(kHoldWord) || until == std::string_view::npos) {
    emitter.emit(
        {{"--replay", 0, 0}, fmt::format("`{}` is no hold", text), {}, std::string(kHint)});
    return std::nullopt;
  }
  const std::string_view held = text.substr(kHoldWord.size(), until - kHoldWord.size());
  const auto first = PointParser(trimmed(held), places, emitter, false).parse();
  const auto second =
      PointParser(trimmed(text.substr(until + kUntilWord.size())), places, emitter, true).parse();
  if (!first || !second) return std::nullopt;
  return Hold{*first, *second};
}

std::string agent_text(const Point& point) {
  std::string text = fmt::format("{}.{}", point.cta.value, point.warp.value);
  if (std::has_single_bit(point.lanes)) text += fmt::format(".{}", std::countr_zero(point.lanes));
  return text;
}

std::string occurrence_text(const Point& point) {
  if (point.n == kNext) return "#next";
  std::string text = fmt::format("#{}", point.n);
  if (point.moment == Moment::read_done) text += ".read";
  if (point.moment == Moment::write_done) text += ".write";
  return text;
}

std::string point_text(const Point& point, std::span<const Place> places) {
  const Place& place = places[point.instruction.value];
  return fmt::format("{}@{}:{}{}", agent_text(point), file_name(place.module->file), place.line(),
                     occurrence_text(point));
}

std::string point_source_text(const Point& point, std::span<const Place> places) {
  const std::vector<SourceLine> lines = source_lines(places[point.instruction.value]);
  if (lines.empty()) return {};
  // The outermost frame: inlined helpers are shared by many calls.
  const SourceLine& line = lines.back();
  const std::vector<base::OpId> all = instructions_of_line(places, file_name(line.file), line.line);
  size_t which = 1;
  while (which <= all.size() && all[which - 1] != point.instruction) ++which;
  if (which > all.size()) return {};
  const std::string suffix = all.size() > 1 ? fmt::format("/{}", which) : std::string();
  return fmt::format("{}@{}:{}{}{}", agent_text(point), file_name(line.file), line.line, suffix,
                     occurrence_text(point));
}

}  // namespace

std::optional<std::vector<Hold>> parse_holds(const std::string& text, std::span<const Place> places,
                                             diagnose::Emitter& emitter) {
  std::vector<Hold> holds;
  std::string_view rest = text;
  while (true) {
    const size_t mark = rest.find(';');
    const std::optional<Hold> hold = parse_hold(trimmed(rest.substr(0, mark)), places, emitter);
    if (hold) holds.push_back(*hold);
    if (mark == std::string_view::npos) break;
    rest.remove_prefix(mark + 1);
  }
  if (!emitter.empty()) return std::nullopt;
  return holds;
}

std::string hold_text(const Hold& hold, std::span<const Place> places) {
  return fmt::format("hold {} until {}", point_text(hold.held, places),
                     point_text(hold.until, places));
}

std::string hold_source_text(const Hold& hold, std::span<const Place> places) {
  const std::string held = point_source_text(hold.held, places);
  const std::string until = point_source_text(hold.until, places);
  if (held.empty() || until.empty()) return {};
  return fmt::format("hold {} until {}", held, until);
}

}  // namespace lw::schedule
