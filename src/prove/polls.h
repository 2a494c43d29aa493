#pragma once
// Do readers that poll a word wait for the write that they saw (rule book 17.2, D-6)?
//
// In the plain run the write may have come before the first look, and then nothing shows that the
// reader would have waited for it. So the case runs again with every such write held back until its
// reader has looked once more: a reader that goes around then waits for it, and the engine sees
// that.

#include <optional>

#include "prove/run.h"

namespace lw::prove {

struct ProvenPolls {
  RunPlan plan;
  Run run;  // every reader waited, or something was found
};

// Nothing: there is nothing to prove, or it could not be proven.
std::optional<ProvenPolls> prove_polls(const casefile::Inputs& inputs, const RunPlan& plan,
                                       const Run& plain);

}  // namespace lw::prove
