// tcgen05.ld, st, wait::ld, wait::st and the fences (PTX: TensorCore 5th Generation Instructions,
// Tensor Memory Load and Store).
//
// A warp moves cells of its quarter of the lanes from or to registers. The hardware does it some
// time before the `wait`; the bits are moved here when the instruction is issued, one of the times
// it may choose. When the cells have been read for everybody else is the order engine's business.
//
// Warps 1 to 3 of a warpgroup are seen to give their lane both counted from the start of tensor
// memory and from the start of their quarter; the manual's addresses are of the first kind, and
// lanes 0 to 31 are taken for the second.

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "arith/float32.h"
#include "machine/dispatch.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/shared_place.h"
#include "machine/semantics/telling.h"
#include "machine/semantics/tensor_memory/tensor_site.h"
#include "machine/tensor_memory_shapes.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

using diagnose::RuleId;
using ptx::Mod;
using ptx::Type;

// Op: a address, b displacement, d the result of a reduction, immediate the offset of .16x32bx2;
// detail the shape, and flags; more: the registers.
constexpr uint16_t kPacked = 1 << 8;
constexpr uint16_t kMax = 1 << 9, kAbsolute = 1 << 10, kNan = 1 << 11;  // of a reduction

struct Site {
  TensorShape shape;
  uint32_t step;       // 2 if packed
  uint32_t registers;  // of a thread
  int32_t offset;
  uint32_t lane;  // of tensor memory
  uint32_t column;
};

// The first lane that the warp means: within its quarter, whichever way it counts.
std::optional<uint32_t> lane_of(const Op& op, Warp& warp, uint32_t lane, TensorShape shape) {
  const uint32_t quarter = warp.id.value % (kTensorLanes / kLanesOfWarp);
  const uint32_t named = lane / kLanesOfWarp, within = lane % kLanesOfWarp;
  if ((named != 0 && named != quarter) || within + tensor_shape_lanes(shape) > kLanesOfWarp) {
    misuse_tensor_memory(op, warp,
                         fmt::format("lanes {} to {}: the warp reaches lanes {} to {}", lane,
                                     lane + tensor_shape_lanes(shape) - 1, quarter * kLanesOfWarp,
                                     quarter * kLanesOfWarp + kLanesOfWarp - 1),
                         RuleId::kT5_24);
    return std::nullopt;
  }
  return quarter * kLanesOfWarp + within;
}

bool check_halves(const Op& op, Warp& warp, const Site& site) {
  const uint32_t count = tensor_shape_columns(site.shape, site.registers, site.step);
  if (!check_columns(op, warp, site.column, count)) return false;
  if (site.shape != TensorShape::k16x32bx2) return true;
  const int64_t second = int64_t{site.column} + site.offset;
  if (second >= 0) return check_columns(op, warp, static_cast<uint32_t>(second), count);
  misuse_tensor_memory(op, warp, fmt::format("the second half is at column {}", second),
                       RuleId::kT5_25);
  return false;
}

std::optional<Site> site_of(const Op& op, Warp& warp) {
  if (!require_whole_warp(op, warp)) return std::nullopt;
  const auto base = uniform_value(op, warp, "address", op.a);
  if (!base) return std::nullopt;
  const auto [lane, column] =
      tensor_address(*base + static_cast<uint32_t>(*warp.lanes<uint64_t>(op.b)));
  const auto shape = static_cast<TensorShape>(op.detail & 0xff);
  const auto first = lane_of(op, warp, lane, shape);
  if (!first) return std::nullopt;
  const Site site{shape,    (op.detail & kPacked) ? 2u : 1u,
                  op.extra, static_cast<int32_t>(op.immediate),
                  *first,   column};
  if (!check_halves(op, warp, site)) return std::nullopt;
  return site;
}

// Calls `visit(cell, next, register, thread)`: `next` is the other cell of a packed register.
template <class Visit>
void for_each_cell(const Site& site, TensorMemory& memory, Visit visit) {
  for (uint32_t r = 0; r < site.registers; ++r)
    for (uint32_t t = 0; t < base::kWarpSize; ++t) {
      const TensorCell at = tensor_cell(site.shape, t, r, site.offset, site.step);
      uint32_t* cell =
          memory.column(site.column + static_cast<uint32_t>(at.column)) + site.lane + at.lane;
      visit(cell, cell + kTensorLanes, r, t);
    }
}

uint32_t* lanes_of(const Op& op, const Warp& warp, uint32_t index) {
  return warp.lanes<uint32_t>(warp.program->more(op)[index]);
}

// The shape of epilogues: a register is a piece of a column.
bool is_whole_columns(const Site& site) {
  return site.shape == TensorShape::k32x32b && site.step == 1;
}

using Tell = void (order::Engine::*)(order::Warp&, base::OpId, base::LaneMask,
                                     std::span<const order::TensorBox>);

// A packed register is all of its two cells: a store that unpacks leaves their upper halves, but
// who else writes those may find them torn.
void tell_order(const Op& op, Warp& warp, const Site& site, Tell tell) {
  if (!warp.order) return;
  const Telling telling(op, warp);
  const int quarter = static_cast<int>(site.lane / kLanesOfWarp);
  const base::LaneMask lanes = (base::kAllLanes >> (kLanesOfWarp - tensor_shape_lanes(site.shape)))
                               << (site.lane % kLanesOfWarp);
  const uint32_t columns = tensor_shape_columns(site.shape, site.registers, site.step);
  const auto box = [&](uint32_t column) {
    return order::TensorBox::quarter(quarter, column, columns, lanes);
  };
  const bool halves = site.shape == TensorShape::k16x32bx2 && site.offset != 0;
  const order::TensorBox boxes[] = {
      box(site.column), box(site.column + static_cast<uint32_t>(halves ? site.offset : 0))};
  (warp.order->*tell)(*warp.order_warp, op.instruction, warp.active,
                      std::span(boxes, halves ? 2 : 1));
}

void load(const Op& op, Warp& warp, const Site& site) {
  tell_order(op, warp, site, &order::Engine::tensor_load);
  TensorMemory& memory = tensor_memory_of(warp);
  if (is_whole_columns(site)) {
    for (uint32_t r = 0; r < site.registers; ++r)
      std::memcpy(lanes_of(op, warp, r), memory.column(site.column + r) + site.lane,
                  sizeof(uint32_t) * base::kWarpSize);
    return;
  }
  const bool packed = site.step == 2;
  for_each_cell(site, memory,
                [&](const uint32_t* cell, const uint32_t* next, uint32_t r, uint32_t t) {
                  lanes_of(op, warp, r)[t] = packed ? (*cell & 0xffff) | *next << 16 : *cell;
                });
}

void run_ld(const Op& op, Warp& warp) {
  if (const auto site = site_of(op, warp)) load(op, warp, *site);
}

uint32_t reduced(const Op& op, float, uint32_t a, uint32_t b) {
  const arith::MinMaxMode mode{.nan = (op.detail & kNan) != 0};
  if (op.detail & kAbsolute) a &= ~arith::kSignF32, b &= ~arith::kSignF32;
  const float x = arith::f32_of(a), y = arith::f32_of(b);
  return arith::bits_of((op.detail & kMax) ? arith::max(x, y, mode) : arith::min(x, y, mode));
}
template <class Int>
uint32_t reduced(const Op& op, Int, uint32_t a, uint32_t b) {
  const auto x = static_cast<Int>(a), y = static_cast<Int>(b);
  return static_cast<uint32_t>((op.detail & kMax) ? std::max(x, y) : std::min(x, y));
}

// .red: the same registers, and the least or greatest of those of each thread.
template <class Number>
void run_ld_red(const Op& op, Warp& warp) {
  const auto site = site_of(op, warp);
  if (!site) return;
  load(op, warp, *site);
  for (int lane = 0; lane < base::kWarpSize; ++lane) {
    uint32_t result = lanes_of(op, warp, 0)[lane];
    for (uint32_t r = 1; r < site->registers; ++r)
      result = reduced(op, Number{}, result, lanes_of(op, warp, r)[lane]);
    warp.lanes<uint32_t>(op.d)[lane] = result;
  }
}

// Unpacked, the upper halves of the cells stay as they are.
void run_st(const Op& op, Warp& warp) {
  const auto site = site_of(op, warp);
  if (!site) return;
  tell_order(op, warp, *site, &order::Engine::tensor_store);
  TensorMemory& memory = tensor_memory_of(warp);
  const bool packed = site->step == 2;
  for_each_cell(*site, memory, [&](uint32_t* cell, uint32_t* next, uint32_t r, uint32_t t) {
    const uint32_t value = lanes_of(op, warp, r)[t];
    if (!packed) {
      *cell = value;
      return;
    }
    *cell = (*cell & 0xffff0000) | (value & 0xffff);
    *next = (*next & 0xffff0000) | value >> 16;
  });
}

// The bits are there already; what everybody else may count on begins here.
template <void (order::Engine::*tell)(order::Warp&, base::LaneMask)>
void run_wait(const Op& op, Warp& warp) {
  if (require_whole_warp(op, warp) && warp.order)
    (warp.order->*tell)(*warp.order_warp, warp.active);
}

template <void (order::Engine::*tell)(order::Warp&, base::LaneMask)>
void run_fence(const Op&, Warp& warp) {
  if (warp.order) (warp.order->*tell)(*warp.order_warp, warp.active);
}

TensorShape shape_of(const Decoder& decoder) {
  constexpr std::pair<Mod, TensorShape> kShapes[] = {{Mod::_16x64b, TensorShape::k16x64b},
                                                     {Mod::_16x128b, TensorShape::k16x128b},
                                                     {Mod::_16x256b, TensorShape::k16x256b},
                                                     {Mod::_16x32bx2, TensorShape::k16x32bx2}};
  for (auto [mod, shape] : kShapes)
    if (decoder.has(mod)) return shape;
  return TensorShape::k32x32b;
}

// `address` and `offset`: which operands those are.
Op& emit_move(Decoder& decoder, program::Handlers handlers, size_t address,
              const std::vector<Slot>& registers) {
  const AddressOperand place = address_operand(decoder, decoder.operand(address));
  const TensorShape shape = shape_of(decoder);
  Op& op = decoder.emit(handlers, Slot{}, place.base, place.displacement);
  op.detail = static_cast<uint16_t>(shape);
  if (decoder.has(Mod::pack_16b) || decoder.has(Mod::unpack_16b)) op.detail |= kPacked;
  if (shape == TensorShape::k16x32bx2)
    op.immediate = static_cast<uint64_t>(decoder.operand(address + 1).value);
  decoder.attach(op, registers);
  return op;
}

void bind_load(Decoder& decoder) {
  const auto registers = decoder.results(decoder.operand(0), Type::b32);
  emit_move(decoder, aligned_handlers<run_ld>, 1, registers);
}

void bind_ld_red(Decoder& decoder) {
  const Type type = decoder.type();
  const auto registers = decoder.results(decoder.operand(0), Type::b32);
  const Slot result = decoder.result(decoder.operand(1), type);
  if (registers.size() == 1) return decoder.not_modelled("a reduction of one register");
  const program::Handlers handlers = type == Type::f32   ? aligned_handlers<run_ld_red<float>>
                                     : type == Type::s32 ? aligned_handlers<run_ld_red<int32_t>>
                                                         : aligned_handlers<run_ld_red<uint32_t>>;
  Op& op = emit_move(decoder, handlers, 2, registers);
  op.d = result;
  if (decoder.has(Mod::max)) op.detail |= kMax;
  if (decoder.has(Mod::abs)) op.detail |= kAbsolute;
  if (decoder.has(Mod::NaN)) op.detail |= kNan;
}

void bind_store(Decoder& decoder) {
  const auto registers = decoder.sources(decoder.operands().back(), Type::b32);
  emit_move(decoder, aligned_handlers<run_st>, 0, registers);
}

}  // namespace

void bind_tcgen05_ld(Decoder& decoder) { bind_load(decoder); }
void bind_tcgen05_ld_16x128b(Decoder& decoder) { bind_load(decoder); }
void bind_tcgen05_ld_16x256b(Decoder& decoder) { bind_load(decoder); }
void bind_tcgen05_ld_16x32bx2(Decoder& decoder) { bind_load(decoder); }
void bind_tcgen05_ld_red_float(Decoder& decoder) { bind_ld_red(decoder); }
void bind_tcgen05_ld_red_float_16x32bx2(Decoder& decoder) { bind_ld_red(decoder); }
void bind_tcgen05_ld_red_int(Decoder& decoder) { bind_ld_red(decoder); }
void bind_tcgen05_ld_red_int_16x32bx2(Decoder& decoder) { bind_ld_red(decoder); }
void bind_tcgen05_st(Decoder& decoder) { bind_store(decoder); }
void bind_tcgen05_st_16x128b(Decoder& decoder) { bind_store(decoder); }
void bind_tcgen05_st_16x256b(Decoder& decoder) { bind_store(decoder); }
void bind_tcgen05_st_16x32bx2(Decoder& decoder) { bind_store(decoder); }
void bind_tcgen05_wait(Decoder& decoder) {
  using order::Engine;
  decoder.emit(decoder.has(Mod::wait_ld) ? aligned_handlers<run_wait<&Engine::tensor_wait_loads>>
                                         : aligned_handlers<run_wait<&Engine::tensor_wait_stores>>);
}
void bind_tcgen05_fence(Decoder& decoder) {
  using order::Engine;
  decoder.emit(decoder.has(Mod::fence_before_thread_sync)
                   ? plain_handlers<run_fence<&Engine::tensor_fence_before>>
                   : plain_handlers<run_fence<&Engine::tensor_fence_after>>);
}

}  // namespace lw::machine
