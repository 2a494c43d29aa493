#pragma once
// The command lines that make a finding again. The findings of a report are those of one run, which
// may not be the plain one: its holds and its schedule are named with those that the user asked
// for.

#include <string>

#include "report/names.h"
#include "report/report.h"

namespace lw::report {

// A word as a shell takes it.
std::string shell_word(const std::string& word);

// `latewarp check …` for the run that the report tells of.
std::string repeat_command(const prove::Answer& answer, const Style& style, Names& names);

// The same with the hold that shows a race.
std::string repeat_command(const prove::Answer& answer, const Style& style, Names& names,
                           const prove::Witness& witness);

// The flags of that for another build, by source lines. Empty where an instruction has none.
std::string repeat_by_source(const prove::Answer& answer, const Style& style, Names& names,
                             const prove::Witness& witness);

}  // namespace lw::report
