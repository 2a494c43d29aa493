// PTX: Parallel Synchronization and Communication Instructions: match.sync, redux.sync.
//
// redux on f32: min and max by the rules of min.f32 and max.f32: NaN loses to any number unless
// `.NaN` is given, -0 < +0, so the order of the lanes does not matter.

#include <algorithm>
#include <array>

#include "arith/float32.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/parallel_synchronization/warp_meeting.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

template <class T>
void perform_match_any(const Meeting& meeting, Warp& warp) {
  const auto values = gather<T>(meeting, warp, &Op::a);
  std::array<LaneMask, base::kWarpSize> same{};
  for_each_value(
      meeting.lanes(), [&](int lane) { return values[lane]; },
      [&](T, LaneMask lanes) { for_each_lane(lanes, [&](int lane) { same[lane] = lanes; }); });
  for (const Meeting::Part& part : meeting.parts())
    for_each_lane(part.lanes,
                  [&](int lane) { warp.lanes<uint32_t>(part.op->d)[lane] = same[lane]; });
}

// Op: b the predicate.
template <class T>
void perform_match_all(const Meeting& meeting, Warp& warp) {
  const auto values = gather<T>(meeting, warp, &Op::a);
  const T first = values[std::countr_zero(meeting.lanes())];
  bool all = true;
  for_each_lane(meeting.lanes(), [&](int lane) { all = all && values[lane] == first; });
  for (const Meeting::Part& part : meeting.parts()) {
    for_each_lane(part.lanes, [&](int lane) {
      warp.lanes<uint32_t>(part.op->d)[lane] = all ? meeting.lanes() : 0;
    });
    warp.set_predicate(part.op->b, part.lanes, all ? part.lanes : 0);
  }
}

enum class Reduction : uint16_t { add, min, max, min_signed, max_signed, bit_and, bit_or, bit_xor };

uint32_t combine(Reduction what, uint32_t a, uint32_t b) {
  const auto x = static_cast<int32_t>(a);
  const auto y = static_cast<int32_t>(b);
  switch (what) {
    case Reduction::add:
      return a + b;
    case Reduction::min:
      return std::min(a, b);
    case Reduction::max:
      return std::max(a, b);
    case Reduction::min_signed:
      return static_cast<uint32_t>(std::min(x, y));
    case Reduction::max_signed:
      return static_cast<uint32_t>(std::max(x, y));
    case Reduction::bit_and:
      return a & b;
    case Reduction::bit_or:
      return a | b;
    case Reduction::bit_xor:
      break;
  }
  return a ^ b;
}

using Words = std::array<uint32_t, base::kWarpSize>;

void give_all(const Meeting& meeting, Warp& warp, uint32_t result) {
  for (const Meeting::Part& part : meeting.parts())
    for_each_lane(part.lanes, [&](int lane) { warp.lanes<uint32_t>(part.op->d)[lane] = result; });
}

void perform_redux(const Meeting& meeting, Warp& warp) {
  const auto what = static_cast<Reduction>(meeting.parts()[0].op->detail);
  const Words values = gather<uint32_t>(meeting, warp, &Op::a);
  const int first = std::countr_zero(meeting.lanes());
  uint32_t result = values[first];
  for_each_lane(meeting.lanes() & ~(1u << first),
                [&](int lane) { result = combine(what, result, values[lane]); });
  give_all(meeting, warp, result);
}

// `detail` of redux on f32.
constexpr uint16_t kMax = 1;
constexpr uint16_t kAbs = 2;
constexpr uint16_t kNan = 4;

void perform_redux_f32(const Meeting& meeting, Warp& warp) {
  const uint16_t how = meeting.parts()[0].op->detail;
  const arith::MinMaxMode mode{.nan = (how & kNan) != 0};
  const Words values = gather<uint32_t>(meeting, warp, &Op::a);
  auto operand = [&](int lane) {
    return arith::f32_of(how & kAbs ? values[lane] & ~arith::kSignF32 : values[lane]);
  };
  // The first lane meets itself, so that a lone NaN becomes the canonical one too.
  float result = operand(std::countr_zero(meeting.lanes()));
  for_each_lane(meeting.lanes(), [&](int lane) {
    result = how & kMax ? arith::max(result, operand(lane), mode)
                        : arith::min(result, operand(lane), mode);
  });
  give_all(meeting, warp, arith::bits_of(result));
}

Reduction reduction_of(const Decoder& decoder) {
  const bool is_signed = decoder.type() == Type::s32;
  if (decoder.has(Mod::add)) return Reduction::add;
  if (decoder.has(Mod::min)) return is_signed ? Reduction::min_signed : Reduction::min;
  if (decoder.has(Mod::max)) return is_signed ? Reduction::max_signed : Reduction::max;
  if (decoder.has(Mod::_and)) return Reduction::bit_and;
  return decoder.has(Mod::_or) ? Reduction::bit_or : Reduction::bit_xor;
}

}  // namespace

void bind_match_any(Decoder& decoder) {
  const Slot d = decoder.result(decoder.operand(0), Type::b32);
  emit_meeting(decoder,
               decoder.type() == Type::b64 ? meeting_handlers<perform_match_any<uint64_t>>
                                           : meeting_handlers<perform_match_any<uint32_t>>,
               decoder.operand(2), d, decoder.source(1));
}

void bind_match_all(Decoder& decoder) {
  const ptx::Operand& first = decoder.operand(0);
  const bool paired = first.kind == ptx::OperandKind::pair;
  const Slot d = decoder.result(paired ? decoder.elements(first)[0] : first, Type::b32);
  const Slot p = paired ? decoder.result(decoder.elements(first)[1], Type::pred)
                        : decoder.temporary(Type::pred);
  emit_meeting(decoder,
               decoder.type() == Type::b64 ? meeting_handlers<perform_match_all<uint64_t>>
                                           : meeting_handlers<perform_match_all<uint32_t>>,
               decoder.operand(2), d, decoder.source(1), p);
}

void bind_redux(Decoder& decoder) {
  emit_meeting(decoder, meeting_handlers<perform_redux>, decoder.operand(2), decoder.result(0),
               decoder.source(1))
      .detail = static_cast<uint16_t>(reduction_of(decoder));
}

void bind_redux_f32(Decoder& decoder) {
  emit_meeting(decoder, meeting_handlers<perform_redux_f32>, decoder.operand(2), decoder.result(0),
               decoder.source(1))
      .detail = static_cast<uint16_t>((decoder.has(Mod::max) ? kMax : 0) |
                                      (decoder.has(Mod::abs) ? kAbs : 0) |
                                      (decoder.has(Mod::NaN) ? kNan : 0));
}

}  // namespace lw::machine
