#pragma once
// Diagnostics about bad input: wrong PTX, a wrong case file, a launch that cannot be. They are
// collected to the end of a stage, printed by `report/`, and end the program with exit code 2.
// Findings about a kernel are another thing: see finding.h.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lw::diagnose {

// A place in an input file. Line and column count from 1; 0 means unknown.
struct Place {
  std::string file;
  uint32_t line = 0;
  uint32_t column = 0;
};

struct Diagnostic {
  Place place;
  std::string message;  // the observation: lower case, no full stop, code in backticks
  std::string excerpt;  // the offending text, empty if there is none
  std::string hint;     // what to write instead, empty if nothing is known
};

// Collects the diagnostics of one stage. A stage that emitted any returns std::nullopt.
class Emitter {
 public:
  void emit(Diagnostic diagnostic) { diagnostics_.push_back(std::move(diagnostic)); }
  bool empty() const { return diagnostics_.empty(); }
  const std::vector<Diagnostic>& diagnostics() const { return diagnostics_; }

 private:
  std::vector<Diagnostic> diagnostics_;
};

}  // namespace lw::diagnose
