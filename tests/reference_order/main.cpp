// order_fuzz [programs] [first seed]: runs random programs through the order engine and the naive
// reference; exits 1 at the first disagreement, after printing its events.

#include <fmt/format.h>

#include <cstdlib>

#include "fuzz.h"

using lw::reference_order::fuzz_program;
using lw::reference_order::FuzzCounts;
using lw::reference_order::FuzzResult;

int main(int argc, char** argv) {
  const uint64_t programs = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 2000;
  const uint64_t first = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 1;
  FuzzCounts counts;
  for (uint64_t seed = first; seed < first + programs; ++seed) {
    const FuzzResult result = fuzz_program(seed, counts);
    if (result.disagreement.empty()) continue;
    for (const std::string& line : result.trace) fmt::print("{}\n", line);
    fmt::print("seed {}: {}\n", seed, result.disagreement);
    return 1;
  }
  fmt::print("{} programs, {} events, {} racy; racing bytes none {} / C {} / E {} / no fence {}\n",
             counts.programs, counts.events, counts.racy, counts.racing_bytes[0],
             counts.racing_bytes[1], counts.racing_bytes[2], counts.racing_bytes[3]);
  fmt::print(
      "strict bytes {}, unwritten bytes {}, init races {}, inval races {}; D-2 {} / D-3 {} / D-3b "
      "{} / D-4 {} / "
      "D-5 {}\n",
      counts.strict_bytes, counts.unwritten_bytes, counts.init_races, counts.inval_races,
      counts.unforced[0], counts.unforced[1], counts.unforced[2], counts.unforced[3],
      counts.unforced[4]);
  return 0;
}
