// PTX: Floating-Point Instructions: add, sub, mul, fma, mad, min, max, neg, abs, copysign, testp of
// f32, f32x2 and f64.
//
// Round to nearest without .sat is hot (hot.simd.cpp); every other mode is a plain loop, its
// FloatMode in `detail`.

#include "arith/float32.h"
#include "arith/float64.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/floating_point/hot.h"
#include "machine/semantics/floating_point/modes.h"
#include "machine/semantics/lanes.h"

namespace lw::machine {
namespace {

using arith::FloatMode;
using arith::MinMaxMode;
using ptx::Mod;
using ptx::Type;

float f32(const Warp& warp, Slot slot, int lane) {
  return std::bit_cast<float>(warp.lanes<uint32_t>(slot)[lane]);
}
double f64(const Warp& warp, Slot slot, int lane) {
  return std::bit_cast<double>(warp.lanes<uint64_t>(slot)[lane]);
}
void write(const Warp& warp, Slot slot, int lane, float value) {
  warp.lanes<uint32_t>(slot)[lane] = std::bit_cast<uint32_t>(value);
}
void write(const Warp& warp, Slot slot, int lane, double value) {
  warp.lanes<uint64_t>(slot)[lane] = std::bit_cast<uint64_t>(value);
}

// --- f32 and f32x2, any mode ---

float compute(HotFloat what, float a, float b, float c, FloatMode mode) {
  switch (what) {
    case HotFloat::add:
      return arith::add(a, b, mode);
    case HotFloat::sub:
      return arith::sub(a, b, mode);
    case HotFloat::mul:
      return arith::mul(a, b, mode);
    default:
      return arith::fma(a, b, c, mode);
  }
}

template <HotFloat what>
void run_f32(const Op& op, Warp& warp) {
  FloatMode mode = decode_mode(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    write(warp, op.d, lane,
          compute(what, f32(warp, op.a, lane), f32(warp, op.b, lane), f32(warp, op.c, lane), mode));
  });
}

template <HotFloat what>
void run_f32x2(const Op& op, Warp& warp) {
  FloatMode mode = decode_mode(op.detail);
  auto half = [&](Slot slot, int lane, int shift) {
    return std::bit_cast<float>(static_cast<uint32_t>(warp.lanes<uint64_t>(slot)[lane] >> shift));
  };
  for_each_lane(warp.active, [&](int lane) {
    uint64_t result = 0;
    for (int shift : {0, 32}) {
      float c = what == HotFloat::fma ? half(op.c, lane, shift) : 0.0f;
      float r = compute(what, half(op.a, lane, shift), half(op.b, lane, shift), c, mode);
      result |= uint64_t{std::bit_cast<uint32_t>(r)} << shift;
    }
    warp.lanes<uint64_t>(op.d)[lane] = result;
  });
}

bool is_hot(FloatMode mode) { return mode.rounding == arith::Rounding::kNearestEven && !mode.sat; }

template <HotFloat what>
void bind_f32(Decoder& decoder) {
  FloatMode mode = float_mode(decoder);
  Handlers handlers = is_hot(mode) ? hot_f32(what, mode.ftz) : plain_handlers<run_f32<what>>;
  Slot c = what == HotFloat::fma ? decoder.source(3) : Slot{};
  decoder.emit(handlers, decoder.result(0), decoder.source(1), decoder.source(2), c).detail =
      encode_mode(mode);
}

template <HotFloat what>
void bind_f32x2(Decoder& decoder) {
  Slot c = what == HotFloat::fma ? decoder.source(3) : Slot{};
  decoder
      .emit(plain_handlers<run_f32x2<what>>, decoder.result(0), decoder.source(1),
            decoder.source(2), c)
      .detail = encode_mode(float_mode(decoder));
}

// --- f64 ---

template <HotFloat what>
void run_f64(const Op& op, Warp& warp) {
  arith::Rounding rounding = decode_mode(op.detail).rounding;
  for_each_lane(warp.active, [&](int lane) {
    double a = f64(warp, op.a, lane);
    double b = f64(warp, op.b, lane);
    double r = 0;
    if constexpr (what == HotFloat::add) r = arith::add_f64(a, b, rounding);
    if constexpr (what == HotFloat::sub) r = arith::sub_f64(a, b, rounding);
    if constexpr (what == HotFloat::mul) r = arith::mul_f64(a, b, rounding);
    if constexpr (what == HotFloat::fma) r = arith::fma_f64(a, b, f64(warp, op.c, lane), rounding);
    if constexpr (what == HotFloat::min) r = arith::min_f64(a, b);
    if constexpr (what == HotFloat::max) r = arith::max_f64(a, b);
    write(warp, op.d, lane, r);
  });
}

template <HotFloat what>
void bind_f64(Decoder& decoder) {
  Slot c = what == HotFloat::fma ? decoder.source(3) : Slot{};
  decoder
      .emit(plain_handlers<run_f64<what>>, decoder.result(0), decoder.source(1), decoder.source(2),
            c)
      .detail = encode_mode(float_mode(decoder));
}

void run_neg_f64(const Op& op, Warp& warp) {
  for_each_lane(warp.active,
                [&](int lane) { write(warp, op.d, lane, arith::neg_f64(f64(warp, op.a, lane))); });
}
void run_abs_f64(const Op& op, Warp& warp) {
  for_each_lane(warp.active,
                [&](int lane) { write(warp, op.d, lane, arith::abs_f64(f64(warp, op.a, lane))); });
}

// --- min, max with modifiers; three operands ---

constexpr uint16_t kFtz = 1;
constexpr uint16_t kNan = 2;
constexpr uint16_t kXorSign = 4;
constexpr uint16_t kMax = 8;
constexpr uint16_t kThree = 16;
constexpr uint16_t kAbs = 32;  // of the operands: with three of them only

uint16_t min_max_detail(const Decoder& decoder, bool want_max) {
  bool three = decoder.operands().size() > 3;
  return static_cast<uint16_t>((decoder.has(Mod::ftz) ? kFtz : 0) |
                               (decoder.has(Mod::NaN) ? kNan : 0) |
                               (decoder.has(Mod::xorsign) ? kXorSign : 0) | (want_max ? kMax : 0) |
                               (three ? kThree : 0) | (three && decoder.has(Mod::abs) ? kAbs : 0));
}

void run_min_max(const Op& op, Warp& warp) {
  MinMaxMode mode{(op.detail & kFtz) != 0, (op.detail & kNan) != 0, (op.detail & kXorSign) != 0};
  bool want_max = op.detail & kMax;
  auto operand = [&](Slot slot, int lane) {
    float x = f32(warp, slot, lane);
    return op.detail & kAbs ? arith::abs(x, false) : x;
  };
  for_each_lane(warp.active, [&](int lane) {
    float r = arith::select_min_max(operand(op.a, lane), operand(op.b, lane), want_max, mode);
    if (op.detail & kThree) r = arith::select_min_max(r, operand(op.c, lane), want_max, mode);
    write(warp, op.d, lane, r);
  });
}

void bind_min_max(Decoder& decoder, bool want_max) {
  uint16_t detail = min_max_detail(decoder, want_max);
  if ((detail & ~(kFtz | kMax)) == 0)
    return emit_3(decoder, hot_f32(want_max ? HotFloat::max : HotFloat::min, detail & kFtz));
  Slot c = detail & kThree ? decoder.source(3) : Slot{};
  decoder
      .emit(plain_handlers<run_min_max>, decoder.result(0), decoder.source(1), decoder.source(2), c)
      .detail = detail;
}

// --- copysign, testp ---

template <class Float>
void run_copysign(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    if constexpr (sizeof(Float) == 8) {
      write(warp, op.d, lane, arith::copysign_f64(f64(warp, op.a, lane), f64(warp, op.b, lane)));
    } else {
      write(warp, op.d, lane, arith::copysign(f32(warp, op.a, lane), f32(warp, op.b, lane)));
    }
  });
}

struct Class {
  bool nan, infinite, subnormal, zero;
};
Class class_of(float x) {
  return {arith::is_nan(x), arith::is_infinite(x), arith::is_subnormal(x), x == 0};
}
Class class_of(double x) {
  uint64_t bits = arith::bits_of(x) & ~(uint64_t{1} << 63);
  constexpr uint64_t kInfinity = 0x7ff0000000000000u;
  return {bits > kInfinity, bits == kInfinity, bits != 0 && bits < (uint64_t{1} << 52), bits == 0};
}

bool is_in(Mod test, Class it) {
  switch (test) {
    case Mod::finite:
      return !it.nan && !it.infinite;
    case Mod::infinite:
      return it.infinite;
    case Mod::number:
      return !it.nan;
    case Mod::notanumber:
      return it.nan;
    case Mod::normal:
      return !it.nan && !it.infinite && !it.subnormal && !it.zero;
    default:
      return it.subnormal;
  }
}

void run_testp(const Op& op, Warp& warp) {
  Mod test = static_cast<Mod>(op.detail);
  LaneMask result = 0;
  for_each_lane(warp.active, [&](int lane) {
    bool holds = op.immediate == 8 ? is_in(test, class_of(f64(warp, op.a, lane)))
                                   : is_in(test, class_of(f32(warp, op.a, lane)));
    if (holds) result |= 1u << lane;
  });
  warp.set_predicate(op.d, warp.active, result);
}

}  // namespace

void bind_add_f32(Decoder& decoder) { bind_f32<HotFloat::add>(decoder); }
void bind_sub_f32(Decoder& decoder) { bind_f32<HotFloat::sub>(decoder); }
void bind_mul_f32(Decoder& decoder) { bind_f32<HotFloat::mul>(decoder); }
void bind_fma_f32(Decoder& decoder) { bind_f32<HotFloat::fma>(decoder); }
void bind_mad_f32(Decoder& decoder) { bind_f32<HotFloat::fma>(decoder); }
void bind_add_f32x2(Decoder& decoder) { bind_f32x2<HotFloat::add>(decoder); }
void bind_sub_f32x2(Decoder& decoder) { bind_f32x2<HotFloat::sub>(decoder); }
void bind_mul_f32x2(Decoder& decoder) { bind_f32x2<HotFloat::mul>(decoder); }
void bind_fma_f32x2(Decoder& decoder) { bind_f32x2<HotFloat::fma>(decoder); }
void bind_add_f64(Decoder& decoder) { bind_f64<HotFloat::add>(decoder); }
void bind_sub_f64(Decoder& decoder) { bind_f64<HotFloat::sub>(decoder); }
void bind_mul_f64(Decoder& decoder) { bind_f64<HotFloat::mul>(decoder); }
void bind_fma_f64(Decoder& decoder) { bind_f64<HotFloat::fma>(decoder); }
void bind_mad_f64(Decoder& decoder) { bind_f64<HotFloat::fma>(decoder); }
void bind_min_f64(Decoder& decoder) { bind_f64<HotFloat::min>(decoder); }
void bind_max_f64(Decoder& decoder) { bind_f64<HotFloat::max>(decoder); }
void bind_neg_f64(Decoder& decoder) { emit_2(decoder, plain_handlers<run_neg_f64>); }
void bind_abs_f64(Decoder& decoder) { emit_2(decoder, plain_handlers<run_abs_f64>); }
void bind_neg_f32(Decoder& decoder) {
  emit_2(decoder, hot_f32(HotFloat::neg, decoder.has(Mod::ftz)));
}
void bind_abs_f32(Decoder& decoder) {
  emit_2(decoder, hot_f32(HotFloat::abs, decoder.has(Mod::ftz)));
}
void bind_min_f32(Decoder& decoder) { bind_min_max(decoder, false); }
void bind_max_f32(Decoder& decoder) { bind_min_max(decoder, true); }
void bind_min3_f32(Decoder& decoder) { bind_min_max(decoder, false); }
void bind_max3_f32(Decoder& decoder) { bind_min_max(decoder, true); }

void bind_copysign(Decoder& decoder) {
  emit_3(decoder, decoder.type() == Type::f64 ? plain_handlers<run_copysign<double>>
                                              : plain_handlers<run_copysign<float>>);
}

void bind_testp(Decoder& decoder) {
  Op& op = decoder.emit(plain_handlers<run_testp>, decoder.result(decoder.operand(0), Type::pred),
                        decoder.source(1));
  op.immediate = decoder.type() == Type::f64 ? 8 : 4;
  for (Mod mod : decoder.opcode().mods)
    if (mod >= Mod::finite && mod <= Mod::subnormal) op.detail = static_cast<uint16_t>(mod);
}

}  // namespace lw::machine
