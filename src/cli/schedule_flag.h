#pragma once
// --schedule steady | random:SEED | late:WHO | late:HOLDS
//
// WHO is a list of warps that run only when nothing else can: `0.3` (warp 3 of CTA 0), `3` (warp 3
// of every CTA), or a role of the case. HOLDS are those of --replay.

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "casefile/case.h"
#include "diagnose/diagnostic.h"
#include "prove/run.h"

namespace lw::cli {

struct ScheduleFlag {
  prove::Schedule schedule;
  std::vector<schedule::Hold> holds;
};

std::optional<ScheduleFlag> parse_schedule(const std::string& text, const casefile::Case& parts,
                                           std::span<const program::Place> places,
                                           diagnose::Emitter& emitter);

}  // namespace lw::cli
