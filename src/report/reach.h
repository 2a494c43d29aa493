#pragma once
// How far a report reaches: what was run and checked, and what was assumed.

#include <string>
#include <vector>

#include "prove/judge.h"
#include "report/names.h"

namespace lw::report {

// Names of the forms that the launched kernels use, sorted.
std::vector<std::string> forms_used(Names& names);

// "4 CTAs, 124 warps, 1,482,112 instructions, ..."
std::string reach_words(const prove::Answer& answer, Names& names);

// For which data a clean verdict holds; empty where nothing is said.
std::string contents_words(const prove::Answer& answer, Names& names);

// Whole sentences: buffers that were made up, reads of bytes that nobody wrote, sums by rules that
// no device has confirmed, what `--strict` would ask for.
std::vector<std::string> assumption_words(const prove::Answer& answer, Names& names, bool strict);

}  // namespace lw::report
