#pragma once
// What is told to the user, as ids: races grouped by the edge that is missing and the object it is
// missing on, errors, conditions that fail. report/ turns ids into names and lines.

#include <optional>
#include <string>
#include <vector>

#include "casefile/compare.h"
#include "machine/fault.h"
#include "order/facts.h"
#include "program/influence.h"
#include "prove/run.h"
#include "schedule/hold.h"

namespace lw::prove {

// What two accesses race on. In a dynamic shared block, which has no names inside, it is what one
// store writes.
struct Object {
  enum class Kind : uint8_t {
    unknown,
    shared_variable,
    dynamic_shared,
    buffer,
    tensor_memory
  } kind = Kind::unknown;
  uint32_t launch = 0;  // of shared and tensor memory: whose
  uint32_t index = 0;   // Program::shared, or Memory::buffers
  uint64_t begin = 0;   // first byte, as an address
  base::OpId writer;    // dynamic_shared: the instruction that writes it
  friend bool operator==(const Object&, const Object&) = default;
};

enum class Hazard : uint8_t { read_after_write, write_after_read, write_after_write };

// Two instructions that race, in the order in which one warp's own program has them.
struct RacePair {
  order::RaceGroup group;                 // as the run had them
  bool swapped = false;                   // the run had the later one first
  order::Common common;                   // the last synchronisation that both follow
  std::vector<order::SyncStep> released;  // by what came first in the run, after its access
  std::vector<order::SyncStep> acquired;  // by the other, after `common`

  const order::Party& first() const { return swapped ? group.first.later : group.first.earlier; }
  const order::Party& second() const { return swapped ? group.first.earlier : group.first.later; }
};

// A buffer that a held run leaves otherwise.
struct ChangedOutput {
  size_t buffer = 0;  // index into Case::buffers
  casefile::Difference difference;
};

// A schedule that shows a race.
struct Witness {
  schedule::Hold hold;
  casefile::Antagonist antagonist = casefile::Antagonist::none;  // beside the case in that run
  std::string replay;                                            // `hold` as --replay takes it
  std::string replay_by_source;
  schedule::HoldFate fate = schedule::HoldFate::not_reached;
  std::vector<ChangedOutput> changed;
  std::optional<machine::Fault> fault;  // the held run ends with an error that the other lacks
};

// Why an error that ended the run may not be there in all schedules (beyond.h).
struct FaultDoubt {
  std::vector<order::Unforced> unforced;
  std::vector<program::Influence> influences;
  std::optional<order::Race> race;
  bool not_followed = false;  // the others could not be followed to their end

  bool none() const { return unforced.empty() && influences.empty() && !race && !not_followed; }
};

// Why no schedule shows a race.
enum class Unshown : uint8_t {
  none,          // one does, or none was asked for
  proxy,         // the order is right; the machine has no proxies that could miss a write
  visibility,    // the order is right; the machine's memory is sequentially consistent
  same_outputs,  // turned around it leaves the outputs as they are
  alone,         // nobody can own the columns while the late load's CTA is there
};

struct RaceFinding {
  diagnose::RuleId rule = diagnose::RuleId::kNone;
  diagnose::Tier tier = diagnose::Tier::kRace;
  Hazard hazard = Hazard::read_after_write;
  Object object;
  bool in_all_schedules = true;  // some pair is there whatever the order
  bool after_race = false;       // what keeps it from that is another race alone
  std::vector<RacePair> pairs;   // the first is told in full
  order::Common common;          // the last synchronisation that both of the first pair follow
  std::optional<Witness> witness;
  uint32_t schedules_tried = 0;
  Unshown unshown = Unshown::none;
};

}  // namespace lw::prove
