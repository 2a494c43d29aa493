// griddepcontrol (PTX: Parallel Synchronization and Communication Instructions, griddepcontrol).
//
// A programmatic launch may start once every CTA of the launch before it in the stream has executed
// `launch_dependents` or ended. `wait` returns when everything before it in the stream is complete;
// what that orders (rules G-3 to G-5) is the order engine's business.

#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/launch.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

const Op* run_wait(const Op& op, Warp& warp) {
  if (!warp.machine->predecessors_finished(*warp.cta->launch)) {
    warp.block(&op, {Wait::Kind::grid_dependency, 0, 0, op.instruction});
    return nullptr;
  }
  if (warp.order) warp.order->grid_wait(*warp.order_warp, op.instruction, warp.active);
  return &op + 1;
}

void run_launch_dependents(const Op&, Warp& warp) { warp.machine->trigger_dependents(*warp.cta); }

}  // namespace

void bind_griddepcontrol_wait(Decoder& decoder) { decoder.emit(control_handlers<run_wait>); }
void bind_griddepcontrol_launch_dependents(Decoder& decoder) {
  decoder.emit(plain_handlers<run_launch_dependents>);
}

}  // namespace lw::machine
