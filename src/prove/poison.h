#pragma once
// Reads of bytes that nobody wrote (rule book M-17, E-20). They are harmless while what they read
// never matters; so, only when such a read was seen, the case runs a second time with other bytes
// in fresh shared memory and unwritten buffers, and differing outputs are the error.

#include <optional>

#include "prove/judge.h"

namespace lw::prove {

std::optional<PoisonFinding> find_poison(const casefile::Inputs& inputs, const RunPlan& plan,
                                         const Run& plain);

}  // namespace lw::prove
