#pragma once
// What a race may have led to (rule book 17.2, D-1).
//
// Of two accesses that race, the one that reads may get another value in another schedule, and what
// its thread does from there on, and whatever is ordered after it, may differ. The first race of a
// run is there in all schedules; one that comes after such a read may not be. The question is asked
// once for every new kind of race, with the clocks that the two warps have by then: a warp that
// knows of the read counts as coming after it. That may be too much, never too little.

#include <cstdint>
#include <map>
#include <utility>

#include "order/facts.h"

namespace lw::order {

struct Core;
struct Warp;

class RacedValues {
 public:
  // The `serial`-th access of the run raced.
  void add(const Race& race, uint64_t serial);
  bool lead_to(const Core& core, const Race& race) const;
  // Do the lanes, as they stand, come after such a read?
  bool reach(const Core& core, const Warp& warp, LaneMask lanes) const;

 private:
  struct Read {
    OpId op;
    LaneMask lanes = 0;
    uint32_t epoch = 0;
    uint64_t serial = 0;  // it had happened by then
  };
  using Who = std::pair<uint32_t, uint32_t>;  // CTA, warp

  void add(const Party& party, uint64_t serial);
  static bool comes_after(const Core& core, const Party& party, uint64_t serial, const Who& who,
                          const Read& read);

  std::map<Who, Read> first_;  // of each warp
};

}  // namespace lw::order
