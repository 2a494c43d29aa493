// The special-function unit over a warp: plain loops that the compiler turns into vectors.

#include "arith/mufu_unit.h"

namespace lw::arith::LW_SIMD_NAMESPACE {

template <uint32_t (*kFunction)(uint32_t)>
static inline void each_lane(const uint32_t* in, uint32_t* out) {
  uint32_t operands[32];
  uint32_t results[32];
  for (int lane = 0; lane < 32; ++lane) operands[lane] = in[lane];
  for (int lane = 0; lane < 32; ++lane) results[lane] = kFunction(operands[lane]);
  for (int lane = 0; lane < 32; ++lane) out[lane] = results[lane];
}

#define LW_WARP_UNIT(name, function) \
  void name(const uint32_t* in, uint32_t* out) { each_lane<function>(in, out); }
#include "arith/mufu_warp.def"
#undef LW_WARP_UNIT

}  // namespace lw::arith::LW_SIMD_NAMESPACE
