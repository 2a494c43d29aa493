// PTX: Miscellaneous Instructions: trap, brkpt, nanosleep, pmevent.
//
// `brkpt` stops a thread for a debugger; where none is attached the driver ends the kernel with an
// error, as for `trap`. `nanosleep` promises no duration: the lanes let others run. `pmevent` only
// counts.

#include "machine/dispatch.h"
#include "machine/semantics/bind.h"

namespace lw::machine {
namespace {

void run_trap(const Op& op, Warp& warp) {
  warp.fail(op, FaultKind::trap, "the kernel executes a trap");
}
void run_brkpt(const Op& op, Warp& warp) {
  warp.fail(op, FaultKind::trap, "the kernel executes a breakpoint");
}

const Op* run_nanosleep(const Op& op, Warp& warp) {
  warp.yield(&op + 1, TurnEnd::quantum);
  return nullptr;
}

}  // namespace

void bind_trap(Decoder& decoder) { decoder.emit(plain_handlers<run_trap>); }
void bind_brkpt(Decoder& decoder) { decoder.emit(plain_handlers<run_brkpt>); }
void bind_nanosleep(Decoder& decoder) { decoder.emit(control_handlers<run_nanosleep>); }
void bind_pmevent(Decoder&) {}
void bind_pmevent_mask(Decoder&) {}

}  // namespace lw::machine
