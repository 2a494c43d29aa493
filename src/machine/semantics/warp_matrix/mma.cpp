// mma.sync, dense (PTX: Warp Level Matrix Instructions, mma). The arithmetic is arith/mma.h's: here
// registers become fragments. All lanes take part and meet; no memory is ordered (rule W-3).

#include "arith/mma.h"

#include <array>
#include <cstdlib>

#include "machine/dispatch.h"
#include "machine/semantics/bind.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using arith::MmaShape;
using arith::MmaType;
using ptx::Mod;
using ptx::Type;

// Op: immediate the arith::Mma; more: the registers of A, B, C and D; detail how many of A and B.
constexpr size_t kMaxFragment = 8;
using Registers = std::array<void*, kMaxFragment>;

const Slot* gather(const Warp& warp, const Slot* slots, uint32_t count, Registers& fragment) {
  for (uint32_t index = 0; index < count; ++index)
    fragment[index] = warp.lanes<std::byte>(slots[index]);
  return slots + count;
}

void run_mma(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return;
  const uint32_t of_a = op.detail & 0xff;
  const uint32_t of_b = op.detail >> 8;
  const uint32_t of_c = (op.extra - of_a - of_b) / 2;
  Registers a, b, c, d;
  const Slot* slots = warp.program->more(op);
  slots = gather(warp, slots, of_a, a);
  slots = gather(warp, slots, of_b, b);
  slots = gather(warp, slots, of_c, c);
  gather(warp, slots, of_c, d);
  const auto& mma = *reinterpret_cast<const arith::Mma*>(op.immediate);
  mma.run(a.data(), b.data(), c.data(), d.data());
  if (warp.order) warp.order->warp_meet(*warp.order_warp, warp.active);
}

std::optional<MmaType> mma_type(Type type) {
  switch (type) {
    case Type::f16:
      return MmaType::kF16;
    case Type::bf16:
      return MmaType::kBf16;
    case Type::tf32:
      return MmaType::kTf32;
    case Type::e4m3:
      return MmaType::kE4m3;
    case Type::e5m2:
      return MmaType::kE5m2;
    case Type::s8:
      return MmaType::kS8;
    case Type::u8:
      return MmaType::kU8;
    case Type::s4:
      return MmaType::kS4;
    case Type::u4:
      return MmaType::kU4;
    case Type::b1:
      return MmaType::kB1;
    case Type::f32:
      return MmaType::kF32;
    case Type::s32:
      return MmaType::kS32;
    case Type::f64:
      return MmaType::kF64;
    default:
      return std::nullopt;
  }
}

std::optional<MmaShape> shape_of(const Decoder& decoder) {
  constexpr std::pair<Mod, MmaShape> kShapes[] = {
      {Mod::m16n8k4, {16, 8, 4}},     {Mod::m16n8k8, {16, 8, 8}},    {Mod::m16n8k16, {16, 8, 16}},
      {Mod::m16n8k32, {16, 8, 32}},   {Mod::m16n8k64, {16, 8, 64}},  {Mod::m8n8k4, {8, 8, 4}},
      {Mod::m8n8k16, {8, 8, 16}},     {Mod::m8n8k32, {8, 8, 32}},    {Mod::m8n8k128, {8, 8, 128}},
      {Mod::m16n8k128, {16, 8, 128}}, {Mod::m16n8k256, {16, 8, 256}}};
  for (auto [mod, shape] : kShapes)
    if (decoder.has(mod)) return shape;
  return std::nullopt;
}

// `sm_90a` -> 90.
int target_of(const ptx::Module& module) {
  for (const std::string& target : module.target)
    if (target.starts_with("sm_")) return std::atoi(target.c_str() + 3);
  return 0;
}

std::optional<arith::Mma> find(const Decoder& decoder) {
  const auto shape = shape_of(decoder);
  const auto d = mma_type(decoder.type(0)), a = mma_type(decoder.type(1));
  const auto b = mma_type(decoder.type(2)), c = mma_type(decoder.type(3));
  if (!shape || !a || !b || !c || d != c) return std::nullopt;
  return arith::find_mma({*shape, *a, *b, *c, decoder.has(Mod::satfinite)},
                         {target_of(decoder.module())});
}

// Registers hold several narrow elements: only f64 needs wide ones.
Type register_type(Type element) { return element == Type::f64 ? Type::f64 : Type::b32; }

void bind_dense(Decoder& decoder) {
  const auto found = find(decoder);
  if (!found) return decoder.not_modelled("");
  std::vector<Slot> slots = decoder.sources(decoder.operand(1), register_type(decoder.type(1)));
  const size_t of_a = slots.size();
  const auto add = [&](const std::vector<Slot>& more) {
    slots.insert(slots.end(), more.begin(), more.end());
  };
  add(decoder.sources(decoder.operand(2), register_type(decoder.type(2))));
  const size_t of_b = slots.size() - of_a;
  const Type c = decoder.type(3) == Type::f32 ? Type::f32 : register_type(decoder.type(3));
  add(decoder.sources(decoder.operand(3), c));
  add(decoder.results(decoder.operand(0), register_type(decoder.type(0))));
  Op& op = decoder.emit(aligned_handlers<run_mma>);
  auto mma = std::make_shared<const arith::Mma>(*found);
  op.immediate = reinterpret_cast<uint64_t>(mma.get());
  op.detail = static_cast<uint16_t>(of_a | of_b << 8);
  decoder.attach(op, slots);
  decoder.keep(std::move(mma));
}

}  // namespace

void bind_mma_f16(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_bf16(Decoder& decoder) { bind_dense(decoder); }
void bind_mma_tf32(Decoder& decoder) { bind_dense(decoder); }

}  // namespace lw::machine
