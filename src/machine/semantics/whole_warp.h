#pragma once
// Handlers made from a function on a whole warp (arith/warp.h, arith/mufu.h): `whole_warp<function,
// operands>`. The function computes all 32 lanes; a masked handler keeps those that run.

#include "machine/each_lane.h"
#include "machine/semantics/lanes.h"

namespace lw::machine {

template <Mode mode, auto function, int operands>
void run_whole_warp(const Op* op, std::byte* registers, Warp& warp) {
  const uint32_t* a = once::lanes_at<uint32_t>(registers, op->a);
  const uint32_t* b = once::lanes_at<uint32_t>(registers, op->b);
  const uint32_t* c = once::lanes_at<uint32_t>(registers, op->c);
  uint32_t* d = once::lanes_at<uint32_t>(registers, op->d);
  uint32_t* result = mode == Mode::full ? d : warp.scratch;
  if constexpr (operands == 1) function(a, result);
  if constexpr (operands == 2) function(a, b, result);
  if constexpr (operands == 3) function(a, b, c, result);
  if constexpr (mode == Mode::masked)
    for_each_lane(warp.active, [&](int lane) { d[lane] = result[lane]; });
  return next<mode>(op, registers, warp);
}

template <auto function, int operands>
inline constexpr Handlers whole_warp{&run_whole_warp<Mode::full, function, operands>,
                                     &run_whole_warp<Mode::masked, function, operands>};

}  // namespace lw::machine
