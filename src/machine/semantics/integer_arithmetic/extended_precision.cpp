// PTX: Extended-Precision Arithmetic Instructions: add.cc, addc, sub.cc, subc, mad.cc, madc.
//
// The condition code is one bit a lane: the carry out of the last instruction with `.cc`, after
// `sub` and `subc` the borrow. It is a predicate of its own for the whole program, written by the
// lanes that run and by nothing else: it lives across branches. (PTX does not promise it across
// calls; here it survives those, too.) A chain that adds what a subtraction left is outside the
// manual: a borrow is taken as a carry.
// Tested in extended_precision_test.cpp.

#include "arith/integer.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/lanes.h"
#include "machine/semantics/types.h"

namespace lw::machine {
namespace {

using once::lanes_at;
using once::pack;
using once::unpack;
using ptx::Mod;

// Op: `immediate` is the slot of the condition code; `detail` what is done with it.
constexpr uint16_t kTakes = 1;
constexpr uint16_t kLeaves = 2;

template <class T>
struct Sum {
  T value;
  bool carry;
};

struct Add {
  template <class T>
  Sum<T> operator()(T a, T b, T, bool in) const {
    const T sum = a + b;
    const T result = sum + T{in};
    return {result, sum < a || result < sum};
  }
};
struct Sub {
  template <class T>
  Sum<T> operator()(T a, T b, T, bool in) const {
    const T difference = a - b;
    return {difference - T{in}, a < b || difference < T{in}};
  }
};
struct MadLo {
  template <class T>
  Sum<T> operator()(T a, T b, T c, bool in) const {
    return Add()(arith::mul_lo(a, b), c, T{}, in);
  }
};
struct MadHi {
  template <class T>
  Sum<T> operator()(T a, T b, T c, bool in) const {
    return Add()(arith::mul_hi(a, b), c, T{}, in);
  }
};
// The high half of a signed product; the addition behind it carries like any other.
struct SignedMadHi {
  template <class T>
  Sum<T> operator()(T a, T b, T c, bool in) const {
    using Signed = std::make_signed_t<T>;
    const Signed high = arith::mul_hi(static_cast<Signed>(a), static_cast<Signed>(b));
    return Add()(static_cast<T>(high), c, T{}, in);
  }
};

template <class T, class Function>
void run_chain(const Op& op, Warp& warp) {
  const Slot code{static_cast<uint32_t>(op.immediate)};
  const LaneMask in = op.detail & kTakes ? warp.predicate(code) : 0;
  LaneMask out = 0;
  for_each_lane(warp.active, [&](int lane) {
    const auto at = [&](Slot slot) { return unpack<T>(lanes_at<T>(warp.registers, slot)[lane]); };
    const Sum<T> sum = Function()(at(op.a), at(op.b), at(op.c), (in >> lane & 1) != 0);
    lanes_at<T>(warp.registers, op.d)[lane] = pack<T>(sum.value);
    out |= static_cast<LaneMask>(sum.carry) << lane;
  });
  if (op.detail & kLeaves) warp.set_predicate(code, warp.active, out);
}

template <class Function>
Handlers handlers_of(ptx::Type type) {
  return ptx::bits_of(type) == 64 ? plain_handlers<run_chain<uint64_t, Function>>
                                  : plain_handlers<run_chain<uint32_t, Function>>;
}

void emit_chain(Decoder& decoder, Handlers handlers, bool takes) {
  const Slot d = decoder.result(0);
  const Slot a = decoder.source(1), b = decoder.source(2);
  const Slot c = decoder.operands().size() > 3 ? decoder.source(3) : a;
  Op& op = decoder.emit(handlers, d, a, b, c);
  op.immediate = decoder.carry().offset;
  op.detail = static_cast<uint16_t>((takes ? kTakes : 0) | (decoder.has(Mod::cc) ? kLeaves : 0));
}

void emit_mad(Decoder& decoder, bool takes) {
  const ptx::Type type = decoder.type();
  const Handlers high = is_signed(type) ? handlers_of<SignedMadHi>(type) : handlers_of<MadHi>(type);
  emit_chain(decoder, decoder.has(Mod::lo) ? handlers_of<MadLo>(type) : high, takes);
}

}  // namespace

void bind_add_cc(Decoder& decoder) { emit_chain(decoder, handlers_of<Add>(decoder.type()), false); }
void bind_addc(Decoder& decoder) { emit_chain(decoder, handlers_of<Add>(decoder.type()), true); }
void bind_sub_cc(Decoder& decoder) { emit_chain(decoder, handlers_of<Sub>(decoder.type()), false); }
void bind_subc(Decoder& decoder) { emit_chain(decoder, handlers_of<Sub>(decoder.type()), true); }
void bind_mad_cc(Decoder& decoder) { emit_mad(decoder, false); }
void bind_madc(Decoder& decoder) { emit_mad(decoder, true); }

}  // namespace lw::machine
