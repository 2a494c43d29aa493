#pragma once
// Which object an address belongs to.

#include "machine/machine.h"
#include "prove/finding.h"

namespace lw::prove {

// The launch that a CTA belongs to; CTAs are numbered over all launches.
uint32_t launch_of(machine::Machine& machine, base::CtaId cta);

Object object_of(machine::Machine& machine, order::Space space, base::CtaId cta, uint64_t address);

}  // namespace lw::prove
