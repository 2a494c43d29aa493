#pragma once
// For which data a verdict holds: the buffers of the case whose contents decide no event, and those
// that do, with the instruction that they reach (program/contents.h).

#include <string>
#include <vector>

#include "prove/run.h"

namespace lw::prove {

struct DecidingBuffer {
  std::string name;
  base::OpId at;  // the first instruction, in program order, whose events it decides
};

struct ContentsReach {
  std::vector<std::string> any;  // holds whatever these contain
  std::vector<DecidingBuffer> deciding;
};

// Nothing is said (both empty) where an address comes from nowhere known, in an instruction that is
// reached: where there is such a one, the case runs once more to know that. `run` is by `plan`.
ContentsReach contents_reach(const casefile::Inputs& inputs, const RunPlan& plan, const Run& run);

}  // namespace lw::prove
