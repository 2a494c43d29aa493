// wmma.load and wmma.store (PTX: Warp Level Matrix Instructions using wmma).
//
// Every lane loads and stores the elements that its registers hold, at the address that it gives
// (all are to give the same one). Elements of a register that are neighbours in memory are one
// access, as in the code of ptxas; those across the layout are one each. Weak accesses of the
// lanes; no lane waits for another's.

#include <bit>
#include <cstring>

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/data_movement/access.h"
#include "machine/semantics/warp_matrix/mma_operands.h"
#include "machine/semantics/warp_matrix/wmma_fragment.h"

namespace lw::machine {
namespace {

using base::kWarpSize;
using ptx::Mod;
using ptx::Type;

// Op: a address, b stride, immediate the Movement; more: the registers.
struct Movement {
  WmmaFragment fragment;
  bool columns_together;  // `.col`: the elements of a column are neighbours
  AccessSpace space;
  bool wide_address;
  uint64_t displacement;
};

// Bits from the start of the matrix to an element.
int64_t bits_to(const Movement& move, arith::Place place, uint32_t stride) {
  const int64_t index = move.columns_together ? int64_t{place.column} * stride + place.row
                                              : int64_t{place.row} * stride + place.column;
  return index * move.fragment.element_bits();
}

// Whether the elements of a register lie side by side: all but the first follow their neighbour.
bool is_run(const Movement& move) {
  const arith::Place first = move.fragment.place(0, 0, 0), second = move.fragment.place(0, 0, 1);
  return move.columns_together ? first.column == second.column : first.row == second.row;
}

// Where the lanes' matrices start, and their strides: read first, for a load may overwrite them.
struct Origin {
  Origin(const Op& op, const Warp& warp, const Movement& move) {
    for_each_lane(warp.active, [&](int lane) {
      const uint64_t base = move.wide_address ? warp.lanes<uint64_t>(op.a)[lane]
                                              : uint64_t{warp.lanes<uint32_t>(op.a)[lane]};
      start[lane] = base + move.displacement;
      stride[lane] = warp.lanes<uint32_t>(op.b)[lane];
    });
  }

  LaneAddresses element(const Warp& warp, const Movement& move, int r, int i) const {
    LaneAddresses addresses{};
    for_each_lane(warp.active, [&](int lane) {
      const int64_t bits = bits_to(move, move.fragment.place(lane, r, i), stride[lane]);
      const uint64_t address = start[lane] + static_cast<uint64_t>(bits / 8);
      addresses[lane] = move.wide_address ? address : static_cast<uint32_t>(address);
    });
    return addresses;
  }

  LaneAddresses start{};
  std::array<uint32_t, kWarpSize> stride{};
};

// One access of every lane: an element and those that follow it, at this byte of its register.
struct Piece {
  int element;
  uint32_t bytes;
  uint32_t byte_in_register;
};

template <class Visit>
bool each_piece(const Movement& move, Visit visit) {
  const int count = move.fragment.per_register();
  const auto whole = static_cast<uint32_t>(count * move.fragment.element_bits() / 8);
  if (count == 1 || is_run(move)) return visit(Piece{0, whole, 0});
  const uint32_t bytes = whole / static_cast<uint32_t>(count);
  for (int i = 0; i < count; ++i)
    if (!visit(Piece{i, bytes, static_cast<uint32_t>(i) * bytes})) return false;
  return true;
}

AccessShape shape_of(const Movement& move, uint32_t bytes) {
  AccessShape shape;
  shape.space = move.space;
  shape.element_log2 = static_cast<uint8_t>(std::countr_zero(bytes));
  return shape;
}

std::byte* in_register(const Movement& move, const Warp& warp, Slot slot, int lane) {
  return warp.lanes<std::byte>(slot) + lane * (move.fragment.element_bits() == 64 ? 8 : 4);
}

void run_load(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return;
  const auto& move = *reinterpret_cast<const Movement*>(op.immediate);
  const Origin origin(op, warp, move);
  const Slot* slots = warp.program->more(op);
  const int distinct = move.fragment.registers();
  LaneBytes bytes;
  for (int r = 0; r < distinct; ++r) {
    const bool ok = each_piece(move, [&](Piece piece) {
      const LaneAddresses addresses = origin.element(warp, move, r, piece.element);
      if (!locate_at(op, warp, shape_of(move, piece.bytes), order::Kind::kRead, addresses, bytes))
        return false;
      for_each_lane(warp.active, [&](int lane) {
        std::memcpy(in_register(move, warp, slots[r], lane) + piece.byte_in_register,
                    bytes.at[lane], piece.bytes);
      });
      return true;
    });
    if (!ok) return;
  }
  for (int r = distinct; r < op.extra; ++r)
    std::memcpy(warp.lanes<std::byte>(slots[r]), warp.lanes<std::byte>(slots[r % distinct]),
                kWarpSize * sizeof(uint32_t));
}

void run_store(const Op& op, Warp& warp) {
  if (!warp.require_aligned(op)) return;
  const auto& move = *reinterpret_cast<const Movement*>(op.immediate);
  const Origin origin(op, warp, move);
  const Slot* slots = warp.program->more(op);
  LaneBytes bytes;
  for (int r = 0; r < move.fragment.registers(); ++r) {
    const bool ok = each_piece(move, [&](Piece piece) {
      const LaneAddresses addresses = origin.element(warp, move, r, piece.element);
      if (!locate_at(op, warp, shape_of(move, piece.bytes), order::Kind::kWrite, addresses, bytes))
        return false;
      for_each_lane(warp.active, [&](int lane) {
        std::memcpy(bytes.at[lane],
                    in_register(move, warp, slots[r], lane) + piece.byte_in_register, piece.bytes);
      });
      return true;
    });
    if (!ok) return;
  }
}

// Elements shorter than a byte must lie along the direction that registers hold.
bool can_move(const Movement& move) { return move.fragment.element_bits() >= 8 || is_run(move); }

void bind_move(Decoder& decoder, Handlers handlers, WmmaMatrix matrix, size_t at,
               std::vector<Slot> registers) {
  const auto tiling = wmma_tiling(decoder);
  if (!tiling) return decoder.not_modelled("");
  const program::Address address = decoder.address(decoder.operand(at));
  const WmmaFragment fragment(*tiling, matrix, ptx::bits_of(decoder.type()));
  auto move = std::make_shared<const Movement>(Movement{fragment, decoder.has(Mod::col),
                                                        access_space(decoder, address),
                                                        address.wide, address.displacement()});
  const bool fits = registers.size() >= static_cast<size_t>(fragment.registers());
  if (!fits || !can_move(*move)) return decoder.not_modelled("");
  const auto least =
      static_cast<uint64_t>(move->columns_together ? fragment.rows() : fragment.columns());
  const Slot stride = decoder.operands().size() > 2 ? decoder.source(decoder.operand(2), Type::u32)
                                                    : decoder.constant(least, Type::u32);
  Op& op = decoder.emit(handlers, {}, address.base, stride);
  op.immediate = reinterpret_cast<uint64_t>(move.get());
  decoder.attach(op, registers);
  decoder.keep(std::move(move));
}

void bind_load(Decoder& decoder, WmmaMatrix matrix) {
  bind_move(decoder, aligned_handlers<run_load>, matrix, 1,
            decoder.results(decoder.operand(0), fragment_register(decoder.type())));
}

}  // namespace

void bind_wmma_load_a(Decoder& decoder) { bind_load(decoder, WmmaMatrix::a); }
void bind_wmma_load_b(Decoder& decoder) { bind_load(decoder, WmmaMatrix::b); }
void bind_wmma_load_c(Decoder& decoder) { bind_load(decoder, WmmaMatrix::c); }
void bind_wmma_store_d(Decoder& decoder) {
  bind_move(decoder, aligned_handlers<run_store>, WmmaMatrix::c, 0,
            decoder.sources(decoder.operand(1), fragment_register(decoder.type())));
}

}  // namespace lw::machine
