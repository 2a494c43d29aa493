// PTX: Logic and Shift Instructions.

#include "arith/integer.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/integer_arithmetic/hot.h"
#include "machine/semantics/lanes.h"
#include "machine/semantics/types.h"

namespace lw::machine {
namespace {

using once::elementwise;
using ptx::Mod;
using ptx::Type;

enum class Bitwise : uint16_t { bit_and, bit_or, bit_xor, bit_not };

void run_predicate(const Op& op, Warp& warp) {
  LaneMask a = warp.predicate(op.a);
  LaneMask b = warp.predicate(op.b);
  switch (static_cast<Bitwise>(op.detail)) {
    case Bitwise::bit_and:
      return warp.set_predicate(op.d, warp.active, a & b);
    case Bitwise::bit_or:
      return warp.set_predicate(op.d, warp.active, a | b);
    case Bitwise::bit_xor:
      return warp.set_predicate(op.d, warp.active, a ^ b);
    case Bitwise::bit_not:
      return warp.set_predicate(op.d, warp.active, ~a);
  }
}

void bind_binary(Decoder& decoder, HotInteger what, Bitwise of_predicates) {
  if (decoder.type() != Type::pred) return emit_3(decoder, hot_integer(what, decoder.type()));
  Op& op = decoder.emit(plain_handlers<run_predicate>, decoder.result(0), decoder.source(1),
                        decoder.source(2));
  op.detail = static_cast<uint16_t>(of_predicates);
}

struct Cnot {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a) const {
    return a == 0 ? 1 : 0;
  }
};

// The table is in `detail`.
template <Mode mode>
void run_lop3(const Op* op, std::byte* registers, Warp& warp) {
  using once::lanes_at;
  const uint32_t* a = lanes_at<uint32_t>(registers, op->a);
  const uint32_t* b = lanes_at<uint32_t>(registers, op->b);
  const uint32_t* c = lanes_at<uint32_t>(registers, op->c);
  uint32_t table[8];
  for (int i = 0; i < 8; ++i) table[i] = op->detail >> i & 1 ? ~0u : 0u;
  once::write_lanes<mode, uint32_t>(
      lanes_at<uint32_t>(registers, op->d), warp.active, [&](int i) LW_LAMBDA_INLINE {
        uint32_t x = a[i], y = b[i], z = c[i];
        uint32_t low = (~x & ((~y & ((~z & table[0]) | (z & table[1]))) |
                              (y & ((~z & table[2]) | (z & table[3])))));
        uint32_t high = (x & ((~y & ((~z & table[4]) | (z & table[5]))) |
                              (y & ((~z & table[6]) | (z & table[7])))));
        return low | high;
      });
  return next<mode>(op, registers, warp);
}
constexpr Handlers kLop3{&run_lop3<Mode::full>, &run_lop3<Mode::masked>};

void run_not_zero(const Op& op, Warp& warp) {
  LaneMask result = 0;
  for_each_lane(warp.active, [&](int lane) {
    if (warp.lanes<uint32_t>(op.a)[lane] != 0) result |= 1u << lane;
  });
  LaneMask q = warp.predicate(op.b);
  warp.set_predicate(op.d, warp.active, op.detail ? result & q : result | q);
}

template <bool left, bool wrap>
struct Funnel {
  LW_ALWAYS_INLINE uint32_t operator()(uint32_t a, uint32_t b, uint32_t count) const {
    return left ? arith::shf_l(a, b, count, wrap) : arith::shf_r(a, b, count, wrap);
  }
};
template <bool left, bool wrap>
constexpr Handlers kFunnel =
    elementwise<Funnel<left, wrap>, uint32_t, uint32_t, uint32_t, uint32_t>;

Slot count_of(Decoder& decoder) { return decoder.source(decoder.operand(2), Type::u32); }

}  // namespace

void bind_and_bits(Decoder& decoder) {
  bind_binary(decoder, HotInteger::bit_and, Bitwise::bit_and);
}
void bind_or_bits(Decoder& decoder) { bind_binary(decoder, HotInteger::bit_or, Bitwise::bit_or); }
void bind_xor_bits(Decoder& decoder) {
  bind_binary(decoder, HotInteger::bit_xor, Bitwise::bit_xor);
}
void bind_not_bits(Decoder& decoder) {
  if (decoder.type() != Type::pred)
    return emit_2(decoder, hot_integer(HotInteger::bit_not, decoder.type()));
  Slot a = decoder.source(1);
  decoder.emit(plain_handlers<run_predicate>, decoder.result(0), a, a).detail =
      static_cast<uint16_t>(Bitwise::bit_not);
}
void bind_cnot(Decoder& decoder) {
  emit_2(decoder, with_bits(decoder.type(), [](auto zero) {
           using T = decltype(zero);
           return elementwise<Cnot, T, T>;
         }));
}

void bind_lop3(Decoder& decoder) {
  Op& op = decoder.emit(kLop3, decoder.result(0), decoder.source(1), decoder.source(2),
                        decoder.source(3));
  op.detail = static_cast<uint16_t>(decoder.operand(4).value & 0xff);
}

void bind_lop3_bool(Decoder& decoder) {
  auto results = decoder.elements(decoder.operand(0));
  Slot d = decoder.result(results[0], Type::b32);
  Op& op = decoder.emit(kLop3, d, decoder.source(1), decoder.source(2), decoder.source(3));
  op.detail = static_cast<uint16_t>(decoder.operand(4).value & 0xff);
  Slot q = decoder.source(decoder.operand(5), Type::pred);
  decoder.emit(plain_handlers<run_not_zero>, decoder.result(results[1], Type::pred), d, q).detail =
      decoder.has(Mod::_and);
}

void bind_shf(Decoder& decoder) {
  bool wrap = decoder.has(Mod::wrap);
  Handlers handlers = decoder.has(Mod::l) ? wrap ? kFunnel<true, true> : kFunnel<true, false>
                      : wrap ? kFunnel<false, true>
                                          : kFunnel<false, false>;
  decoder.emit(handlers, decoder.result(0), decoder.source(1), decoder.source(2),
               decoder.source(decoder.operand(3), Type::u32));
}

void bind_shl(Decoder& decoder) {
  decoder.emit(hot_integer(HotInteger::shl, decoder.type()), decoder.result(0), decoder.source(1),
               count_of(decoder));
}
void bind_shr(Decoder& decoder) {
  decoder.emit(hot_integer(HotInteger::shr, decoder.type()), decoder.result(0), decoder.source(1),
               count_of(decoder));
}

}  // namespace lw::machine
