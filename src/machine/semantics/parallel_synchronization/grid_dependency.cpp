// griddepcontrol (PTX: Parallel Synchronization and Communication Instructions, griddepcontrol).
//
// In a launch that is not programmatic everything before it in the stream is complete and ordered
// before it: nothing to wait for. What a programmatic launch orders (rules G-3 to G-5) the order
// engine is not told yet, so such a launch is not analysed where it asks.

#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/launch.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"

namespace lw::machine {
namespace {

void run_wait(const Op& op, Warp& warp) {
  if (warp.cta->launch->request.programmatic)
    warp.not_analysed(op, "the order of programmatic dependent launches");
}

// Whether a launch of the same stream waits for this one's permission.
bool has_programmatic_successor(const Machine& machine, const Launch& launch) {
  for (const auto& other : machine.launches())
    if (other->id > launch.id && other->request.stream == launch.request.stream)
      return other->request.programmatic;
  return false;
}

void run_launch_dependents(const Op& op, Warp& warp) {
  if (has_programmatic_successor(*warp.machine, *warp.cta->launch))
    warp.not_analysed(op, "the order of programmatic dependent launches");
}

}  // namespace

void bind_griddepcontrol_wait(Decoder& decoder) { decoder.emit(plain_handlers<run_wait>); }
void bind_griddepcontrol_launch_dependents(Decoder& decoder) {
  decoder.emit(plain_handlers<run_launch_dependents>);
}

}  // namespace lw::machine
