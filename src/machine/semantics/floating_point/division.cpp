// PTX: Floating-Point Instructions: div, rcp and sqrt of f32 and f64, correctly rounded.
//
// The FloatMode stands in `detail`. div.rn.f32 is common enough to have a function for the whole
// warp.

#include <bit>

#include "arith/float32.h"
#include "arith/float64.h"
#include "arith/warp.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/floating_point/modes.h"
#include "machine/semantics/whole_warp.h"

namespace lw::machine {
namespace {

using arith::FloatMode;

template <class Float>
using Bits = std::conditional_t<sizeof(Float) == 8, uint64_t, uint32_t>;

template <class Float>
Float value(const Warp& warp, Slot slot, int lane) {
  return std::bit_cast<Float>(warp.lanes<Bits<Float>>(slot)[lane]);
}

// d = function(a, b, mode), or of a alone.
template <class Float, int operands, auto function>
void run(const Op& op, Warp& warp) {
  const FloatMode mode = decode_mode(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    Float r;
    if constexpr (operands == 2)
      r = function(value<Float>(warp, op.a, lane), value<Float>(warp, op.b, lane), mode);
    else
      r = function(value<Float>(warp, op.a, lane), mode);
    warp.lanes<Bits<Float>>(op.d)[lane] = std::bit_cast<Bits<Float>>(r);
  });
}

float div(float a, float b, FloatMode mode) { return arith::div(a, b, mode); }
float rcp(float a, FloatMode mode) { return arith::rcp(a, mode); }
float sqrt(float a, FloatMode mode) { return arith::sqrt(a, mode); }
double div(double a, double b, FloatMode mode) { return arith::div_f64(a, b, mode.rounding); }
double rcp(double a, FloatMode mode) { return arith::div_f64(1.0, a, mode.rounding); }
double sqrt(double a, FloatMode mode) { return arith::sqrt_f64(a, mode.rounding); }

using Unary32 = float (*)(float, FloatMode);
using Binary32 = float (*)(float, float, FloatMode);
using Unary64 = double (*)(double, FloatMode);
using Binary64 = double (*)(double, double, FloatMode);

void emit_binary(Decoder& decoder, Handlers handlers) {
  decoder.emit(handlers, decoder.result(0), decoder.source(1), decoder.source(2)).detail =
      encode_mode(float_mode(decoder));
}
void emit_unary(Decoder& decoder, Handlers handlers) {
  decoder.emit(handlers, decoder.result(0), decoder.source(1)).detail =
      encode_mode(float_mode(decoder));
}

}  // namespace

void bind_div_f32(Decoder& decoder) {
  const FloatMode mode = float_mode(decoder);
  if (mode.rounding != arith::Rounding::kNearestEven)
    return emit_binary(decoder, plain_handlers<run<float, 2, Binary32{div}>>);
  emit_binary(decoder,
              mode.ftz ? whole_warp<arith::warp_div_ftz, 2> : whole_warp<arith::warp_div, 2>);
}
void bind_rcp_f32(Decoder& decoder) {
  emit_unary(decoder, plain_handlers<run<float, 1, Unary32{rcp}>>);
}
void bind_sqrt_f32(Decoder& decoder) {
  emit_unary(decoder, plain_handlers<run<float, 1, Unary32{sqrt}>>);
}
void bind_div_f64(Decoder& decoder) {
  emit_binary(decoder, plain_handlers<run<double, 2, Binary64{div}>>);
}
void bind_rcp_f64(Decoder& decoder) {
  emit_unary(decoder, plain_handlers<run<double, 1, Unary64{rcp}>>);
}
void bind_sqrt_f64(Decoder& decoder) {
  emit_unary(decoder, plain_handlers<run<double, 1, Unary64{sqrt}>>);
}

}  // namespace lw::machine
