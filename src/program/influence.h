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
// Polls are pure (D-6) when their loop does nothing else: no effects but tests, loads, fences and
// sleeps, one way out, and that way taken on the test's result and on nothing that changes from
// trip to trip. A wait of that kind reaches nothing; any other test counts as control, since
// whether it acquires is the schedule's doing. A pure loop around a clock is a mere delay: its
// branches are harmless, but what the clock leaves behind is followed.

#include <cstdint>
#include <vector>

#include "base/ids.h"
#include "program/flat.h"

namespace lw::program {

enum class Cause : uint8_t {
  clock,           // %clock, %globaltimer, ...
  placement,       // %smid, %nsmid, %warpid, %nwarpid
  active_lanes,    // activemask
  mbarrier_test,   // test_wait, try_wait
  strong_read,     // a load that is not weak, an atomic whose result is used
  register_pool,   // setmaxnreg.inc: may wait for what other warps give back
  tensor_columns,  // tcgen05.alloc: may wait for what other CTAs free
};

enum class Arrival : uint8_t { nowhere, memory, control };  // control: a branch, address or barrier

struct Influence {
  Cause cause{};
  base::OpId made_at;
  Arrival arrival = Arrival::nowhere;  // the worst
  base::OpId arrived_at;               // the first instruction that is reached so
};

// In program order of `made_at`; those that arrive nowhere too (an unused atomic result is no
// influence at all).
std::vector<Influence> find_influences(const ptx::Module& module, const FlatCode& code);

}  // namespace lw::program
