#pragma once
// The verdict on a case: what one run, and the runs made to tell its findings, say together.

#include <optional>
#include <string>
#include <vector>

#include "program/influence.h"
#include "prove/contents.h"
#include "prove/finding.h"
#include "prove/run.h"

namespace lw::prove {

enum class Outcome : uint8_t { clean, race, error, deadlock, not_analysed };

// For which schedules the outcome is known.
enum class Extent : uint8_t { all_schedules, this_matching, sampled };

struct Verdict {
  Outcome outcome = Outcome::clean;
  Extent extent = Extent::all_schedules;
  uint32_t schedules = 1;  // sampled: how many were run
};

// Reads of bytes that nobody wrote decide about outputs: two runs with other bytes there differ.
struct PoisonFinding {
  order::Unwritten read;  // the first such read
  std::vector<ChangedOutput> changed;
  bool in_all_schedules = true;
};

// All that the report tells.
struct Answer {
  Run run;  // the plain one, or the first of the others that finds something; it names everything
  std::vector<program::Influence> influences;  // values made by the schedule that matter
  std::vector<RaceFinding> races;              // counted tiers
  std::vector<RaceFinding> notes;
  std::optional<PoisonFinding> poison;
  // No run with other bytes in unwritten memory was needed: races explain all reads of such bytes.
  bool races_explain_unwritten = false;
  std::optional<FaultDoubt> fault_doubt;  // where an error ended the run
  bool fault_in_all_schedules = false;
  std::vector<schedule::Hold> replayed;  // holds the user asked for; fates are in `run`
  std::vector<schedule::Hold> added;     // holds of `run` beside those
  std::optional<uint64_t> sampled_seed;  // `run` is by the random schedule of this seed
  // What those holds change against a run without them.
  std::optional<std::vector<ChangedOutput>> replay_changes;
  Verdict verdict;
  ContentsReach contents;  // of a clean verdict for all schedules
};

struct JudgeOptions {
  bool strict = false;
  bool witness = true;
};

// The runs that follow the plain one, as far as they are needed, and the verdict.
Answer judge(const casefile::Inputs& inputs, const RunPlan& plan, Run plain,
             const JudgeOptions& options);

std::string verdict_text(const Verdict& verdict);

// The exit code of design section 3.3; `require_all_schedules` turns weaker cleans into 1.
int exit_code(const Verdict& verdict, bool require_all_schedules);

}  // namespace lw::prove
