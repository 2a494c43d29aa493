#pragma once
// Where a value that the schedule makes can go (rule book 17.2: D-5 to D-8).
//
// One run speaks for all schedules only while no value that another schedule would change reaches a
// branch, an address, a barrier operand or memory. Such values are: clocks, numbers of the SM and
// of the warp's place, `activemask`, results of mbarrier tests, values of strong loads and atomics.
// From each instruction that makes one, a forward slice over registers says how far it comes. The
// slice ignores the order of instructions and takes every result of an instruction with a tainted
// source for tainted; it does not follow memory, because a value written there counts as arrived.
//
// A wait (waits.h) reaches nothing, unless it counts its trips. Any other test acquires or not as
// the schedule has it. Where all it decides is whether a wait is executed too (a peek, and a wait
// if that failed) the two ways meet again with nothing done between but tests, so that two runs,
// one in which it always passes and one in which it never does, bound all others. A pure loop
// around a clock is a mere delay: its branches are harmless, but what the clock leaves behind is
// followed.

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "program/causes.h"
#include "program/flat.h"

namespace lw::program {

enum class Arrival : uint8_t {
  nowhere,
  waits,    // decides whether to wait, and nothing else: a peek
  memory,   //
  control,  // a branch, an address or a barrier
};

struct Influence {
  Cause cause{};
  base::OpId made_at;
  Arrival arrival = Arrival::nowhere;  // the worst
  base::OpId arrived_at;               // the first instruction that is reached so
};

// A strong load whose loop does nothing but read it again until a test of its value passes.
struct PollLoop {
  uint32_t load = 0;           // both: indices of flat instructions
  std::vector<uint32_t> back;  // the jumps by which lanes go around again
};
std::vector<PollLoop> find_poll_loops(const ptx::Module& module, const FlatCode& code);

// In program order of `made_at`; those that arrive nowhere too (an unused atomic result is no
// influence at all).
std::vector<Influence> find_influences(const ptx::Module& module, const FlatCode& code);

}  // namespace lw::program
