#pragma once
// What the command line asks for, after parsing.

#include <cstdint>
#include <string>
#include <vector>

#include "casefile/flags.h"
#include "casefile/inputs.h"

namespace lw::cli {

enum class Format : uint8_t { text, json };

struct Options {
  std::vector<std::string> inputs;  // cases, or PTX files
  casefile::Flags launch;           // a launch by flags instead of a file
  Format format = Format::text;
  bool strict = false;
  bool require_all_schedules = false;
  bool witness = true;
  bool quiet = false;
  std::string schedule = "steady";  // steady, late:WHO, random:SEED
  std::vector<std::string> replay;  // holds
  casefile::Antagonist antagonist = casefile::Antagonist::none;
  double time_limit_s = 0;  // of one run; 0: none
  uint64_t memory_limit_bytes = uint64_t{16} << 30;
  uint64_t step_limit = 4'000'000'000;  // instructions of warps in one run; 0: none
  std::string repeat;  // the command line that repeats this one, without the inputs' own
};

// Exit codes (design 3.3).
inline constexpr int kExitClean = 0;
inline constexpr int kExitFound = 1;
inline constexpr int kExitBadInput = 2;
inline constexpr int kExitNotAnalysed = 3;
inline constexpr int kExitEnvironment = 4;

// Of several cases the worst counts, in the order 2, 4, 1, 3, 0.
int worse(int a, int b);

}  // namespace lw::cli
