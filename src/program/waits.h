#pragma once
// Loops that do nothing but wait.
//
// A loop is pure if it has no effects but tests, loads, fences and sleeps, and one way out. A pure
// loop around a test (of an mbarrier, or of a word's value) is a wait if it can be left by the
// test's result alone, and by nothing that changes from trip to trip. How often it goes around is
// the schedule's doing; what it leaves behind is not, unless it counts its trips.

#include <cstdint>
#include <set>
#include <vector>

#include "program/causes.h"
#include "program/flow.h"

namespace lw::program {

class WaitLoops {
 public:
  WaitLoops(const FlatCode& code, const Flow& flow, const std::vector<Made>& nodes);

  // All by indices of flat instructions.
  bool is_wait(uint32_t test) const;
  bool in_pure_loop(uint32_t at) const;
  // May it be done any number of times? Loads too, which the slice of a value looks at itself.
  bool is_harmless(uint32_t at) const;
  // Registers that the trips of the waits around `test` make.
  std::set<uint32_t> made_by_trips(uint32_t test) const;
  // The jumps behind which lanes come to `test` again and nowhere else; none if some way around has
  // no such jump.
  std::vector<uint32_t> jumps_back(uint32_t test) const;

 private:
  void find_pure_loops();
  bool does_nothing(const Loop& loop) const;
  bool leaves_to_one_place(const Loop& loop) const;
  uint32_t skip_jumps(uint32_t at) const;
  bool waits_in(const Loop& loop, uint32_t test) const;
  void add_jumps_back(const Loop& loop, std::vector<uint32_t>& back) const;
  uint32_t jump_towards(uint32_t at, uint32_t next) const;
  bool is_the_same_in_every_last_trip(uint32_t at, uint32_t test, const Loop& loop) const;
  bool is_on_every_way_out(uint32_t at, const Loop& loop) const;
  bool depends_only_on(uint32_t reg, uint32_t test, const Loop& loop, std::set<uint32_t>& path,
                       bool& uses_test) const;

  const FlatCode& code_;
  const Flow& flow_;
  const std::vector<Made>& nodes_;
  std::vector<Loop> pure_;
};

}  // namespace lw::program
