// PTX: Integer Arithmetic Instructions: bfe, bfi, bfind, bmsk, szext, fns, dp4a, dp2a.
//
// Rare, and with modes: plain loops over the running lanes. `detail` of the Op holds the mode.

#include "arith/integer.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/lanes.h"
#include "machine/semantics/types.h"

namespace lw::machine {
namespace {

using once::lanes_at;
using once::pack;
using once::unpack;
using ptx::Mod;
using ptx::Type;

template <class T>
T read(const Warp& warp, Slot slot, int lane) {
  return unpack<T>(lanes_at<T>(warp.registers, slot)[lane]);
}
template <class T>
void write(const Warp& warp, Slot slot, int lane, T value) {
  lanes_at<T>(warp.registers, slot)[lane] = pack<T>(value);
}

template <class T>
void run_bfe(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    write<T>(warp, op.d, lane,
             arith::bfe(read<T>(warp, op.a, lane), read<uint32_t>(warp, op.b, lane),
                        read<uint32_t>(warp, op.c, lane)));
  });
}

template <class T>
void run_bfi(const Op& op, Warp& warp) {
  Slot length = warp.program->more(op)[0];
  for_each_lane(warp.active, [&](int lane) {
    write<T>(warp, op.d, lane,
             arith::bfi(read<T>(warp, op.a, lane), read<T>(warp, op.b, lane),
                        read<uint32_t>(warp, op.c, lane), read<uint32_t>(warp, length, lane)));
  });
}

template <class T>
void run_bfind(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    write<uint32_t>(warp, op.d, lane, arith::bfind(read<T>(warp, op.a, lane), op.detail != 0));
  });
}

void run_bmsk(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    write<uint32_t>(warp, op.d, lane,
                    arith::bmsk(read<uint32_t>(warp, op.a, lane), read<uint32_t>(warp, op.b, lane),
                                op.detail != 0));
  });
}

template <class T>
void run_szext(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    write<T>(
        warp, op.d, lane,
        arith::szext(read<T>(warp, op.a, lane), read<uint32_t>(warp, op.b, lane), op.detail != 0));
  });
}

void run_fns(const Op& op, Warp& warp) {
  for_each_lane(warp.active, [&](int lane) {
    write<uint32_t>(warp, op.d, lane,
                    arith::fns(read<uint32_t>(warp, op.a, lane), read<uint32_t>(warp, op.b, lane),
                               read<int32_t>(warp, op.c, lane)));
  });
}

constexpr uint16_t kASigned = 1;
constexpr uint16_t kBSigned = 2;
constexpr uint16_t kHigh = 4;

template <bool four>
void run_dot(const Op& op, Warp& warp) {
  bool a_signed = op.detail & kASigned;
  bool b_signed = op.detail & kBSigned;
  for_each_lane(warp.active, [&](int lane) {
    uint32_t a = read<uint32_t>(warp, op.a, lane);
    uint32_t b = read<uint32_t>(warp, op.b, lane);
    uint32_t c = read<uint32_t>(warp, op.c, lane);
    uint32_t d = four ? arith::dp4a(a, b, c, a_signed, b_signed)
                      : arith::dp2a(a, b, c, a_signed, b_signed, op.detail & kHigh);
    write<uint32_t>(warp, op.d, lane, d);
  });
}

Slot word(Decoder& decoder, size_t index) {
  return decoder.source(decoder.operand(index), Type::u32);
}

uint16_t dot_signs(const Decoder& decoder) {
  return static_cast<uint16_t>((is_signed(decoder.type(0)) ? kASigned : 0) |
                               (is_signed(decoder.type(1)) ? kBSigned : 0));
}

Op& emit_dot(Decoder& decoder, Handlers handlers) {
  Slot d = decoder.result(decoder.operand(0), Type::u32);
  Op& op = decoder.emit(handlers, d, word(decoder, 1), word(decoder, 2), word(decoder, 3));
  op.detail = dot_signs(decoder);
  return op;
}

}  // namespace

void bind_bfe(Decoder& decoder) {
  Handlers handlers = with_integer(
      decoder.type(), [](auto zero) { return plain_handlers<run_bfe<decltype(zero)>>; });
  decoder.emit(handlers, decoder.result(0), decoder.source(1), word(decoder, 2), word(decoder, 3));
}

void bind_bfi(Decoder& decoder) {
  Handlers handlers =
      with_bits(decoder.type(), [](auto zero) { return plain_handlers<run_bfi<decltype(zero)>>; });
  Slot length = word(decoder, 4);
  Op& op = decoder.emit(handlers, decoder.result(0), decoder.source(1), decoder.source(2),
                        word(decoder, 3));
  decoder.attach(op, {&length, 1});
}

void bind_bfind(Decoder& decoder) {
  Handlers handlers = with_integer(
      decoder.type(), [](auto zero) { return plain_handlers<run_bfind<decltype(zero)>>; });
  Slot d = decoder.result(decoder.operand(0), Type::u32);
  decoder.emit(handlers, d, decoder.source(1)).detail = decoder.has(Mod::shiftamt);
}

void bind_bmsk(Decoder& decoder) {
  Slot d = decoder.result(decoder.operand(0), Type::b32);
  decoder.emit(plain_handlers<run_bmsk>, d, word(decoder, 1), word(decoder, 2)).detail =
      decoder.has(Mod::wrap);
}

void bind_szext(Decoder& decoder) {
  Handlers handlers = is_signed(decoder.type()) ? plain_handlers<run_szext<int32_t>>
                                                : plain_handlers<run_szext<uint32_t>>;
  decoder.emit(handlers, decoder.result(0), decoder.source(1), word(decoder, 2)).detail =
      decoder.has(Mod::wrap);
}

void bind_fns(Decoder& decoder) { emit_4(decoder, plain_handlers<run_fns>); }

void bind_dp4a(Decoder& decoder) { emit_dot(decoder, plain_handlers<run_dot<true>>); }

void bind_dp2a(Decoder& decoder) {
  Op& op = emit_dot(decoder, plain_handlers<run_dot<false>>);
  if (decoder.has(Mod::hi)) op.detail |= kHigh;
}

}  // namespace lw::machine
