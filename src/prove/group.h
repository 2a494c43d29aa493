#pragma once
// Races -> findings: one per missing edge and object.
//
// The engine groups by instruction pair and by what came first in its run. But which of two
// unordered accesses came first is the schedule's doing. What a reader understands is the order in
// one warp's own program: where the same warp executes both instructions, that decides. Two warps
// with different jobs are told as the run had them, but for a copy that ran ahead of its reader,
// and for a read of bytes that nobody had written: there the write belongs before it.

#include <vector>

#include "prove/finding.h"

namespace lw::prove {

// `told` is a run of the same schedule with a watch on every group of `facts` (watches_of) and a
// diary of their instructions.
std::vector<RaceFinding> group_races(const order::Facts& facts, const Run& told);

// `told` has the story of every race that is watched for.
bool all_told(const order::Facts& facts, const order::Facts& told);

// The places to watch, and the instructions to note, in that run.
std::vector<order::Watch> watches_of(const order::Facts& facts);
std::vector<base::OpId> instructions_of(const order::Facts& facts);

}  // namespace lw::prove
