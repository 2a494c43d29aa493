#include "machine/dispatch.h"

namespace lw::machine {

void run_from(const Op* op, Warp& warp) {
  if constexpr (kTailCalls) {
    go_on(op, warp.registers, warp);
  } else {
    warp.at = op;
    while (!warp.stopped) {
      const Op* now = warp.at;
      (warp.is_full() ? now->full : now->masked)(now, warp.registers, warp);
    }
  }
}

}  // namespace lw::machine
