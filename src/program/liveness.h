#pragma once
// Slots by liveness. A kernel names thousands of registers; few are alive at once, and a warp's
// registers then fit the cache.
//
// A slot is shared by registers whose live intervals do not meet. Liveness is that of one lane's
// path through the program, and this is enough under divergence: lanes never touch each other's
// part of a slot, because every write goes to the lanes that run the instruction (or to exited
// ones), and an instruction that reads other lanes runs them all. A guarded write keeps the old
// value of some lanes, so it counts as a read too. Intervals are closed at both ends: a result
// never shares a slot with a source of its own instruction, so a handler may write one result
// while it still needs a source.
//
// Method: blocks; for registers named in more than one block, live-in by walking backwards from
// each exposed read; one interval per register in program order; linear scan, one pool per size.

#include <vector>

#include "program/flat.h"

namespace lw::program {

struct SlotAssignment {
  std::vector<uint32_t> slot;  // by VirtualId: number of the slot in its class
  uint32_t predicates = 0;     // slots of each class
  uint32_t words = 0;
  uint32_t wides = 0;
  // By VirtualId: the first and the last instruction between which it may be alive.
  std::vector<std::pair<uint32_t, uint32_t>> lives;
  bool is_live(uint32_t reg, uint32_t instruction) const {
    return lives[reg].first <= instruction && instruction <= lives[reg].second;
  }
};

SlotAssignment assign_slots(const ptx::Module& module, const FlatCode& code);

}  // namespace lw::program
