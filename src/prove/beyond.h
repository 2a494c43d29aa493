#pragma once
// Is an error that ended the run there in all schedules?
//
// The run stopped at it, so nothing is known of what the other threads do later, and in another
// schedule that may come before the error: a late match of a barrier, a race that changes what the
// erroneous thread had read. So the case runs again with that thread kept back at the error for
// good, until nothing else can run. What has happened by then is all that does not wait for the
// error. If the conditions of rule book 17.2 hold for it, and it has no race, it happens in every
// schedule, and so the erroneous thread comes to where it stands in every schedule. Others that run
// into errors are kept back there too.
//
// To find them all takes few runs: an error at a watched instruction parks its whole warp and the
// run goes on (Options::park_faults). That is too much, for lanes beside the erroneous ones may go
// on, so then the case runs with just those lanes kept back before that instruction, until a run
// parks nothing. An instruction does nothing for the lanes that it is an error of.
//
// Where the state of a barrier makes it an error and not the thread alone, everything done to that
// barrier must be known to the thread (order/settled.cpp), or it might have found another state.

#include "prove/judge.h"

namespace lw::prove {

// What speaks against it; the fault of `stopped` ended that run of `plan`.
FaultDoubt doubt_fault(const casefile::Inputs& inputs, const RunPlan& plan, const Run& stopped);

}  // namespace lw::prove
