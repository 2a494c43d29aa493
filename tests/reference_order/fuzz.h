#pragma once
// Random programs for the order engine: a small machine that knows when barriers complete makes up
// the events, the naive reference and the engine hear each of them, and what they found is compared
// after every one.
//
// Most programs that are random race at once, and then nothing else is tested. So each access is
// tried on the reference first, and of those that would race most are dropped (in three programs of
// four).

#include <cstdint>
#include <string>
#include <vector>

namespace lw::reference_order {

struct FuzzCounts {
  uint64_t programs = 0;
  uint64_t events = 0;
  uint64_t racy = 0;
  uint64_t racing_bytes[4] = {};  // by path
  uint64_t strict_bytes = 0;
  uint64_t unwritten_bytes = 0;
  uint64_t unforced[5] = {};  // D-2, D-3, D-3b, D-4, D-5
  uint64_t init_races = 0;
  uint64_t inval_races = 0;
};

struct FuzzResult {
  std::string disagreement;        // empty: none
  std::vector<std::string> trace;  // the events up to it
};

FuzzResult fuzz_program(uint64_t seed, FuzzCounts& counts);

}  // namespace lw::reference_order
