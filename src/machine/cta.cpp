#include "machine/cta.h"

#include "machine/machine.h"

namespace lw::machine {

void Cta::set_ready(base::WarpId warp) {
  if (ready == 0) machine->count_ready(+1);
  ready |= 1u << warp.value;
}

void Cta::clear_ready(base::WarpId warp) {
  if (ready == 0) return;
  ready &= ~(1u << warp.value);
  if (ready == 0) machine->count_ready(-1);
}

bool Cta::wake(Wait::Kind kind, uint64_t object) {
  bool any = false;
  for (Warp& warp : warps)
    if (!warp.parked.empty() && warp.wake(kind, object)) any = true;
  return any;
}

}  // namespace lw::machine
