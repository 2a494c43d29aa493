#pragma once
// What a run left to the schedule beside the matches of barriers (rule book 17.2, D-5 to D-8):
// values that another schedule would change and that matter, and the runs that try other answers.

#include <vector>

#include "program/influence.h"
#include "prove/run.h"

namespace lw::prove {

// Of the instructions that the run executed, those whose schedule-made result arrives somewhere. Of
// strong reads those that the engine holds to be open (D-5, D-6).
std::vector<program::Influence> influences_of(const Run& run);

// The tests of mbarriers among them: a run that doubts their first answers is due (D-6b).
std::vector<base::OpId> doubtful_tests(const std::vector<program::Influence>& influences);

// Whether any other value arrives at a branch, an address or a barrier: then the events themselves
// may differ, and other schedules are sampled.
bool steers(const std::vector<program::Influence>& influences);

}  // namespace lw::prove
