// PTX: Data Movement and Conversion Instructions: cvt of pairs: f16x2 and bf16x2 from two f32, and
// the formats of 8, 6 and 4 bits, which come in pairs only.
//
// The first source goes to the high half. Halves are rounded from f32, which holds every source
// exactly. With scales (`.scaled::n2::ue8m0`) an element is widened, multiplied by its power of two
// and rounded once. Stochastic rounding is in convert_stochastic.cpp.

#include "arith/formats.h"
#include "arith/warp.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/data_movement/convert.h"
#include "machine/semantics/floating_point/modes.h"
#include "machine/semantics/whole_warp.h"

namespace lw::machine {
namespace {

using arith::Narrowing;
using ptx::Mod;
using ptx::Type;

// `detail`: rounding of modes.h, and these.
constexpr uint16_t kRelu = 1 << 6;
constexpr uint16_t kSatfinite = 1 << 7;

uint16_t encode_narrowing(const Decoder& decoder) {
  return static_cast<uint16_t>(encode_mode({rounding_of(decoder)}) |
                               (decoder.has(Mod::relu) ? kRelu : 0) |
                               (decoder.has(Mod::satfinite) ? kSatfinite : 0));
}
Narrowing decode_narrowing(uint16_t detail) {
  return {decode_mode(detail).rounding, (detail & kSatfinite) != 0, (detail & kRelu) != 0};
}

// --- elements ---

uint32_t narrow(Type element, float x, Narrowing how) {
  switch (element) {
    case Type::f16:
      return arith::f16_from_f32(x, how);
    case Type::bf16:
      return arith::bf16_from_f32(x, how);
    case Type::e4m3:
      return arith::e4m3_from_f32(x, how);
    case Type::e5m2:
      return arith::e5m2_from_f32(x, how);
    case Type::e3m2:
      return arith::e3m2_from_f32(x, how);
    case Type::e2m3:
      return arith::e2m3_from_f32(x, how);
    case Type::e2m1:
      return arith::e2m1_from_f32(x, how);
    default:
      return arith::ue8m0_from_f32(x, how);
  }
}

float widen(Type element, uint32_t code) {
  const auto byte = static_cast<uint8_t>(code);
  switch (element) {
    case Type::f16:
      return arith::f32_from_f16(static_cast<uint16_t>(code));
    case Type::bf16:
      return arith::f32_from_bf16(static_cast<uint16_t>(code));
    case Type::e4m3:
      return arith::f32_from_e4m3(byte);
    case Type::e5m2:
      return arith::f32_from_e5m2(byte);
    case Type::e3m2:
      return arith::f32_from_e3m2(byte);
    case Type::e2m3:
      return arith::f32_from_e2m3(byte);
    case Type::e2m1:
      return arith::f32_from_e2m1(byte);
    case Type::s2f6:  // two's complement, six bits of fraction
      return static_cast<float>(static_cast<int8_t>(byte)) / 64;
    default:
      return arith::f32_from_ue8m0(byte);
  }
}

// How far the high element lies above the low one: six bits stand in bytes.
int stride_of(Type pair) { return ptx::bits_of(pair) / 2; }

// --- handlers; `immediate`: the result's pair type, and the source's above it ---

Type result_type(const Op& op) { return static_cast<Type>(op.immediate & 0xff); }
Type source_type(const Op& op) { return static_cast<Type>(op.immediate >> 8); }

// d = {a, b}, both f32.
void run_from_f32(const Op& op, Warp& warp) {
  const Narrowing how = decode_narrowing(op.detail);
  const Type element = ptx::element_of(result_type(op));
  const int stride = stride_of(result_type(op));
  const auto one = [&](uint32_t bits) { return narrow(element, arith::f32_of(bits), how); };
  for_each_lane(warp.active, [&](int lane) {
    warp.lanes<uint32_t>(op.d)[lane] =
        one(warp.lanes<uint32_t>(op.a)[lane]) << stride | one(warp.lanes<uint32_t>(op.b)[lane]);
  });
}

// A pair to a pair.
void run_from_pair(const Op& op, Warp& warp) {
  const Narrowing how = decode_narrowing(op.detail);
  const Type to = ptx::element_of(result_type(op));
  const Type from = ptx::element_of(source_type(op));
  const int to_stride = stride_of(result_type(op));
  const int from_stride = stride_of(source_type(op));
  const auto one = [&](uint32_t code) { return narrow(to, widen(from, code), how); };
  for_each_lane(warp.active, [&](int lane) {
    const uint32_t pair = warp.lanes<uint32_t>(op.a)[lane];
    warp.lanes<uint32_t>(op.d)[lane] = one(pair >> from_stride) << to_stride | one(pair);
  });
}

// A pair to bf16x2, each element times a power of two; NaN of either gives NaN.
void run_scaled_pair(const Op& op, Warp& warp) {
  const Narrowing how = decode_narrowing(op.detail);
  const Type from = ptx::element_of(source_type(op));
  const int stride = stride_of(source_type(op));
  const auto one = [&](uint32_t code, uint32_t scale) -> uint32_t {
    const double value =
        double{widen(from, code)} * double{arith::f32_from_ue8m0(static_cast<uint8_t>(scale))};
    return value == value ? arith::bf16_from_f64(value, how) : arith::kNanF16;
  };
  for_each_lane(warp.active, [&](int lane) {
    const uint32_t pair = warp.lanes<uint32_t>(op.a)[lane];
    const uint32_t scales = warp.lanes<uint32_t>(op.b)[lane];
    warp.lanes<uint32_t>(op.d)[lane] = one(pair >> stride, scales >> 8) << 16 | one(pair, scales);
  });
}

// --- binding ---

Type container(Type type) {
  if (ptx::bits_of(type) == 32) return Type::b32;
  return ptx::bits_of(type) == 16 ? Type::b16 : Type::b8;
}

void bind_from_f32(Decoder& decoder) {
  const Type to = decoder.type(0);
  const uint16_t detail = encode_narrowing(decoder);
  Handlers handlers = plain_handlers<run_from_f32>;
  if (detail == 0 && to == Type::f16x2) handlers = whole_warp<arith::warp_f16x2_from_f32, 2>;
  if (detail == 0 && to == Type::bf16x2) handlers = whole_warp<arith::warp_bf16x2_from_f32, 2>;
  const Slot d = word_result(decoder, decoder.operand(0), container(to));
  const Slot a = word_source(decoder, decoder.operand(1), Type::f32);
  Op& op = decoder.emit(handlers, d, a, decoder.source(decoder.operand(2), Type::f32));
  op.detail = detail;
  op.immediate = static_cast<uint64_t>(to);
  finish_word(decoder, decoder.operand(0), container(to), d);
}

void bind_from_pair(Decoder& decoder) {
  const Type to = decoder.type(0);
  const Type from = decoder.type(1);
  const bool scaled = decoder.operands().size() > 2;
  const Slot d = word_result(decoder, decoder.operand(0), container(to));
  const Slot a = word_source(decoder, decoder.operand(1), container(from));
  const Slot scale = scaled ? decoder.source(decoder.operand(2), Type::b16) : Slot{};
  Op& op = decoder.emit(scaled ? plain_handlers<run_scaled_pair> : plain_handlers<run_from_pair>, d,
                        a, scale);
  op.detail = encode_narrowing(decoder);
  op.immediate = static_cast<uint64_t>(to) | static_cast<uint64_t>(from) << 8;
  finish_word(decoder, decoder.operand(0), container(to), d);
}

}  // namespace

void bind_cvt_f32_f16x2(Decoder& decoder) { bind_from_f32(decoder); }
void bind_cvt_f32_fp8x2(Decoder& decoder) { bind_from_f32(decoder); }
void bind_cvt_f32_fp6x2(Decoder& decoder) { bind_from_f32(decoder); }
void bind_cvt_f32_ue8m0x2(Decoder& decoder) { bind_from_f32(decoder); }
void bind_cvt_rz_fp8x2(Decoder& decoder) { bind_from_f32(decoder); }
void bind_cvt_rz_fp16x2_fp8x2(Decoder& decoder) { bind_from_pair(decoder); }
void bind_cvt_f16x2_fp8x2(Decoder& decoder) { bind_from_pair(decoder); }
void bind_cvt_fp8x2_f16x2(Decoder& decoder) { bind_from_pair(decoder); }
void bind_cvt_fp6x2_f16x2(Decoder& decoder) { bind_from_pair(decoder); }
void bind_cvt_f16x2_fp6x2(Decoder& decoder) { bind_from_pair(decoder); }
void bind_cvt_bf16x2_fp8x2(Decoder& decoder) { bind_from_pair(decoder); }
void bind_cvt_fp8x2_bf16x2(Decoder& decoder) { bind_from_pair(decoder); }
void bind_cvt_s2f6x2_bf16x2(Decoder& decoder) { bind_from_pair(decoder); }
void bind_cvt_bf16x2_ue8m0x2(Decoder& decoder) { bind_from_pair(decoder); }
void bind_cvt_ue8m0x2_bf16x2(Decoder& decoder) { bind_from_pair(decoder); }

}  // namespace lw::machine
