#pragma once
// Who gets freed columns of tensor memory next, and a schedule in which a load comes after that.
//
// The problem. A load that comes after its columns were freed still finds the old bits: the free
// clears nothing, and nobody else writes them before somebody has allocated them. So turning load
// and dealloc around shows nothing; the load has to come after another owner's writes.
//
// One run in which the load is held until nothing else can run tells who that is: those that free
// columns on its SM behind the dealloc, a later CTA of the grid, a dependent launch, another
// stream. An owner that frees its columns as it should has written them by then, so the schedule
// is: hold the load until that dealloc. Where the case has no such owner, the one of ours is asked
// (casefile/antagonist.h).

#include <vector>

#include "prove/run.h"

namespace lw::prove {

// Holds of `load` until another owner has freed the columns that `free` gives up: the first one of
// the run by `plan`, and the last. Empty: nobody owns any there. Makes one run.
std::vector<schedule::Hold> holds_until_next_owner(const casefile::Inputs& inputs, RunPlan plan,
                                                   const schedule::Point& load,
                                                   const schedule::Point& free);

}  // namespace lw::prove
