#pragma once
// Threads that poll for what can never come (rule book 15, E-22).
//
// A machine whose every turn is one more round of a polling loop may stand still: if all that can
// run has gone around, and registers and memory are as they were, so it goes on for ever. That is
// exact: nothing is guessed from how long it takes. Loops that count their rounds or look at a
// clock never come back to the same state; those end by a limit.
//
// The test costs nothing until many rounds in a row were polls. Then the registers of the warp that
// ran are hashed after each of its turns; only when all are as they were is memory hashed, twice.

#include <cstdint>
#include <map>
#include <utility>

#include "base/ids.h"
#include "machine/fault.h"

namespace lw::order {
class Engine;
}

namespace lw::machine {

class Machine;
class Warp;

class Livelock {
 public:
  // Something happened that is no round of a poll.
  void progress() { rounds_ = 0; }
  // A round of `warp` is over. True: everything stands as it stood before.
  bool round(const Machine& machine, const Warp& warp);

 private:
  using Who = std::pair<uint32_t, uint32_t>;  // CTA, warp

  void begin(const Machine& machine);
  bool all_went_around(const Machine& machine) const;

  uint64_t rounds_ = 0;
  uint64_t begin_at_ = 0;         // the number of rounds after which the state was kept
  std::map<Who, uint64_t> now_;   // state of each warp, as a hash
  std::map<Who, uint32_t> went_;  // rounds of each warp since
  uint64_t sum_ = 0;              // of `now_`
  uint64_t kept_ = 0;             // that sum when the state was kept
  bool has_memory_ = false;
  uint64_t memory_ = 0;
};

// Who polls what, and who waits beside them.
Fault describe_livelock(const Machine& machine);

// Tells the engine of the polls that go on for ever.
void tell_polling(const Machine& machine, order::Engine& engine);

}  // namespace lw::machine
