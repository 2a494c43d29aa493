// mma.sync, dense (PTX: Warp Level Matrix Instructions, mma). The arithmetic is arith/mma.h's: here
// registers become fragments. All lanes take part and meet; no memory is ordered (rule W-3).

#include "arith/mma.h"

#include "arith/mma_quads.h"
#include "machine/dispatch.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/warp_matrix/mma_operands.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

// Op: immediate the arith::Mma; more: the registers of A, B, C and D; detail how many of A and B.

void run_mma(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return;
  const uint32_t of_a = op.detail & 0xff;
  const uint32_t of_b = op.detail >> 8;
  const uint32_t of_c = (op.extra - of_a - of_b) / 2;
  FragmentRegisters a, b, c, d;
  const Slot* slots = warp.program->more(op);
  slots = gather(warp, slots, of_a, a);
  slots = gather(warp, slots, of_b, b);
  slots = gather(warp, slots, of_c, c);
  gather(warp, slots, of_c, d);
  const auto& mma = *reinterpret_cast<const arith::Mma*>(op.immediate);
  mma.run(a.data(), b.data(), c.data(), d.data());
  if (warp.order) warp.order->warp_meet(*warp.order_warp, warp.active);
}

std::optional<arith::Mma> find(const Decoder& decoder) {
  const auto shape = mma_shape(decoder);
  const auto d = mma_type(decoder.type(0)), a = mma_type(decoder.type(1));
  const auto b = mma_type(decoder.type(2)), c = mma_type(decoder.type(3));
  if (!shape || !a || !b || !c || d != c) return std::nullopt;
  return arith::find_mma({.shape = *shape,
                          .a = *a,
                          .b = *b,
                          .c = *c,
                          .satfinite = decoder.has(Mod::satfinite),
                          .bits = bit_operation(decoder)},
                         mma_target(decoder.module()));
}

void bind_dense(Decoder& decoder) {
  const auto found = find(decoder);
  if (!found) return decoder.not_modelled("");
  std::vector<Slot> slots = decoder.sources(decoder.operand(1), fragment_register(decoder.type(1)));
  const size_t of_a = slots.size();
  append(slots, decoder.sources(decoder.operand(2), fragment_register(decoder.type(2))));
  const size_t of_b = slots.size() - of_a;
  const Type c = decoder.type(3) == Type::f32 ? Type::f32 : fragment_register(decoder.type(3));
  append(slots, decoder.sources(decoder.operand(3), c));
  append(slots, decoder.results(decoder.operand(0), fragment_register(decoder.type(0))));
  Op& op = decoder.emit(aligned_handlers<run_mma>);
  auto mma = std::make_shared<const arith::Mma>(*found);
  op.immediate = reinterpret_cast<uint64_t>(mma.get());
  op.detail = static_cast<uint16_t>(of_a | of_b << 8);
  decoder.attach(op, slots);
  decoder.keep(std::move(mma));
}

// m8n8k4. Op: immediate the arith::QuadsMma; more: the registers of A, B, C and D.
void run_quads(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return;
  const uint32_t of_c = (op.extra - 4u) / 2;
  FragmentRegisters a, b, c, d;
  const Slot* slots = warp.program->more(op);
  slots = gather(warp, slots, 2, a);
  slots = gather(warp, slots, 2, b);
  slots = gather(warp, slots, of_c, c);
  gather(warp, slots, of_c, d);
  reinterpret_cast<const arith::QuadsMma*>(op.immediate)
      ->run(a.data(), b.data(), c.data(), d.data());
  if (warp.order) warp.order->warp_meet(*warp.order_warp, warp.active);
}

// The first layout is A's.
bool first_is_by_rows(const Decoder& decoder) {
  return decoder.opcode().text.find(".m8n8k4.row.") != std::string::npos;
}
bool second_is_by_columns(const Decoder& decoder) {
  const std::string& text = decoder.opcode().text;
  return text.find(".row.col.") != std::string::npos || text.find(".col.col.") != std::string::npos;
}

}  // namespace

void bind_mma_f16_m8n8k4(Decoder& decoder) {
  if (mma_target(decoder.module()).sm < 80)
    return decoder.not_modelled("its sums on sm_70 are not known");
  if (decoder.type(0) != decoder.type(3)) return decoder.not_modelled("C and D of two types");
  auto mma = std::make_shared<arith::QuadsMma>();
  mma->a_by_rows = first_is_by_rows(decoder);
  mma->b_by_columns = second_is_by_columns(decoder);
  mma->f16 = decoder.type(0) == Type::f16;
  std::vector<Slot> slots = decoder.sources(decoder.operand(1), Type::b32);
  append(slots, decoder.sources(decoder.operand(2), Type::b32));
  append(slots, decoder.sources(decoder.operand(3), mma->f16 ? Type::b32 : Type::f32));
  append(slots, decoder.results(decoder.operand(0), Type::b32));
  Op& op = decoder.emit(aligned_handlers<run_quads>);
  op.immediate = reinterpret_cast<uint64_t>(mma.get());
  decoder.attach(op, slots);
  decoder.keep(std::move(mma));
}

void bind_mma_f16(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_bf16(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_tf32(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_f64(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_f64_m16(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_fp8(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_int8(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_int4(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_b1(Decoder& decoder) { bind_dense(decoder); }

}  // namespace lw::machine
