// PTX: Data Movement and Conversion Instructions: cvt.rs to f16x2 and bf16x2.
//
// The random bits that the instruction is given are added to the bits of the significand that the
// result has no place for; a carry out of them rounds away from zero. Of f16 these are thirteen, of
// bf16 sixteen, and the random bits are as many. An f16 result below 2^-14 drops more, and the
// manual does not say to which of them the random bits are added: a run that needs it ends as `not
// analysed`. The forms of four results share sixteen random bits between two elements that drop
// twenty and more; they are not modelled.
// Tested in convert_stochastic_test.cpp.

#include <algorithm>

#include "arith/formats.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/data_movement/convert.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

constexpr uint16_t kRelu = 1;
constexpr uint16_t kSatfinite = 2;

constexpr uint32_t kSign = 0x80000000u;
constexpr uint32_t kInfinity = 0x7f800000u;

// A narrow format: what it drops of an f32's significand, its largest number and its infinity.
struct Target {
  int dropped;
  uint32_t least_normal;  // as f32
  uint32_t largest;       // as f32; with anything beyond, `.satfinite` has it
  uint32_t largest_code;
  uint32_t infinity_code;
};
constexpr Target kHalf{13, 0x38800000, 0x477fe000, 0x7bff, 0x7c00};
constexpr Target kBrain{16, 0, 0x7f7f0000, 0x7f7f, 0x7f80};

bool is_open(const Target& to, uint32_t bits) {
  const uint32_t magnitude = bits & ~kSign;
  return magnitude != 0 && magnitude < to.least_normal;
}

// The code without its sign, of a number that is normal in the format.
uint32_t code_of(const Target& to, uint32_t magnitude) {
  const uint32_t bias = to.dropped == 13 ? 112u << 10 : 0;
  return (magnitude >> to.dropped) - bias;
}

uint32_t rounded(const Target& to, uint32_t bits, uint32_t random, uint16_t how) {
  const uint32_t magnitude = bits & ~kSign;
  if (magnitude > kInfinity) return arith::kNanF16;
  if ((how & kRelu) && (bits & kSign)) return 0;
  const uint32_t sign = bits >> 16 & 0x8000;
  if (magnitude == 0) return sign;
  if ((how & kSatfinite) && magnitude >= to.largest) return sign | to.largest_code;
  if (magnitude >= kInfinity) return sign | to.infinity_code;
  const uint32_t kept = random & ((1u << to.dropped) - 1);
  return sign | std::min(code_of(to, magnitude + kept), to.infinity_code);
}

// Op: a, b the sources for the high and the low half, c the random bits.
template <bool brain>
void run_stochastic(const Op& op, Warp& warp) {
  constexpr Target kTo = brain ? kBrain : kHalf;
  const uint32_t* a = warp.lanes<uint32_t>(op.a);
  const uint32_t* b = warp.lanes<uint32_t>(op.b);
  bool open = false;
  for_each_lane(warp.active,
                [&](int lane) { open = open || is_open(kTo, a[lane]) || is_open(kTo, b[lane]); });
  if (open) return warp.not_analysed(op, "stochastic rounding to a subnormal number");
  for_each_lane(warp.active, [&](int lane) {
    const uint32_t random = warp.lanes<uint32_t>(op.c)[lane];
    warp.lanes<uint32_t>(op.d)[lane] = rounded(kTo, a[lane], random >> 16, op.detail) << 16 |
                                       rounded(kTo, b[lane], random, op.detail);
  });
}

}  // namespace

void bind_cvt_rs_f16x2(Decoder& decoder) {
  const Handlers handlers = decoder.type(0) == Type::bf16x2 ? plain_handlers<run_stochastic<true>>
                                                            : plain_handlers<run_stochastic<false>>;
  const Slot d = word_result(decoder, decoder.operand(0), Type::b32);
  const Slot a = word_source(decoder, decoder.operand(1), Type::f32);
  const Slot b = decoder.source(decoder.operand(2), Type::f32);
  Op& op = decoder.emit(handlers, d, a, b, decoder.source(decoder.operand(3), Type::b32));
  op.detail = static_cast<uint16_t>((decoder.has(Mod::relu) ? kRelu : 0) |
                                    (decoder.has(Mod::satfinite) ? kSatfinite : 0));
  finish_word(decoder, decoder.operand(0), Type::b32, d);
}

}  // namespace lw::machine
