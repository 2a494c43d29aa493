// PTX: Half Precision Floating-Point Instructions: add, sub, mul, fma, neg, abs, min, max, tanh,
// ex2. (Comparisons are in comparison/setp.cpp, add, sub, fma of f32 with halves in mixed.cpp.)
//
// Without modifiers add, sub, mul and fma have functions for a whole warp of pairs; a single half
// in a 32-bit slot is a pair whose upper half is zero and stays so. Everything else walks over the
// lanes.

#include "arith/half.h"
#include "arith/mufu.h"
#include "arith/warp.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/whole_warp.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;
using Half = uint16_t;

// --- modifiers, in `detail` ---

constexpr uint16_t kFtz = 1;
constexpr uint16_t kSat = 2;
constexpr uint16_t kRelu = 4;
constexpr uint16_t kNan = 8;
constexpr uint16_t kXorSign = 16;
constexpr uint16_t kPair = 32;

struct Modes {
  arith::HalfMode arithmetic;
  arith::HalfMinMaxMode order;
};

uint16_t encode_modes(const Decoder& decoder) {
  const bool pair = ptx::kind_of(decoder.type()) == ptx::TypeKind::packed;
  return static_cast<uint16_t>(
      (decoder.has(Mod::ftz) ? kFtz : 0) | (decoder.has(Mod::sat) ? kSat : 0) |
      (decoder.has(Mod::relu) ? kRelu : 0) | (decoder.has(Mod::NaN) ? kNan : 0) |
      (decoder.has(Mod::xorsign) ? kXorSign : 0) | (pair ? kPair : 0));
}

Modes decode_modes(uint16_t detail) {
  const bool ftz = detail & kFtz;
  return {{ftz, (detail & kSat) != 0, (detail & kRelu) != 0},
          {ftz, (detail & kNan) != 0, (detail & kXorSign) != 0}};
}

bool is_bf16(const Decoder& decoder) { return ptx::element_of(decoder.type()) == Type::bf16; }

// --- handlers ---

// d = function(a, b, c, modes) of each half, as many operands as stated.
template <int operands, auto function>
void run_lanes(const Op& op, Warp& warp) {
  const Modes modes = decode_modes(op.detail);
  const auto one = [&](auto... halves) -> Half { return function(halves..., modes); };
  const auto both = [&](auto... words) {
    return op.detail & kPair ? arith::each_half(one, words...)
                             : uint32_t{one(static_cast<Half>(words)...)};
  };
  const uint32_t* a = warp.lanes<uint32_t>(op.a);
  const uint32_t* b = warp.lanes<uint32_t>(op.b);
  const uint32_t* c = warp.lanes<uint32_t>(op.c);
  uint32_t* d = warp.lanes<uint32_t>(op.d);
  for_each_lane(warp.active, [&](int lane) {
    if constexpr (operands == 1) d[lane] = both(a[lane]);
    if constexpr (operands == 2) d[lane] = both(a[lane], b[lane]);
    if constexpr (operands == 3) d[lane] = both(a[lane], b[lane], c[lane]);
  });
}

// --- binding ---

template <int operands>
void emit(Decoder& decoder, Handlers handlers) {
  const Slot d = decoder.result(0);
  const Slot a = decoder.source(1);
  const Slot b = operands > 1 ? decoder.source(2) : Slot{};
  const Slot c = operands > 2 ? decoder.source(3) : Slot{};
  decoder.emit(handlers, d, a, b, c).detail = encode_modes(decoder);
}

template <int operands, auto function>
void bind(Decoder& decoder) {
  emit<operands>(decoder, plain_handlers<run_lanes<operands, function>>);
}

// `warp` does the same for a whole warp where there is no modifier.
template <int operands, auto warp, auto function>
void bind_fast(Decoder& decoder) {
  if ((encode_modes(decoder) & ~kPair) != 0) return bind<operands, function>(decoder);
  emit<operands>(decoder, whole_warp<warp, operands>);
}

constexpr auto kAddF16 = [](Half a, Half b, Modes m) { return arith::add_f16(a, b, m.arithmetic); };
constexpr auto kSubF16 = [](Half a, Half b, Modes m) { return arith::sub_f16(a, b, m.arithmetic); };
constexpr auto kMulF16 = [](Half a, Half b, Modes m) { return arith::mul_f16(a, b, m.arithmetic); };
constexpr auto kFmaF16 = [](Half a, Half b, Half c, Modes m) {
  return arith::fma_f16(a, b, c, m.arithmetic);
};
constexpr auto kFmaOobF16 = [](Half a, Half b, Half c, Modes m) {
  return arith::fma_oob_f16(a, b, c, m.arithmetic);
};
constexpr auto kAddBf16 = [](Half a, Half b, Modes m) {
  return arith::add_bf16(a, b, m.arithmetic);
};
constexpr auto kSubBf16 = [](Half a, Half b, Modes m) {
  return arith::sub_bf16(a, b, m.arithmetic);
};
constexpr auto kMulBf16 = [](Half a, Half b, Modes m) {
  return arith::mul_bf16(a, b, m.arithmetic);
};
constexpr auto kFmaBf16 = [](Half a, Half b, Half c, Modes m) {
  return arith::fma_bf16(a, b, c, m.arithmetic);
};
constexpr auto kFmaOobBf16 = [](Half a, Half b, Half c, Modes m) {
  return arith::fma_oob_bf16(a, b, c, m.arithmetic);
};
constexpr auto kMinF16 = [](Half a, Half b, Modes m) { return arith::min_f16(a, b, m.order); };
constexpr auto kMaxF16 = [](Half a, Half b, Modes m) { return arith::max_f16(a, b, m.order); };
constexpr auto kMinBf16 = [](Half a, Half b, Modes m) { return arith::min_bf16(a, b, m.order); };
constexpr auto kMaxBf16 = [](Half a, Half b, Modes m) { return arith::max_bf16(a, b, m.order); };
constexpr auto kNegF16 = [](Half a, Modes m) { return arith::neg_f16(a, m.arithmetic.ftz); };
constexpr auto kAbsF16 = [](Half a, Modes m) { return arith::abs_f16(a, m.arithmetic.ftz); };
constexpr auto kNegBf16 = [](Half a, Modes) { return arith::neg_bf16(a); };
constexpr auto kAbsBf16 = [](Half a, Modes) { return arith::abs_bf16(a); };
constexpr auto kTanhF16 = [](Half a, Modes) { return arith::tanh_approx_f16(a); };
constexpr auto kTanhBf16 = [](Half a, Modes) { return arith::tanh_approx_bf16(a); };
constexpr auto kEx2F16 = [](Half a, Modes) { return arith::ex2_approx_f16(a); };
constexpr auto kEx2Bf16 = [](Half a, Modes) { return arith::ex2_approx_ftz_bf16(a); };

}  // namespace

void bind_add_f16(Decoder& decoder) { bind_fast<2, arith::warp_add_f16x2, kAddF16>(decoder); }
void bind_sub_f16(Decoder& decoder) { bind_fast<2, arith::warp_sub_f16x2, kSubF16>(decoder); }
void bind_mul_f16(Decoder& decoder) { bind_fast<2, arith::warp_mul_f16x2, kMulF16>(decoder); }
void bind_fma_f16(Decoder& decoder) { bind_fast<3, arith::warp_fma_f16x2, kFmaF16>(decoder); }
void bind_fma_f16_relu(Decoder& decoder) { bind<3, kFmaF16>(decoder); }
void bind_add_bf16(Decoder& decoder) { bind_fast<2, arith::warp_add_bf16x2, kAddBf16>(decoder); }
void bind_sub_bf16(Decoder& decoder) { bind_fast<2, arith::warp_sub_bf16x2, kSubBf16>(decoder); }
void bind_mul_bf16(Decoder& decoder) { bind_fast<2, arith::warp_mul_bf16x2, kMulBf16>(decoder); }
void bind_fma_bf16(Decoder& decoder) { bind_fast<3, arith::warp_fma_bf16x2, kFmaBf16>(decoder); }
void bind_fma_oob(Decoder& decoder) {
  return is_bf16(decoder) ? bind<3, kFmaOobBf16>(decoder) : bind<3, kFmaOobF16>(decoder);
}

void bind_min_f16(Decoder& decoder) { bind<2, kMinF16>(decoder); }
void bind_max_f16(Decoder& decoder) { bind<2, kMaxF16>(decoder); }
void bind_min_bf16(Decoder& decoder) { bind<2, kMinBf16>(decoder); }
void bind_max_bf16(Decoder& decoder) { bind<2, kMaxBf16>(decoder); }
void bind_neg_f16(Decoder& decoder) { bind<1, kNegF16>(decoder); }
void bind_abs_f16(Decoder& decoder) { bind<1, kAbsF16>(decoder); }
void bind_neg_bf16(Decoder& decoder) { bind<1, kNegBf16>(decoder); }
void bind_abs_bf16(Decoder& decoder) { bind<1, kAbsBf16>(decoder); }

void bind_tanh_half(Decoder& decoder) {
  return is_bf16(decoder) ? bind<1, kTanhBf16>(decoder) : bind<1, kTanhF16>(decoder);
}
void bind_ex2_f16(Decoder& decoder) { bind<1, kEx2F16>(decoder); }
void bind_ex2_bf16(Decoder& decoder) { bind<1, kEx2Bf16>(decoder); }

}  // namespace lw::machine
