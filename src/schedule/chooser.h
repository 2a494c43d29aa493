#pragma once
// Who runs next, apart from holds. One turn at a time; the same state and seed give the same
// answer.

#include <memory>
#include <vector>

#include "machine/machine.h"
#include "schedule/holds.h"

namespace lw::schedule {

class Chooser {
 public:
  virtual ~Chooser() = default;
  // An empty choice: nothing that may run can.
  virtual machine::Choice choose(machine::Machine& machine, Holds& holds) = 0;
};

// A warp of some CTA, or of every CTA.
struct WarpName {
  bool every_cta = true;
  base::CtaId cta;
  base::WarpId warp;
};

// All warps at one pace, asynchronous operations at once. `late` warps run only when nothing else
// can.
std::unique_ptr<Chooser> steady(std::vector<WarpName> late = {});

// Anything that can run, with turns of random length.
std::unique_ptr<Chooser> random_order(uint64_t seed);

}  // namespace lw::schedule
