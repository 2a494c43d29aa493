#pragma once
// An answer as text for people and as JSON for programs (docs/json.md), and diagnostics of bad
// input. The same answer gives the same bytes.

#include <string>

#include "casefile/compare.h"
#include "diagnose/diagnostic.h"
#include "prove/judge.h"

namespace lw::report {

struct Style {
  bool color = false;    // ANSI colours: only for a terminal
  bool strict = false;   // `--strict` was given
  std::string command;   // "latewarp check a.toml", all flags but the schedule
  std::string schedule;  // what `--schedule` was given, if anything
};

std::string text_report(const casefile::Inputs& inputs, const prove::Answer& answer,
                        const Style& style);
std::string json_report(const casefile::Inputs& inputs, const prove::Answer& answer,
                        const Style& style);

// "file:line:column: message", the line with a caret, the hint.
std::string diagnostics_text(const diagnose::Emitter& emitter, const Style& style);
// The report of a case that could not be read.
std::string diagnostics_json(const diagnose::Emitter& emitter, const std::string& case_name);

}  // namespace lw::report
