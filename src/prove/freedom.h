#pragma once
// What a run left to the schedule beside the matches of barriers (rule book 17.2, D-5 to D-8):
// values that another schedule would change and that matter, and the runs that try other answers.

#include <vector>

#include "machine/machine.h"
#include "program/influence.h"

namespace lw::prove {

// Of the instructions that the run executed, those whose schedule-made result arrives somewhere.
std::vector<program::Influence> influences_of(const machine::Machine& machine,
                                              const machine::RunResult& result);

// The tests of mbarriers among them: a run that doubts their first answers is due (D-6b).
std::vector<base::OpId> doubtful_tests(const std::vector<program::Influence>& influences);

// Whether any other value arrives at a branch, an address or a barrier: then the events themselves
// may differ, and other schedules are sampled.
bool steers(const std::vector<program::Influence>& influences);

}  // namespace lw::prove
