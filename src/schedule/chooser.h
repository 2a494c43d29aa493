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

// Warps of some CTAs, numbered over the whole run.
struct WarpNames {
  uint32_t first_cta = 0;
  uint32_t last_cta = UINT32_MAX;
  uint32_t warps = 0;  // a bit each

  uint32_t of(base::CtaId cta) const {
    return first_cta <= cta.value && cta.value <= last_cta ? warps : 0;
  }
};

// Of the warps of the CTA that can run: those that are late, or the others.
uint32_t ready_warps(const machine::Cta& cta, const std::vector<WarpNames>& names, bool late);

// All warps at one pace, asynchronous operations at once. `late` warps run only when nothing else
// can.
std::unique_ptr<Chooser> steady(std::vector<WarpNames> late = {});

// Anything that can run, with turns of random length; `late` as above.
std::unique_ptr<Chooser> random_order(uint64_t seed, std::vector<WarpNames> late = {});

}  // namespace lw::schedule
