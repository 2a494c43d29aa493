// mma.sp (PTX: Warp Level Matrix Instructions, mma.sp): as mma.sync, with the places of A's
// elements in one more register. The arithmetic is arith/mma_sparse.h's.

#include "arith/mma_sparse.h"

#include "machine/dispatch.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/warp_matrix/mma_operands.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

// Op: a the metadata, immediate the arith::SparseMma; more: the registers of A, B, C and D.
void run_sparse(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return;
  const auto& mma = *reinterpret_cast<const arith::SparseMma*>(op.immediate);
  FragmentRegisters a, b, c, d;
  const Slot* slots = warp.program->more(op);
  slots = gather(warp, slots, static_cast<size_t>(mma.a_registers), a);
  slots = gather(warp, slots, static_cast<size_t>(mma.b_registers), b);
  slots = gather(warp, slots, static_cast<size_t>(mma.c_registers), c);
  gather(warp, slots, static_cast<size_t>(mma.c_registers), d);
  mma.run(a.data(), b.data(), c.data(), warp.lanes<uint32_t>(op.a), d.data());
  if (warp.order) warp.order->warp_meet(*warp.order_warp, warp.active);
}

std::optional<arith::SparseMma> find(const Decoder& decoder) {
  const auto shape = mma_shape(decoder);
  const auto d = mma_type(decoder.type(0)), a = mma_type(decoder.type(1));
  const auto b = mma_type(decoder.type(2)), c = mma_type(decoder.type(3));
  if (!shape || !a || !b || !c || d != c) return std::nullopt;
  return arith::find_sparse_mma(
      {.shape = *shape, .a = *a, .b = *b, .c = *c, .satfinite = decoder.has(Mod::satfinite)},
      static_cast<int>(decoder.operand(5).value), mma_target(decoder.module()));
}

void bind_sparse(Decoder& decoder) {
  const auto found = find(decoder);
  if (!found) return decoder.not_modelled("");
  std::vector<Slot> slots = decoder.sources(decoder.operand(1), Type::b32);
  append(slots, decoder.sources(decoder.operand(2), Type::b32));
  const Type c = decoder.type(3) == Type::f32 ? Type::f32 : Type::b32;
  append(slots, decoder.sources(decoder.operand(3), c));
  append(slots, decoder.results(decoder.operand(0), Type::b32));
  const Slot metadata = decoder.source(decoder.operand(4), Type::b32);
  Op& op = decoder.emit(aligned_handlers<run_sparse>, {}, metadata);
  auto mma = std::make_shared<const arith::SparseMma>(*found);
  op.immediate = reinterpret_cast<uint64_t>(mma.get());
  decoder.attach(op, slots);
  decoder.keep(std::move(mma));
}

}  // namespace

void bind_mma_sp_f16(Decoder& decoder) { bind_sparse(decoder); }
void bind_mma_sp_bf16(Decoder& decoder) { bind_sparse(decoder); }
void bind_mma_sp_tf32(Decoder& decoder) { bind_sparse(decoder); }
void bind_mma_sp_fp8(Decoder& decoder) { bind_sparse(decoder); }
void bind_mma_sp_fp8_f16(Decoder& decoder) { bind_sparse(decoder); }
void bind_mma_sp_int8(Decoder& decoder) { bind_sparse(decoder); }
void bind_mma_sp_int4(Decoder& decoder) { bind_sparse(decoder); }

}  // namespace lw::machine
