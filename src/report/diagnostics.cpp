#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "report/color.h"
#include "report/report.h"
#include "report/sources.h"

namespace lw::report {
namespace {

using diagnose::Diagnostic;
using diagnose::Place;

constexpr size_t kLongestExcerpt = 100;

std::string place_text(const Place& place) {
  if (place.line == 0) return place.file;
  return fmt::format("{}:{}:{}", place.file, place.line, std::max(1u, place.column));
}

// The line that the place names, with a caret under the column; blanks in front are cut.
std::string excerpt_text(const Diagnostic& diagnostic, Sources& sources) {
  const Place& place = diagnostic.place;
  const std::optional<std::string> line = sources.line(place.file, place.line);
  if (!line) {
    return diagnostic.excerpt.empty()
               ? ""
               : fmt::format("    {}\n", diagnostic.excerpt.substr(0, kLongestExcerpt));
  }
  const size_t indent = std::min(line->find_first_not_of(" \t"), line->size());
  const size_t column = place.column > indent ? place.column - 1 - indent : 0;
  const std::string shown = line->substr(indent, kLongestExcerpt);
  std::string text = fmt::format("    {}\n", shown);
  if (place.column != 0 && column < shown.size())
    text += fmt::format("    {:>{}}\n", "^", column + 1);
  return text;
}

}  // namespace

std::string diagnostics_text(const diagnose::Emitter& emitter, const Style& style) {
  Sources sources;
  const Color color(style.color);
  std::string text;
  for (const Diagnostic& diagnostic : emitter.diagnostics()) {
    text += fmt::format("{}: {}\n", color.bold(place_text(diagnostic.place)), diagnostic.message);
    text += excerpt_text(diagnostic, sources);
    if (!diagnostic.hint.empty()) text += fmt::format("    hint: {}\n", diagnostic.hint);
  }
  return text;
}

std::string diagnostics_json(const diagnose::Emitter& emitter, const std::string& case_name) {
  nlohmann::ordered_json report;
  report["case"] = case_name;
  report["verdict"] = "bad input";
  report["messages"] = nlohmann::ordered_json::array();
  for (const Diagnostic& diagnostic : emitter.diagnostics()) {
    report["messages"].push_back({{"file", diagnostic.place.file},
                                  {"line", diagnostic.place.line},
                                  {"column", diagnostic.place.column},
                                  {"message", diagnostic.message},
                                  {"hint", diagnostic.hint}});
  }
  return report.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

}  // namespace lw::report
