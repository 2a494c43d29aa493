// mma.sync of the kinds f8f6f4, mxf8f6f4, mxf4 and mxf4nvf4 (PTX: Warp Level Matrix Instructions,
// mma). The arithmetic is arith/mma_scaled.h's.

#include "arith/mma_scaled.h"

#include "machine/dispatch.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/warp_matrix/mma_operands.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using arith::ScaleSelector;
using arith::ScaleType;
using ptx::Mod;
using ptx::Type;

// Op: a, b the scales; immediate the arith::ScaledMma; more: the
// registers of A, B, C and D, and, with scales, byte and thread of A, of B.
ScaleSelector selector(const Warp& warp, const Slot* slots) {
  return {warp.lanes<uint32_t>(slots[0])[0] & 0xffff, warp.lanes<uint32_t>(slots[1])[0] & 0xffff};
}

void run_scaled(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return;
  const auto& mma = *reinterpret_cast<const arith::ScaledMma*>(op.immediate);
  const auto of_c = static_cast<size_t>(mma.c_registers());
  FragmentRegisters a, b, c, d;
  const Slot* slots = warp.program->more(op);
  slots = gather(warp, slots, arith::kScaledRegistersOfA, a);
  slots = gather(warp, slots, arith::kScaledRegistersOfB, b);
  slots = gather(warp, slots, of_c, c);
  slots = gather(warp, slots, of_c, d);
  ScaleSelector of_a{}, of_b{};
  if (mma.form.scale != ScaleType::kNone)
    of_a = selector(warp, slots), of_b = selector(warp, slots + 2);
  if (!mma.can_select(of_a, of_b))
    return warp.not_analysed(op, "a selector of scales that the instruction does not have");
  mma.run(a.data(), b.data(), c.data(), warp.lanes<uint32_t>(op.a), of_a,
          warp.lanes<uint32_t>(op.b), of_b, d.data());
  if (warp.order) warp.order->warp_meet(*warp.order_warp, warp.active);
}

arith::Format format_of(Type type) {
  switch (type) {
    case Type::e4m3:
      return arith::kE4m3;
    case Type::e5m2:
      return arith::kE5m2;
    case Type::e3m2:
      return arith::kE3m2;
    case Type::e2m3:
      return arith::kE2m3;
    default:
      return arith::kE2m1;
  }
}

int scales_of(const Decoder& decoder) {
  if (decoder.has(Mod::scale_vec_4X)) return 4;
  return decoder.has(Mod::m16n8k64) ? 2 : 1;  // also where the word is left out
}

void bind_scaled(Decoder& decoder, ScaleType scale) {
  const Type c = decoder.type(3);
  if (decoder.type(0) != c) return decoder.not_modelled("");
  auto mma = std::make_shared<const arith::ScaledMma>(
      arith::ScaledMma{{.k = decoder.has(Mod::m16n8k64) ? 64 : 32,
                        .a = format_of(decoder.type(1)),
                        .b = format_of(decoder.type(2)),
                        .half = c == Type::f16,
                        .scale = scale,
                        .scales = scales_of(decoder)}});
  std::vector<Slot> slots = decoder.sources(decoder.operand(1), Type::b32);
  append(slots, decoder.sources(decoder.operand(2), Type::b32));
  append(slots, decoder.sources(decoder.operand(3), c == Type::f32 ? Type::f32 : Type::b32));
  append(slots, decoder.results(decoder.operand(0), Type::b32));
  Slot of_a, of_b;
  if (scale != ScaleType::kNone) {
    of_a = decoder.source(decoder.operand(4), Type::b32);
    append(slots, decoder.sources(decoder.operand(5), Type::u16));
    of_b = decoder.source(decoder.operand(6), Type::b32);
    append(slots, decoder.sources(decoder.operand(7), Type::u16));
  }
  Op& op = decoder.emit(aligned_handlers<run_scaled>, {}, of_a, of_b);
  op.immediate = reinterpret_cast<uint64_t>(mma.get());
  decoder.attach(op, slots);
  decoder.keep(std::move(mma));
}

}  // namespace

void bind_mma_f8f6f4(Decoder& decoder) { bind_scaled(decoder, ScaleType::kNone); }
void bind_mma_mxf8f6f4(Decoder& decoder) { bind_scaled(decoder, ScaleType::kUe8m0); }
void bind_mma_mxf4(Decoder& decoder) { bind_scaled(decoder, ScaleType::kUe8m0); }
void bind_mma_mxf4nvf4(Decoder& decoder) {
  bind_scaled(decoder, decoder.type(4) == Type::ue4m3 ? ScaleType::kUe4m3 : ScaleType::kUe8m0);
}

}  // namespace lw::machine
