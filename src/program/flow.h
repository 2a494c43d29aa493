#pragma once
// Control flow of the flat code, instruction by instruction, and its loops.
//
// A loop is the natural loop of an edge that goes back (to an instruction on the way to it, however
// the text is laid out): everything that comes to the edge without passing its target (the header)
// again. Where the header does not dominate the edge (irreducible code) the body grows to all that
// can reach it, which makes every question about the loop answer "no".

#include <cstdint>
#include <utility>
#include <vector>

#include "program/flat.h"

namespace lw::program {

struct Loop {
  uint32_t header = 0;
  std::vector<uint32_t> body;   // instructions, ascending, header included
  std::vector<uint32_t> exits;  // instructions of the body that have a successor outside
};

class Flow {
 public:
  explicit Flow(const FlatCode& code);

  uint32_t size() const { return static_cast<uint32_t>(after_.size()); }
  const std::vector<uint32_t>& after(uint32_t instruction) const { return after_[instruction]; }
  const std::vector<uint32_t>& before(uint32_t instruction) const { return before_[instruction]; }

  // One for every edge that goes back: an inner and an outer loop may start at one instruction.
  std::vector<Loop> loops() const;

  // The loop that goes around by the edges of both, which start at one instruction.
  Loop joined(const Loop& a, const Loop& b) const;

 private:
  std::vector<std::pair<uint32_t, uint32_t>> edges_back() const;  // from, to
  Loop loop_of(uint32_t header, uint32_t latch) const;
  Loop loop_with(uint32_t header, std::vector<uint32_t> body) const;

  std::vector<std::vector<uint32_t>> after_;
  std::vector<std::vector<uint32_t>> before_;
};

}  // namespace lw::program
