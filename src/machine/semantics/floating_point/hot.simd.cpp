#include "machine/semantics/floating_point/hot.h"

#include "arith/float32.h"
#include "arith/warp.h"
#include "machine/semantics/lanes.h"

namespace lw::machine::LW_SIMD_NAMESPACE {
namespace {

struct Add {
  LW_ALWAYS_INLINE float operator()(float a, float b) const { return arith::add(a, b, {}); }
};
struct Sub {
  LW_ALWAYS_INLINE float operator()(float a, float b) const { return arith::sub(a, b, {}); }
};
struct Mul {
  LW_ALWAYS_INLINE float operator()(float a, float b) const { return arith::mul(a, b, {}); }
};
struct Fma {
  LW_ALWAYS_INLINE float operator()(float a, float b, float c) const {
    return arith::fma(a, b, c, {});
  }
};
template <bool ftz>
struct Min {
  LW_ALWAYS_INLINE float operator()(float a, float b) const {
    return arith::min(a, b, {.ftz = ftz});
  }
};
template <bool ftz>
struct Max {
  LW_ALWAYS_INLINE float operator()(float a, float b) const {
    return arith::max(a, b, {.ftz = ftz});
  }
};
template <bool ftz>
struct Neg {
  LW_ALWAYS_INLINE float operator()(float a) const { return arith::neg(a, ftz); }
};
template <bool ftz>
struct Abs {
  LW_ALWAYS_INLINE float operator()(float a) const { return arith::abs(a, ftz); }
};

template <class Function>
constexpr Handlers kUnary = elementwise<Function, float, float>;
template <class Function>
constexpr Handlers kBinary = elementwise<Function, float, float, float>;

// A function of arith on a whole warp. It computes all lanes; a masked handler keeps some.
template <Mode mode, auto function, int operands>
void whole_warp(const Op* op, std::byte* registers, Warp& warp) {
  const uint32_t* a = lanes_at<uint32_t>(registers, op->a);
  const uint32_t* b = lanes_at<uint32_t>(registers, op->b);
  uint32_t* d = lanes_at<uint32_t>(registers, op->d);
  uint32_t* result = mode == Mode::full ? d : warp.scratch;
  if constexpr (operands == 2) {
    function(a, b, result);
  } else {
    function(a, b, lanes_at<uint32_t>(registers, op->c), result);
  }
  if constexpr (mode == Mode::masked)
    write_lanes<mode, uint32_t>(d, warp.active,
                                [&](int lane) LW_LAMBDA_INLINE { return result[lane]; });
  return next<mode>(op, registers, warp);
}
template <auto function, int operands>
constexpr Handlers kWhole{&whole_warp<Mode::full, function, operands>,
                          &whole_warp<Mode::masked, function, operands>};

}  // namespace

Handlers hot_f32(HotFloat what, bool ftz) {
  switch (what) {
    case HotFloat::add:
      return ftz ? kWhole<arith::warp_add_ftz, 2> : kBinary<Add>;
    case HotFloat::sub:
      return ftz ? kWhole<arith::warp_sub_ftz, 2> : kBinary<Sub>;
    case HotFloat::mul:
      return ftz ? kWhole<arith::warp_mul_ftz, 2> : kBinary<Mul>;
    case HotFloat::fma:
      if (ftz) return kWhole<arith::warp_fma_ftz, 3>;
      if constexpr (kHasFma) return elementwise<Fma, float, float, float, float>;
      return kWhole<arith::warp_fma, 3>;
    case HotFloat::min:
      return ftz ? kBinary<Min<true>> : kBinary<Min<false>>;
    case HotFloat::max:
      return ftz ? kBinary<Max<true>> : kBinary<Max<false>>;
    case HotFloat::neg:
      return ftz ? kUnary<Neg<true>> : kUnary<Neg<false>>;
    case HotFloat::abs:
      return ftz ? kUnary<Abs<true>> : kUnary<Abs<false>>;
  }
  return {};
}

}  // namespace lw::machine::LW_SIMD_NAMESPACE
