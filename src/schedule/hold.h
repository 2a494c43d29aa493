#pragma once
// A hold: "agent A waits before this until agent B has done that". One hold is a schedule that
// shows a race; `--replay` takes it from the command line.
//
//   hold 0.3@fused.ptx:1432#3 until 0.1@fused.ptx:1211#4
//   hold 0.3@fused.cu:212#3 until 0.26@fused.cu:99#2.write
//
// A point is cta.warp[.lane]@file:line[/k]#n[.read|.write]. CTAs are numbered over the whole run,
// executions of the instruction by that warp from 1. The file is the PTX or, so that a hold lives
// on in another build of the same source, a source file; a source line is several instructions, and
// k (from 1) says which of those that touch memory, or of all where none does. `.read` and `.write`
// mean that milestone of the asynchronous operation which the execution issued. `until` may say
// `#next`: the first execution after the hold was reached.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/ids.h"
#include "diagnose/diagnostic.h"
#include "program/program.h"

namespace lw::schedule {

enum class Moment : uint8_t { execution, read_done, write_done };

inline constexpr uint64_t kNext = 0;  // as Point::n of Hold::until

struct Point {
  base::CtaId cta;
  base::WarpId warp;
  base::LaneMask lanes = base::kAllLanes;
  base::OpId instruction;
  uint64_t n = 1;
  Moment moment = Moment::execution;
  friend bool operator==(const Point&, const Point&) = default;
};

struct Hold {
  Point held;
  Point until;
  bool for_good = false;  // never let go: `until` is nothing
};

// Reads holds, separated by `;`. `places` is the run's table of instructions.
std::optional<std::vector<Hold>> parse_holds(const std::string& text,
                                             std::span<const program::Place> places,
                                             diagnose::Emitter& emitter);

std::string hold_text(const Hold& hold, std::span<const program::Place> places);
// The same by source lines; empty where an instruction has none.
std::string hold_source_text(const Hold& hold, std::span<const program::Place> places);

}  // namespace lw::schedule
