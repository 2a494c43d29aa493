// PTX: Floating-Point Instructions: the `.approx` forms (div, rcp, sqrt, rsqrt, sin, cos, lg2, ex2,
// tanh) and div.full.
//
// arith/mufu.h computes them bit for bit, the f32 functions of one operand on a whole warp at once.

#include <bit>

#include "arith/mufu.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/whole_warp.h"

namespace lw::machine {
namespace {

using ptx::Mod;

// d = function(a, b, .ftz)
template <auto function>
void run_division(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    const auto a = std::bit_cast<float>(warp.lanes<uint32_t>(op.a)[lane]);
    const auto b = std::bit_cast<float>(warp.lanes<uint32_t>(op.b)[lane]);
    warp.lanes<uint32_t>(op.d)[lane] = std::bit_cast<uint32_t>(function(a, b, op.detail != 0));
  });
}

template <auto function>
void run_f64(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    const auto a = std::bit_cast<double>(warp.lanes<uint64_t>(op.a)[lane]);
    warp.lanes<uint64_t>(op.d)[lane] = std::bit_cast<uint64_t>(function(a));
  });
}

template <auto plain, auto flushing>
void bind_unit(Decoder& decoder) {
  emit_2(decoder, decoder.has(Mod::ftz) ? whole_warp<flushing, 1> : whole_warp<plain, 1>);
}

}  // namespace

void bind_div_approx(Decoder& decoder) {
  Op& op = decoder.emit(decoder.has(Mod::full) ? plain_handlers<run_division<arith::div_full>>
                                               : plain_handlers<run_division<arith::div_approx>>,
                        decoder.result(0), decoder.source(1), decoder.source(2));
  op.detail = decoder.has(Mod::ftz);
}

void bind_rcp_approx(Decoder& decoder) {
  bind_unit<arith::warp_rcp_approx, arith::warp_rcp_approx_ftz>(decoder);
}
void bind_sqrt_approx(Decoder& decoder) {
  bind_unit<arith::warp_sqrt_approx, arith::warp_sqrt_approx_ftz>(decoder);
}
void bind_rsqrt_approx(Decoder& decoder) {
  bind_unit<arith::warp_rsqrt_approx, arith::warp_rsqrt_approx_ftz>(decoder);
}
void bind_lg2(Decoder& decoder) {
  bind_unit<arith::warp_lg2_approx, arith::warp_lg2_approx_ftz>(decoder);
}
void bind_ex2(Decoder& decoder) {
  bind_unit<arith::warp_ex2_approx, arith::warp_ex2_approx_ftz>(decoder);
}
// Flushing makes no difference to these.
void bind_sin(Decoder& decoder) { emit_2(decoder, whole_warp<arith::warp_sin_approx, 1>); }
void bind_cos(Decoder& decoder) { emit_2(decoder, whole_warp<arith::warp_cos_approx, 1>); }
void bind_tanh(Decoder& decoder) { emit_2(decoder, whole_warp<arith::warp_tanh_approx, 1>); }

void bind_rcp_approx_f64(Decoder& decoder) {
  emit_2(decoder, plain_handlers<run_f64<arith::rcp_approx_ftz_f64>>);
}
void bind_rsqrt_approx_f64(Decoder& decoder) {
  emit_2(decoder, decoder.has(Mod::ftz) ? plain_handlers<run_f64<arith::rsqrt_approx_ftz_f64>>
                                        : plain_handlers<run_f64<arith::rsqrt_approx_f64>>);
}

}  // namespace lw::machine
