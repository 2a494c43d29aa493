// PTX: Mixed Precision Floating-Point Instructions: add, sub and fma of f32 with f16 or bf16
// operands, which widen exactly; alone, or two at once (where b of fma is f32x2).

#include <bit>

#include "arith/float32.h"
#include "arith/formats.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/floating_point/modes.h"

namespace lw::machine {
namespace {

using ptx::Type;

enum class Mixed : uint8_t { add, sub, fma };

template <bool bf16>
float widen(uint32_t word) {
  const auto half = static_cast<uint16_t>(word);
  return bf16 ? arith::f32_from_bf16(half) : arith::f32_from_f16(half);
}

// Op: a half, b half (fma), c f32.
template <Mixed what, bool bf16>
void run(const Op& op, Warp& warp) {
  const arith::FloatMode mode = decode_mode(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    const float a = widen<bf16>(warp.lanes<uint32_t>(op.a)[lane]);
    const auto c = std::bit_cast<float>(warp.lanes<uint32_t>(op.c)[lane]);
    float r = 0;
    if constexpr (what == Mixed::add) r = arith::add(a, c, mode);
    if constexpr (what == Mixed::sub) r = arith::sub(a, c, mode);
    if constexpr (what == Mixed::fma)
      r = arith::fma(a, widen<bf16>(warp.lanes<uint32_t>(op.b)[lane]), c, mode);
    warp.lanes<uint32_t>(op.d)[lane] = std::bit_cast<uint32_t>(r);
  });
}

// Two at once. Op: a two halves, b (fma) and c two f32.
template <Mixed what, bool bf16>
void run_pair(const Op& op, Warp& warp) {
  const arith::FloatMode mode = decode_mode(op.detail);
  for_each_lane(warp.active, [&](int lane) {
    const uint32_t halves = warp.lanes<uint32_t>(op.a)[lane];
    const uint64_t addends = warp.lanes<uint64_t>(op.c)[lane];
    uint64_t result = 0;
    for (int shift : {0, 32}) {
      const float a = widen<bf16>(halves >> (shift / 2));
      const auto c = std::bit_cast<float>(static_cast<uint32_t>(addends >> shift));
      float r = 0;
      if constexpr (what == Mixed::add) r = arith::add(a, c, mode);
      if constexpr (what == Mixed::sub) r = arith::sub(a, c, mode);
      if constexpr (what == Mixed::fma) {
        const uint64_t factors = warp.lanes<uint64_t>(op.b)[lane];
        r = arith::fma(a, std::bit_cast<float>(static_cast<uint32_t>(factors >> shift)), c, mode);
      }
      result |= uint64_t{std::bit_cast<uint32_t>(r)} << shift;
    }
    warp.lanes<uint64_t>(op.d)[lane] = result;
  });
}

template <Mixed what>
void bind_pair(Decoder& decoder) {
  const Type halves = decoder.type(1);
  const size_t last = decoder.operands().size() - 1;
  const Slot d = decoder.result(decoder.operand(0), Type::f32x2);
  const Slot a = decoder.source(decoder.operand(1), halves);
  const Slot b = what == Mixed::fma ? decoder.source(decoder.operand(2), Type::f32x2) : Slot{};
  const Slot c = decoder.source(decoder.operand(last), Type::f32x2);
  const Handlers handlers = halves == Type::bf16x2 ? plain_handlers<run_pair<what, true>>
                                                   : plain_handlers<run_pair<what, false>>;
  decoder.emit(handlers, d, a, b, c).detail = encode_mode(float_mode(decoder));
}

template <Mixed what>
void bind(Decoder& decoder) {
  const Type half = decoder.type(1);
  const size_t last = decoder.operands().size() - 1;
  const Slot d = decoder.result(decoder.operand(0), Type::f32);
  const Slot a = decoder.source(decoder.operand(1), half);
  const Slot b = what == Mixed::fma ? decoder.source(decoder.operand(2), half) : Slot{};
  const Slot c = decoder.source(decoder.operand(last), Type::f32);
  const Handlers handlers =
      half == Type::bf16 ? plain_handlers<run<what, true>> : plain_handlers<run<what, false>>;
  decoder.emit(handlers, d, a, b, c).detail = encode_mode(float_mode(decoder));
}

}  // namespace

void bind_add_mixed(Decoder& decoder) { bind<Mixed::add>(decoder); }
void bind_sub_mixed(Decoder& decoder) { bind<Mixed::sub>(decoder); }
void bind_fma_mixed(Decoder& decoder) { bind<Mixed::fma>(decoder); }
void bind_add_mixed_x2(Decoder& decoder) { bind_pair<Mixed::add>(decoder); }
void bind_sub_mixed_x2(Decoder& decoder) { bind_pair<Mixed::sub>(decoder); }
void bind_fma_mixed_x2(Decoder& decoder) { bind_pair<Mixed::fma>(decoder); }

}  // namespace lw::machine
