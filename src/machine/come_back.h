#pragma once
// Whether lanes that are ahead can still come to an instruction.
//
// At an `.aligned` instruction some lanes of a warp may be missing. A GPU waits for them where the
// compiler made paths meet; we see only where they are. Lanes at earlier Ops come by themselves.
// Lanes at later ones are waited for if the program has a path from there back to the instruction
// (the next round of a loop), or if they have nothing left to do but to exit; otherwise they went
// past it, which is an error of the kernel (rule W-11).
//
// misses: lanes that go around a loop without ever running the instruction are waited for until
// they exit.

#include <map>
#include <utility>

#include "program/program.h"

namespace lw::machine {

// From here on there is nothing but an exit.
bool only_exits(const program::Op* op);

class ComeBack {
 public:
  bool may_come(const program::Program& program, const program::Op* from, const program::Op* to);

 private:
  std::map<std::pair<const program::Op*, const program::Op*>, bool> known_;
};

}  // namespace lw::machine
