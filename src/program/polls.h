#pragma once
// Loops that poll: those with a strong load, an atomic, a test of a barrier, a clock or a pause in
// their body. What they wait for may be another warp's doing, so their turn ends at every round.

#include <vector>

#include "program/flat.h"
#include "ptx/forms.h"

namespace lw::program {

// May its result change while the thread goes around a loop, by another's doing?
bool is_poll(const ptx::Opcode& opcode);

class Polls {
 public:
  Polls(const ptx::Module& module, const FlatCode& code);
  // A jump back from instruction `from` to `to` closes a loop that polls.
  bool loop(uint32_t to, uint32_t from) const { return to <= from && before_[from] != before_[to]; }

 private:
  std::vector<uint32_t> before_;  // polling instructions before this one
};

}  // namespace lw::program
