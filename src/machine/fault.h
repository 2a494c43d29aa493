#pragma once
// A plain error of the kernel that the machine meets while it runs (rule book 15), as data. The
// report turns ids into lines and names.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/ids.h"
#include "diagnose/rules.h"
#include "machine/wait.h"

namespace lw::machine {

enum class FaultKind : uint8_t {
  out_of_bounds,  // address outside every buffer or window
  misaligned,
  trap,
  assertion,             // text: what __assertfail was given
  barrier_misuse,        // E-9, E-11
  divergent_aligned,     // E-10: an `.aligned` instruction without all lanes of the warp
  wrong_mask,            // E-10: caller outside the member mask, or a lane of it has exited
  mbarrier_misuse,       // E-1..E-8
  group_misuse,          // commit and wait groups
  bulk_misuse,           // E-14
  tensor_map_invalid,    // E-15
  register_misuse,       // E-17
  tensor_memory_misuse,  // E-13
  peer_misuse,           // E-12
  peer_ended,            // E-12: what is reached for is gone; the schedule has a part in it
  deadlock,              // E-21
  livelock,              // E-22
  never_written,         // E-20: two poisons gave different outputs
};

// One waiting group of lanes, for deadlock and livelock.
struct Waiting {
  base::CtaId cta;
  base::WarpId warp;
  base::LaneMask lanes = 0;
  Wait wait;
  std::string what;  // what it waits for and what is missing, in words
};

struct Fault {
  FaultKind kind{};
  diagnose::RuleId rule = diagnose::RuleId::kNone;  // where the kind alone does not say it
  base::OpId instruction;
  base::CtaId cta;
  base::WarpId warp;
  base::LaneMask lanes = 0;  // that did it
  base::LaneId lane;         // the first of them
  // The state of this barrier, and not the thread alone, makes it an error.
  std::optional<base::BarrierId> barrier;
  bool has_address = false;
  uint64_t address = 0;  // as the instruction had it
  uint32_t size_bytes = 0;
  std::string text;              // the observation: lower case, no full stop
  std::vector<Waiting> waiting;  // deadlock, livelock
};

// A reached instruction that is not modelled, or a budget used up.
struct NotAnalysed {
  enum class Kind : uint8_t { form, steps, time, memory } kind = Kind::form;
  base::OpId instruction;
  std::string reason;
};

}  // namespace lw::machine
