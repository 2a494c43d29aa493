// PTX: Data Movement and Conversion Instructions: cvt where one side, or both, is f16, bf16, f32 or
// f64, one value at a time. (Pairs and the short formats: convert_packed.cpp.)
//
// Between floats a value travels as f64, which holds every source exactly, so it is rounded once,
// when it is narrowed. A NaN keeps the high bits of its payload when it comes from f64 or goes
// there; otherwise it becomes 7fff or 7fffffff. [H200]

#include <bit>

#include "arith/convert.h"
#include "arith/float32.h"
#include "arith/formats.h"
#include "arith/warp.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/data_movement/convert.h"
#include "machine/semantics/floating_point/modes.h"
#include "machine/semantics/integer_arithmetic/hot.h"
#include "machine/semantics/types.h"
#include "machine/semantics/whole_warp.h"

namespace lw::machine {
namespace {

using arith::FloatMode;
using ptx::Mod;
using ptx::Type;

// --- modifiers: those of modes.h, and these, in `detail` ---

constexpr uint16_t kIntegral = 1 << 5;  // .rni .rzi .rmi .rpi
constexpr uint16_t kRelu = 1 << 6;
constexpr uint16_t kSatfinite = 1 << 7;

uint16_t encode_modifiers(const Decoder& decoder) {
  const bool integral = decoder.has(Mod::rni) || decoder.has(Mod::rzi) || decoder.has(Mod::rmi) ||
                        decoder.has(Mod::rpi);
  return static_cast<uint16_t>(encode_mode(float_mode(decoder)) | (integral ? kIntegral : 0) |
                               (decoder.has(Mod::relu) ? kRelu : 0) |
                               (decoder.has(Mod::satfinite) ? kSatfinite : 0));
}

arith::Narrowing narrowing(uint16_t detail) {
  return {decode_mode(detail).rounding, (detail & kSatfinite) != 0, (detail & kRelu) != 0};
}

double saturated(double x) { return x > 0.0 ? (x < 1.0 ? x : 1.0) : 0.0; }

// --- one lane ---

// A NaN of f16 keeps its payload, quieted.
double f64_from_f16(uint16_t x) {
  if (!arith::is_nan_f16(x)) return arith::f64_from_f32(arith::f32_from_f16(x));
  const uint64_t sign = uint64_t{x} >> 15 << 63;
  return arith::f64_of(sign | 0x7ff8000000000000u | uint64_t{x & 0x3ffu} << 42);
}

// Flushing goes through an f32 instruction, which makes any NaN 7fffffff.
template <Type type>
double read(const Warp& warp, Slot slot, int lane, bool ftz) {
  if constexpr (type == Type::f64) {
    return std::bit_cast<double>(warp.lanes<uint64_t>(slot)[lane]);
  } else {
    const uint32_t word = warp.lanes<uint32_t>(slot)[lane];
    if constexpr (type == Type::f16) return f64_from_f16(static_cast<uint16_t>(word));
    float value = 0;
    if constexpr (type == Type::bf16) value = arith::f32_from_bf16(static_cast<uint16_t>(word));
    if constexpr (type == Type::f32)
      value = ftz ? arith::canonical_nan(arith::flush(arith::f32_of(word))) : arith::f32_of(word);
    return arith::f64_from_f32(value);
  }
}

template <Type type>
void write(const Warp& warp, Slot slot, int lane, double value, uint16_t detail) {
  if constexpr (type == Type::f64)
    warp.lanes<uint64_t>(slot)[lane] = arith::bits_of(value);
  else if constexpr (type == Type::f32)
    warp.lanes<uint32_t>(slot)[lane] =
        arith::bits_of(arith::f32_from_f64(value, decode_mode(detail)));
  else if constexpr (type == Type::f16)
    warp.lanes<uint32_t>(slot)[lane] = arith::f16_from_f64(value, narrowing(detail));
  else
    warp.lanes<uint32_t>(slot)[lane] = arith::bf16_from_f64(value, narrowing(detail));
}

// --- float to float ---

template <Type to, Type from>
void run_floats(const Op& op, Warp& warp) {
  const FloatMode mode = decode_mode(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    double value = read<from>(warp, op.a, lane, mode.ftz);
    if (op.detail & kIntegral) value = arith::round_to_integral_f64(value, mode.rounding);
    if (mode.sat) value = saturated(value);
    if (to != Type::f64 && from != Type::f64 && arith::is_nan(value))
      value = arith::f64_of(~uint64_t{0} >> 1);  // all ones, in every format
    write<to>(warp, op.d, lane, value, op.detail);
  });
}

template <class Visit>
auto with_float(Type type, Visit visit) {
  switch (type) {
    case Type::f16:
      return visit(std::integral_constant<Type, Type::f16>());
    case Type::bf16:
      return visit(std::integral_constant<Type, Type::bf16>());
    case Type::f32:
      return visit(std::integral_constant<Type, Type::f32>());
    default:
      return visit(std::integral_constant<Type, Type::f64>());
  }
}

Handlers floats(Type to, Type from) {
  return with_float(to, [&](auto d) {
    return with_float(from, [&](auto a) {
      return plain_handlers<run_floats<decltype(d)::value, decltype(a)::value>>;
    });
  });
}

Handlers handlers_of_floats(Type to, Type from, uint16_t detail) {
  // Flushing changes no f32 that goes to f16 or comes from there.
  const bool with_f16 = to == Type::f16 || from == Type::f16;
  const bool plain = (with_f16 ? detail & ~encode_mode({.ftz = true}) : detail) == 0;
  if (plain && to == from)
    return hot_integer(HotInteger::mov, ptx::bits_of(to) == 64 ? Type::b64 : Type::b32);
  if (plain && to == Type::f16 && from == Type::f32) return whole_warp<arith::warp_f16_from_f32, 1>;
  if (plain && to == Type::bf16 && from == Type::f32)
    return whole_warp<arith::warp_bf16_from_f32, 1>;
  if (plain && to == Type::f32 && from == Type::f16) return whole_warp<arith::warp_f32_from_f16, 1>;
  if (plain && to == Type::f32 && from == Type::bf16)
    return whole_warp<arith::warp_f32_from_bf16, 1>;
  return floats(to, from);
}

void bind_floats(Decoder& decoder) {
  const Type to = decoder.type(0);
  const Type from = decoder.type(1);
  const uint16_t detail = encode_modifiers(decoder);
  const Slot d = word_result(decoder, decoder.operand(0), to);
  const Slot a = word_source(decoder, decoder.operand(1), from);
  decoder.emit(handlers_of_floats(to, from, detail), d, a).detail = detail;
  finish_word(decoder, decoder.operand(0), to, d);
}

// --- integer to float ---

uint64_t saturated_bits(Type to, uint64_t bits) {
  if (to == Type::f64) return arith::bits_of(saturated(arith::f64_of(bits)));
  if (to == Type::f32)
    return arith::bits_of(arith::saturate(arith::f32_of(static_cast<uint32_t>(bits))));
  const float value = arith::f32_from_f16(static_cast<uint16_t>(bits));
  return arith::f16_from_f32_rn(arith::saturate(value));
}

template <class Int>
uint64_t float_from(Type to, Int value, arith::Rounding rounding) {
  switch (to) {
    case Type::f16:
      return arith::f16_from_int(value, rounding);
    case Type::bf16:
      return arith::bf16_from_int(value, rounding);
    case Type::f32:
      return arith::bits_of(arith::f32_from_int(value, rounding));
    default:
      return arith::bits_of(arith::f64_from_int(value, rounding));
  }
}

// Op: `immediate` the source's place, and the result's type above it.
void run_from_integer(const Op& op, Warp& warp) {
  const IntegerPlace from = decode_place(static_cast<uint16_t>(op.immediate));
  const auto to = static_cast<Type>(op.immediate >> 16);
  const FloatMode mode = decode_mode(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    const uint64_t raw =
        from.wide ? warp.lanes<uint64_t>(op.a)[lane] : warp.lanes<uint32_t>(op.a)[lane];
    const uint64_t value = extended(raw, from.type_bits, from.is_signed);
    uint64_t result = from.is_signed ? float_from(to, static_cast<int64_t>(value), mode.rounding)
                                     : float_from(to, value, mode.rounding);
    if (mode.sat) result = saturated_bits(to, result);
    if (to == Type::f64)
      warp.lanes<uint64_t>(op.d)[lane] = result;
    else
      warp.lanes<uint32_t>(op.d)[lane] = static_cast<uint32_t>(result);
  });
}

void emit_from_integer(Decoder& decoder, Type to, Slot d) {
  const IntegerPlace from = integer_place(decoder, decoder.operand(1), decoder.type(1));
  const uint16_t detail = encode_modifiers(decoder);
  const Slot a = decoder.source(decoder.operand(1), decoder.type(1));
  const bool rounds_nearest = (detail & ~encode_mode({.ftz = true})) == 0;
  if (to == Type::f32 && from.type_bits == 32 && !from.wide && rounds_nearest)
    return void(decoder.emit(
        hot_conversion(from.is_signed ? HotConversion::f32_from_s32 : HotConversion::f32_from_u32),
        d, a));
  Op& op = decoder.emit(plain_handlers<run_from_integer>, d, a);
  op.detail = detail;
  op.immediate = encode_place(from) | uint64_t{static_cast<uint8_t>(to)} << 16;
}

void bind_from_integer(Decoder& decoder) {
  const Type to = decoder.type(0);
  const Slot d = word_result(decoder, decoder.operand(0), to);
  emit_from_integer(decoder, to, d);
  finish_word(decoder, decoder.operand(0), to, d);
}

// --- float to integer ---

template <class Int, Type from>
uint64_t integer_from(const Warp& warp, Slot slot, int lane, FloatMode mode) {
  const double value = read<from>(warp, slot, lane, mode.ftz);
  Int result;
  // f32 and f64 treat NaN differently; the others are f32 here.
  if constexpr (from == Type::f64)
    result = arith::int_from_f64<Int>(value, mode.rounding);
  else
    result = arith::int_from_f32<Int>(static_cast<float>(value), mode.rounding);
  return static_cast<uint64_t>(static_cast<int64_t>(result));
}

// Op: `immediate` the result's place.
template <class Int, Type from>
void run_to_integer(const Op& op, Warp& warp) {
  const IntegerPlace to = decode_place(static_cast<uint16_t>(op.immediate));
  const FloatMode mode = decode_mode(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    const uint64_t value = in_register(integer_from<Int, from>(warp, op.a, lane, mode), to);
    if (to.wide)
      warp.lanes<uint64_t>(op.d)[lane] = value;
    else
      warp.lanes<uint32_t>(op.d)[lane] = static_cast<uint32_t>(value);
  });
}

template <class Visit>
auto with_exact_integer(Type type, Visit visit) {
  if (ptx::bits_of(type) == 8) return is_signed(type) ? visit(int8_t{}) : visit(uint8_t{});
  return with_integer(type, visit);
}

Handlers to_integer(Type to, Type from) {
  return with_exact_integer(to, [&](auto zero) {
    return with_float(from, [](auto a) {
      return plain_handlers<run_to_integer<decltype(zero), decltype(a)::value>>;
    });
  });
}

void bind_to_integer(Decoder& decoder) {
  const Type from = decoder.type(1);
  const IntegerPlace to = integer_place(decoder, decoder.operand(0), decoder.type(0));
  const FloatMode mode = float_mode(decoder);
  const Slot d = decoder.result(decoder.operand(0), decoder.type(0));
  const Slot a = word_source(decoder, decoder.operand(1), from);
  // Flushing changes nothing in what is cut towards zero.
  if (from == Type::f32 && to.type_bits == 32 && !to.wide &&
      mode.rounding == arith::Rounding::kTowardZero)
    return void(decoder.emit(
        hot_conversion(to.is_signed ? HotConversion::s32_from_f32 : HotConversion::u32_from_f32), d,
        a));
  Op& op = decoder.emit(to_integer(decoder.type(0), from), d, a);
  op.detail = encode_mode(mode);
  op.immediate = encode_place(to);
}

// --- tf32 ---

void run_tf32(const Op& op, Warp& warp) {
  const arith::Narrowing how = narrowing(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    const float value = arith::f32_of(warp.lanes<uint32_t>(op.a)[lane]);
    warp.lanes<uint32_t>(op.d)[lane] = arith::tf32_from_f32(value, how);
  });
}

void bind_tf32(Decoder& decoder) {
  const Slot d = decoder.result(decoder.operand(0), Type::b32);
  const Slot a = word_source(decoder, decoder.operand(1), Type::f32);
  decoder.emit(plain_handlers<run_tf32>, d, a).detail = encode_modifiers(decoder);
}

}  // namespace

void bind_cvt_int_float(Decoder& decoder) { bind_from_integer(decoder); }
void bind_cvt_int_bf16(Decoder& decoder) { bind_from_integer(decoder); }
void bind_cvt_float_int(Decoder& decoder) { bind_to_integer(decoder); }
void bind_cvt_bf16_int(Decoder& decoder) { bind_to_integer(decoder); }
void bind_cvt_float_float(Decoder& decoder) { bind_floats(decoder); }
void bind_cvt_bf16_widen(Decoder& decoder) { bind_floats(decoder); }
void bind_cvt_bf16_float(Decoder& decoder) { bind_floats(decoder); }
void bind_cvt_float_bf16(Decoder& decoder) { bind_floats(decoder); }
void bind_cvt_f32_half(Decoder& decoder) { bind_floats(decoder); }
void bind_cvt_f32_bf16(Decoder& decoder) { bind_floats(decoder); }
void bind_cvt_tf32(Decoder& decoder) { bind_tf32(decoder); }
void bind_cvt_tf32_rn(Decoder& decoder) { bind_tf32(decoder); }

}  // namespace lw::machine
