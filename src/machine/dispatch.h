#pragma once
// How one handler goes on to the next: the only place that knows.
//
// Where the compiler makes sibling calls, a handler ends in a jump to the next one (threaded code:
// no loop, no return). Where it does not (-O0, sanitizers) it returns and `run_from` calls the
// next. A handler ends in exactly one of
//
//   return next<mode>(op, registers, warp);        the following Op, the running lanes unchanged
//   return go<mode>(target, registers, warp);      another Op, the running lanes unchanged
//   return go_on(target, registers, warp);         the running lanes may have changed, or `target`
//                                                  is a place where other lanes may wait
//   return stop(warp);                             the lanes are parked, or the run has ended
//
// A handler with arrays of its own must keep them in a function it calls: locals whose address
// escapes forbid a sibling call. Most handlers are made by the templates at the end.

#include "machine/warp.h"
#include "program/op.h"

#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define LW_TAIL_CALLS 1
#else
#define LW_TAIL_CALLS 0
#endif
#define LW_ALWAYS_INLINE [[gnu::always_inline]] inline
#define LW_LAMBDA_INLINE __attribute__((always_inline))

namespace lw::machine {

using program::Handlers;

inline constexpr bool kTailCalls = LW_TAIL_CALLS;
enum class Mode : bool { full, masked };

template <Mode mode>
LW_ALWAYS_INLINE void go(const Op* op, std::byte* registers, Warp& warp) {
  if constexpr (kTailCalls) {
    if constexpr (mode == Mode::full) return op->full(op, registers, warp);
    return op->masked(op, registers, warp);
  }
  warp.at = op;
}

template <Mode mode>
LW_ALWAYS_INLINE void next(const Op* op, std::byte* registers, Warp& warp) {
  return go<mode>(op + 1, registers, warp);
}

LW_ALWAYS_INLINE void go_on(const Op* op, std::byte* registers, Warp& warp) {
  if (op >= warp.join_at) [[unlikely]]
    op = warp.rejoin(op);
  if (warp.is_full()) return go<Mode::full>(op, registers, warp);
  return go<Mode::masked>(op, registers, warp);
}

LW_ALWAYS_INLINE void stop(Warp& warp) { warp.stopped = true; }

// An instruction that works on the active lanes and goes on: `body(op, warp)`.
template <void (*body)(const Op&, Warp&), Mode mode>
void run_plain(const Op* op, std::byte* registers, Warp& warp) {
  body(*op, warp);
  if (warp.stopped) [[unlikely]]
    return;
  return next<mode>(op, registers, warp);
}
template <void (*body)(const Op&, Warp&)>
inline constexpr Handlers plain_handlers{&run_plain<body, Mode::full>,
                                         &run_plain<body, Mode::masked>};

// An `.aligned` instruction: as above, but Warp::require_aligned may park the lanes.
template <void (*body)(const Op&, Warp&)>
inline constexpr Handlers aligned_handlers{&run_plain<body, Mode::full>,
                                           &run_plain<body, Mode::masked>, true};

// An instruction that may change or park the running lanes: `body` returns the Op to go on with, or
// null if the lanes were parked or the run has ended. To wait: `warp.block(resume, wait)`, then
// return null.
template <const Op* (*body)(const Op&, Warp&)>
void run_control(const Op* op, std::byte* registers, Warp& warp) {
  const Op* target = body(*op, warp);
  if (target == nullptr) return stop(warp);
  return go_on(target, registers, warp);
}
template <const Op* (*body)(const Op&, Warp&)>
inline constexpr Handlers control_handlers{&run_control<body>, &run_control<body>, true};

}  // namespace lw::machine
