#pragma once
// From a race to a schedule that shows it.
//
// The two accesses happened in one order; the witness is the run in which they happen in the other,
// made by holding one agent back: a warp (or one lane of it, when lanes of one warp race) before
// the access, or an asynchronous operation before its milestone, until the other has passed. The
// run's outputs are compared bit by bit with those of the run without the hold. If nothing changes,
// other pairs and other instances of the finding are tried, then the opposite hold; a bounded
// number of runs in all. Loads of tensor memory that was freed are held longer, until somebody else
// has written it (owners.h). A race whose reversals all leave the outputs alone is still a race,
// and is said to be one that changed nothing here. So is one whose accesses come in this order
// whatever the schedule: what it lacks is visibility, and the machine executes sequentially
// consistent memory without proxies, so that no schedule can show it.

#include "prove/finding.h"

namespace lw::prove {

// Fills `witness` and `schedules_tried` of the finding. `plain` is the run without holds, by
// `plan`.
void find_witness(const casefile::Inputs& inputs, const RunPlan& plan, const Run& plain,
                  RaceFinding& finding);

// The output buffers that differ.
std::vector<ChangedOutput> changed_outputs(const casefile::Inputs& inputs, const Run& before,
                                           const Run& after);

}  // namespace lw::prove
