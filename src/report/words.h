#pragma once
// Sentences that the text and the JSON report share.

#include <string>
#include <string_view>
#include <vector>

#include "prove/judge.h"
#include "report/names.h"

namespace lw::report {

// Of a memory, as a code and as a word: "SMEM", "shared".
struct SpaceNames {
  std::string_view code;
  std::string_view word;
};
SpaceNames space_names(order::Space space);

// "SMEM-WAR"
std::string hazard_code(order::Space space, prove::Hazard hazard);
std::string hazard_code(const prove::RaceFinding& finding);

// "shared memory read is not ordered before a later write"
std::string headline(const prove::RaceFinding& finding, Names& names);

// That raced, of all pairs together: every byte counts once.
uint64_t racing_bytes(const prove::RaceFinding& finding);

// "both follow named barrier 2, generation 6 (line 198); nothing orders them after it"
std::string missing_edge(const prove::RaceFinding& finding, Names& names);

// Mbarriers that a warp signals behind its access to tensor memory, and that do not help: "warp 1
// then signals mbarrier `s_empty` (line 178), which warp 0 does not wait for". Empty: none.
std::string unheard_words(const prove::RaceFinding& finding, Names& names);

// " --antagonist tmem", where the witness needs it and the run did not have it.
std::string_view antagonist_flag(const prove::Witness& witness, const prove::Answer& answer);

// "hold warp 3 (K1) before line 212 (3rd time) until warp 1 (K1) has passed line 171 (4th time)"
// Lines of `file` are named without it.
std::string hold_words(const schedule::Hold& hold, Names& names, std::string_view file = {});
std::string_view fate_words(schedule::HoldFate fate);

// "`out`: 12 of 1,024 words change, first [5] 1.25 -> 7"
std::string change_words(const prove::ChangedOutput& changed, Names& names);

// Why there is no witness.
std::string unshown_words(const prove::RaceFinding& finding);
std::string_view unshown_name(prove::Unshown unshown);

std::string_view plain_error_words(diagnose::RuleId rule);
std::string_view fault_rule(const machine::Fault& fault);  // id of a rule, or empty
std::string fault_words(const machine::Fault& fault, Names& names);
std::string waiting_words(const machine::Waiting& waiting, Names& names);

std::string not_analysed_words(const prove::Answer& answer, Names& names);

}  // namespace lw::report
