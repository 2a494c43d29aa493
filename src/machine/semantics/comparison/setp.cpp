// PTX: Comparison and Selection Instructions, and the half-precision ones: setp, set, selp, slct.
//
// A comparison of halves is made on their f32 values, which hold them exactly. `set` is a
// comparison into a temporary predicate and a choice between two constants.

#include <bit>

#include "arith/formats.h"
#include "arith/half.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/comparison/compare.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/integer_arithmetic/hot.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

// What was asked for: results, operands and the predicate that joins in.
struct Request {
  Slot p;
  std::optional<Slot> q;
  size_t first_source = 1;
};

uint16_t boolean_of(const Decoder& decoder) {
  if (decoder.operands().size() < 4) return 0;
  if (decoder.has(Mod::_and)) return kAnd;
  return decoder.has(Mod::_or) ? kOr : kXor;
}

void finish(Decoder& decoder, Op& op, const Request& request, Comparison comparison) {
  op.detail = static_cast<uint16_t>((comparison.turned ? kTurned : 0) | boolean_of(decoder));
  if (!request.q) return;
  op.detail |= kComplement;
  op.immediate = request.q->offset;
}

void emit_setp(Decoder& decoder, Type type, const Request& request) {
  Comparison comparison = comparison_of(decoder.opcode(), type);
  Slot a = decoder.source(decoder.operand(1), type);
  Slot b = decoder.source(decoder.operand(2), type);
  if (comparison.swapped) std::swap(a, b);
  Slot c = request.p;
  if (boolean_of(decoder) != 0) c = decoder.source(decoder.operand(3), Type::pred);
  Op& op = decoder.emit(hot_setp(comparison.test, type, decoder.has(Mod::ftz)), request.p, a, b, c);
  finish(decoder, op, request, comparison);
}

Request setp_results(Decoder& decoder) {
  const ptx::Operand& d = decoder.operand(0);
  if (d.kind != ptx::OperandKind::pair) return {decoder.result(d, Type::pred), std::nullopt};
  auto parts = decoder.elements(d);
  return {decoder.result(parts[0], Type::pred), decoder.result(parts[1], Type::pred)};
}

void bind_setp(Decoder& decoder) { emit_setp(decoder, decoder.type(), setp_results(decoder)); }

// --- halves ---

float as_float(uint16_t bits, Type type, bool flush) {
  if (type == Type::bf16) return arith::f32_from_bf16(bits);
  return arith::f32_from_f16(flush ? arith::flush_f16(bits) : bits);
}

bool holds(Test test, float a, float b) {
  switch (test) {
    case Test::equal:
      return a == b;
    case Test::less:
      return a < b;
    case Test::less_or_equal:
      return a <= b;
    case Test::ordered:
      return a == a && b == b;
    case Test::not_equal:
      return a < b || b < a;
  }
  return false;
}

// `more`: the test, the element type, ftz are in the upper half of `immediate`; p and q as setp.
struct HalfTest {
  Test test;
  bool bf16;
  bool flush;
};
uint64_t encode(HalfTest t, uint32_t q) {
  return (uint64_t{static_cast<uint8_t>(t.test)} << 32) | (uint64_t{t.bf16} << 40) |
         (uint64_t{t.flush} << 41) | q;
}
HalfTest decode(uint64_t immediate) {
  return {static_cast<Test>(immediate >> 32 & 0xff), (immediate >> 40 & 1) != 0,
          (immediate >> 41 & 1) != 0};
}

LaneMask test_halves(const Op& op, const Warp& warp, int shift) {
  HalfTest how = decode(op.immediate);
  Type type = how.bf16 ? Type::bf16 : Type::f16;
  const uint32_t* a = warp.lanes<uint32_t>(op.a);
  const uint32_t* b = warp.lanes<uint32_t>(op.b);
  LaneMask result = 0;
  for_each_lane(warp.active, [&](int lane) {
    float x = as_float(static_cast<uint16_t>(a[lane] >> shift), type, how.flush);
    float y = as_float(static_cast<uint16_t>(b[lane] >> shift), type, how.flush);
    if (holds(how.test, x, y)) result |= 1u << lane;
  });
  return op.detail & kTurned ? ~result : result;
}

LaneMask combine(LaneMask test, LaneMask c, uint16_t how) {
  if (how & kAnd) return test & c;
  if (how & kOr) return test | c;
  return how & kXor ? test ^ c : test;
}

void run_setp_half(const Op& op, Warp& warp) {
  LaneMask test = test_halves(op, warp, 0);
  LaneMask c = warp.predicate(op.c);
  warp.set_predicate(op.d, warp.active, combine(test, c, op.detail));
  if (op.detail & kComplement)
    warp.set_predicate(Slot{static_cast<uint32_t>(op.immediate)}, warp.active,
                       combine(~test, c, op.detail));
}

// setp.f16x2: p from the low halves, q from the high ones.
void run_setp_halves(const Op& op, Warp& warp) {
  LaneMask c = warp.predicate(op.c);
  LaneMask low = test_halves(op, warp, 0);
  LaneMask high = test_halves(op, warp, 16);
  warp.set_predicate(op.d, warp.active, combine(low, c, op.detail));
  warp.set_predicate(Slot{static_cast<uint32_t>(op.immediate)}, warp.active,
                     combine(high, c, op.detail));
}

Op& emit_half(Decoder& decoder, Type type, const Request& request) {
  Type element = ptx::element_of(type);
  bool packed = ptx::kind_of(type) == ptx::TypeKind::packed;
  Comparison comparison = comparison_of(decoder.opcode(), element);
  Slot a = decoder.source(decoder.operand(1), type);
  Slot b = decoder.source(decoder.operand(2), type);
  if (comparison.swapped) std::swap(a, b);
  Slot c = request.p;
  if (boolean_of(decoder) != 0) c = decoder.source(decoder.operand(3), Type::pred);
  Op& op = decoder.emit(packed ? plain_handlers<run_setp_halves> : plain_handlers<run_setp_half>,
                        request.p, a, b, c);
  finish(decoder, op, request, comparison);
  op.immediate = encode({comparison.test, element == Type::bf16, decoder.has(Mod::ftz)},
                        request.q ? request.q->offset : 0);
  return op;
}

void bind_setp_half(Decoder& decoder) {
  Request request = setp_results(decoder);
  if (!request.q && ptx::kind_of(decoder.type()) == ptx::TypeKind::packed)
    request.q = decoder.temporary(Type::pred);
  emit_half(decoder, decoder.type(), request);
}

// --- set ---

uint64_t true_value(Type type) {
  if (type == Type::f32) return std::bit_cast<uint32_t>(1.0f);
  if (type == Type::f16) return 0x3c00;
  return type == Type::bf16 ? 0x3f80 : ~uint64_t{0};
}

void choose(Decoder& decoder, Type type, Slot d, Slot p) {
  Slot yes = decoder.constant(
      ptx::bits_of(type) == 16 ? true_value(type) & 0xffff : true_value(type), type);
  decoder.emit(hot_integer(HotInteger::selp, type), d, yes, decoder.constant(0, type), p);
}

void bind_set(Decoder& decoder) {
  Request request{decoder.temporary(Type::pred), std::nullopt};
  emit_setp(decoder, decoder.type(1), request);
  choose(decoder, decoder.type(0), decoder.result(decoder.operand(0), decoder.type(0)), request.p);
}

void bind_set_half(Decoder& decoder) {
  Request request{decoder.temporary(Type::pred), std::nullopt};
  emit_half(decoder, decoder.type(1), request);
  choose(decoder, decoder.type(0), decoder.result(decoder.operand(0), decoder.type(0)), request.p);
}

// set.f16x2.f16x2: 1.0 or 0 in each half.
void run_set_halves(const Op& op, Warp& warp) {
  LaneMask c = warp.predicate(op.c);
  LaneMask low = combine(test_halves(op, warp, 0), c, op.detail);
  LaneMask high = combine(test_halves(op, warp, 16), c, op.detail);
  auto yes = static_cast<uint32_t>(warp.program->more(op)[0].offset);
  for_each_lane(warp.active, [&](int lane) {
    uint32_t bit = 1u << lane;
    warp.lanes<uint32_t>(op.d)[lane] = (low & bit ? yes : 0) | (high & bit ? yes << 16 : 0);
  });
}

void bind_set_halves(Decoder& decoder) {
  Request request{decoder.result(decoder.operand(0), Type::b32), std::nullopt};
  Op& op = emit_half(decoder, decoder.type(1), request);
  op.full = plain_handlers<run_set_halves>.full;
  op.masked = plain_handlers<run_set_halves>.masked;
  if (boolean_of(decoder) == 0) op.c = decoder.constant(0, Type::pred);
  Slot yes{static_cast<uint32_t>(true_value(ptx::element_of(decoder.type(0))) & 0xffff)};
  decoder.attach(op, {&yes, 1});
}

}  // namespace

void bind_setp_int(Decoder& decoder) { bind_setp(decoder); }
void bind_setp_float(Decoder& decoder) { bind_setp(decoder); }
void bind_setp_f64(Decoder& decoder) { bind_setp(decoder); }
void bind_set_int(Decoder& decoder) { bind_set(decoder); }
void bind_set_float(Decoder& decoder) { bind_set(decoder); }
void bind_set_f64(Decoder& decoder) { bind_set(decoder); }

void bind_setp_f16(Decoder& decoder) { bind_setp_half(decoder); }
void bind_setp_bf16(Decoder& decoder) { bind_setp_half(decoder); }
void bind_setp_f16x2(Decoder& decoder) { bind_setp_half(decoder); }
void bind_setp_bf16x2(Decoder& decoder) { bind_setp_half(decoder); }
void bind_set_f16(Decoder& decoder) { bind_set_half(decoder); }
void bind_set_bf16(Decoder& decoder) { bind_set_half(decoder); }
void bind_set_f16x2(Decoder& decoder) { bind_set_halves(decoder); }
void bind_set_bf16x2(Decoder& decoder) { bind_set_halves(decoder); }

void bind_selp(Decoder& decoder) {
  decoder.emit(hot_integer(HotInteger::selp, decoder.type()), decoder.result(0), decoder.source(1),
               decoder.source(2), decoder.source(decoder.operand(3), Type::pred));
}

void bind_slct(Decoder& decoder) {
  Slot p = decoder.temporary(Type::pred);
  Op& op = decoder.emit(hot_setp(Test::less, Type::s32, false), p,
                        decoder.source(decoder.operand(3), Type::s32),
                        decoder.constant(0, Type::s32), p);
  op.detail = kTurned;
  decoder.emit(hot_integer(HotInteger::selp, decoder.type()), decoder.result(0), decoder.source(1),
               decoder.source(2), p);
}

void bind_slct_f32(Decoder& decoder) {
  Slot p = decoder.temporary(Type::pred);
  decoder.emit(hot_setp(Test::less_or_equal, Type::f32, decoder.has(Mod::ftz)), p,
               decoder.constant(0, Type::f32), decoder.source(decoder.operand(3), Type::f32), p);
  decoder.emit(hot_integer(HotInteger::selp, decoder.type()), decoder.result(0), decoder.source(1),
               decoder.source(2), p);
}

}  // namespace lw::machine
