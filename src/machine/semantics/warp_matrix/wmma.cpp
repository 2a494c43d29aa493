// wmma.mma (PTX: Warp Level Matrix Instructions using wmma): one or two mma.sync instructions on
// the registers of the fragments (wmma_fragment.h).
//
// The sums are those of mma.sync on the same target. With different types of C and D the sum is one
// in f32, as in the code of ptxas: an f16 C is widened before it, an f16 D rounded to nearest even
// after it. An H200 sums tf32 in two steps of four products, as mma.sync.m16n8k4 twice. Which
// layouts A and B were loaded by makes no difference here.

#include <array>
#include <cstring>

#include "arith/formats.h"
#include "machine/dispatch.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/floating_point/modes.h"
#include "machine/semantics/warp_matrix/mma_operands.h"
#include "machine/semantics/warp_matrix/wmma_fragment.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using arith::MmaType;
using base::kWarpSize;
using ptx::Mod;
using ptx::Type;

// Op: immediate the Product; more: the registers of A, B, C and D.
struct Product {
  arith::Mma mma;  // of a step of a tile
  int steps = 1;   // along K
  WmmaTiling tiling;
  size_t of_a = 0, of_b = 0, of_c = 0, of_d = 0;  // registers
  bool half_c = false, half_d = false;            // C or D is f16 where the sum is f32
};

// The lanes of the registers of C or D, as the sum has them.
struct Accumulator {
  alignas(64) std::array<std::array<uint64_t, kWarpSize>, kMaxFragment> lanes;
  std::byte* at(size_t r) { return reinterpret_cast<std::byte*>(lanes[r].data()); }
};

// Element 2r + i of a fragment of halves is half i of register r.
void widen(const FragmentRegisters& halves, size_t count, Accumulator& wide) {
  for (size_t r = 0; r < count; ++r)
    for (int lane = 0; lane < kWarpSize; ++lane) {
      const uint32_t pair = static_cast<const uint32_t*>(halves[r])[lane];
      for (size_t i = 0; i < 2; ++i) {
        const float value = arith::f32_from_f16(static_cast<uint16_t>(pair >> (16 * i)));
        std::memcpy(wide.at(2 * r + i) + lane * sizeof value, &value, sizeof value);
      }
    }
}

void narrow(Accumulator& wide, size_t count, const FragmentRegisters& halves) {
  for (size_t r = 0; r < count; ++r)
    for (int lane = 0; lane < kWarpSize; ++lane) {
      uint32_t pair = 0;
      for (size_t i = 0; i < 2; ++i) {
        float value;
        std::memcpy(&value, wide.at(2 * r + i) + lane * sizeof value, sizeof value);
        pair |= uint32_t{arith::f16_from_f32_rn(value)} << (16 * i);
      }
      static_cast<uint32_t*>(halves[r])[lane] = pair;
    }
}

// The registers of a tile: those of an operand that both tiles share, or the tile's own.
void* const* of_tile(const FragmentRegisters& fragment, int registers, bool own, int tile) {
  return fragment.data() + (own ? registers * tile : 0);
}

// All tiles from registers a, b (as the mma has them) and c to `results`.
void multiply(const Product& product, const FragmentRegisters& a, const FragmentRegisters& b,
              const FragmentRegisters& c, Accumulator& results) {
  const arith::Mma& mma = product.mma;
  for (int tile = 0; tile < product.tiling.tiles; ++tile) {
    Accumulator before;
    FragmentRegisters d{}, sum{};
    for (int r = 0; r < mma.c_registers; ++r) {
      d[static_cast<size_t>(r)] =
          results.at(static_cast<size_t>(mma.c_registers) * static_cast<size_t>(tile) +
                     static_cast<size_t>(r));
      sum[static_cast<size_t>(r)] = before.at(static_cast<size_t>(r));
    }
    void* const* const of_a =
        of_tile(a, mma.a_registers * product.steps, product.tiling.over_rows, tile);
    void* const* const of_b =
        of_tile(b, mma.b_registers * product.steps, !product.tiling.over_rows, tile);
    void* const* of_c = of_tile(c, mma.c_registers, true, tile);
    for (int step = 0; step < product.steps; ++step) {
      mma.run(of_a + mma.a_registers * step, of_b + mma.b_registers * step, of_c, d.data());
      if (step + 1 == product.steps) break;
      for (int r = 0; r < mma.c_registers; ++r)
        std::memcpy(sum[static_cast<size_t>(r)], d[static_cast<size_t>(r)], kWarpSize * 4);
      of_c = sum.data();
    }
  }
}

void run_product(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return;
  const auto& product = *reinterpret_cast<const Product*>(op.immediate);
  FragmentRegisters a, b, c, d;
  const Slot* slots = warp.program->more(op);
  slots = gather(warp, slots, product.of_a, a);
  slots = gather(warp, slots, product.of_b, b);
  slots = gather(warp, slots, product.of_c, c);
  gather(warp, slots, product.of_d, d);
  Accumulator wide, results;
  if (product.half_c) {
    widen(c, product.of_c, wide);
    for (size_t r = 0; r < 2 * product.of_c; ++r) c[r] = wide.at(r);
  }
  const bool transposed = product.tiling.transposed;
  multiply(product, transposed ? b : a, transposed ? a : b, c, results);
  if (product.half_d) {
    narrow(results, product.of_d, d);
  } else {
    const size_t bytes = kWarpSize * (product.mma.form.c == MmaType::kF64 ? 8u : 4u);
    for (size_t r = 0; r < product.of_d; ++r) std::memcpy(d[r], results.at(r), bytes);
  }
  if (warp.order) warp.order->warp_meet(*warp.order_warp, warp.active);
}

struct Types {
  Type a, b, c, d;
};

std::optional<Product> product_of(const Decoder& decoder, Types types) {
  const auto tiling = wmma_tiling(decoder);
  auto a = mma_type(types.a), b = mma_type(types.b);
  const bool mixed = types.c != types.d;
  const auto c = mixed ? MmaType::kF32 : mma_type(types.c);
  if (!tiling || !a || !b || !c) return std::nullopt;
  if (tiling->transposed) std::swap(a, b);
  const int steps = *a == MmaType::kTf32 ? 2 : 1;
  arith::MmaShape shape = tiling->tile;
  shape.k /= steps;
  const auto mma = arith::find_mma({.shape = shape,
                                    .a = *a,
                                    .b = *b,
                                    .c = *c,
                                    .satfinite = decoder.has(Mod::satfinite),
                                    .bits = bit_operation(decoder),
                                    .rounding = rounding_of(decoder)},
                                   mma_target(decoder.module()));
  if (!mma) return std::nullopt;
  return Product{.mma = *mma,
                 .steps = steps,
                 .tiling = *tiling,
                 .half_c = mixed && types.c == Type::f16,
                 .half_d = mixed && types.d == Type::f16};
}

void bind_product(Decoder& decoder, Types types) {
  const auto found = product_of(decoder, types);
  if (!found) return decoder.not_modelled("");
  auto product = std::make_shared<Product>(*found);
  std::vector<Slot> slots;
  const auto add = [&](const std::vector<Slot>& registers) {
    append(slots, registers);
    return registers.size();
  };
  product->of_a = add(decoder.sources(decoder.operand(1), fragment_register(types.a)));
  product->of_b = add(decoder.sources(decoder.operand(2), fragment_register(types.b)));
  product->of_c = add(decoder.sources(
      decoder.operand(3), types.c == Type::f32 ? Type::f32 : fragment_register(types.c)));
  product->of_d = add(decoder.results(decoder.operand(0), fragment_register(types.d)));
  Op& op = decoder.emit(aligned_handlers<run_product>);
  op.immediate = reinterpret_cast<uint64_t>(product.get());
  decoder.attach(op, slots);
  decoder.keep(std::move(product));
}

// d, a, b, c as the opcode names them.
void bind_named(Decoder& decoder) {
  bind_product(
      decoder,
      {.a = decoder.type(1), .b = decoder.type(2), .c = decoder.type(3), .d = decoder.type(0)});
}

}  // namespace

void bind_wmma_mma_f16(Decoder& decoder) {
  if (decoder.has(Mod::satfinite)) return decoder.not_modelled("");
  bind_product(decoder,
               {.a = Type::f16, .b = Type::f16, .c = decoder.type(1), .d = decoder.type(0)});
}
void bind_wmma_mma_int8(Decoder& decoder) { bind_named(decoder); }
void bind_wmma_mma_bf16(Decoder& decoder) { bind_named(decoder); }
void bind_wmma_mma_tf32(Decoder& decoder) { bind_named(decoder); }
void bind_wmma_mma_f64(Decoder& decoder) { bind_named(decoder); }
void bind_wmma_mma_int4(Decoder& decoder) { bind_named(decoder); }
void bind_wmma_mma_b1(Decoder& decoder) { bind_named(decoder); }

}  // namespace lw::machine
