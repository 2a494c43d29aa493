// PTX: Data Movement and Conversion Instructions: mov, cvta, isspacep, prmt.
//
// Generic addresses of a window are the window's base plus the address in it, except that global
// addresses are generic as they are; a null pointer stays null both ways only for global memory, as
// on a device.

#include "arith/integer.h"
#include "machine/cta.h"
#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/memory.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/integer_arithmetic/hot.h"
#include "machine/semantics/lanes.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

void run_move_predicate(const Op& op, Warp& warp) {
  warp.set_predicate(op.d, warp.active, warp.predicate(op.a));
}

void move(Decoder& decoder, Type type, Slot d, Slot a) {
  decoder.emit(
      type == Type::pred ? plain_handlers<run_move_predicate> : hot_integer(HotInteger::mov, type),
      d, a);
}

// Moves several registers, which may be the same on both sides: through temporaries if they are.
void move_all(Decoder& decoder, Type type, std::vector<Slot> to, std::vector<Slot> from) {
  bool crossed = false;
  for (size_t i = 0; i < to.size(); ++i)
    for (size_t j = i + 1; j < from.size(); ++j) crossed |= to[i] == from[j];
  if (crossed) {
    for (Slot& slot : from) {
      Slot copy = decoder.temporary(type);
      move(decoder, type, copy, slot);
      slot = copy;
    }
  }
  for (size_t i = 0; i < to.size(); ++i) move(decoder, type, to[i], from[i]);
}

// The type of each part when a register of `type` is packed from or unpacked to `parts` of them.
Type part_type(Type type, size_t parts) {
  switch (ptx::bits_of(type) / static_cast<int>(parts)) {
    case 8:
      return Type::b8;
    case 16:
      return Type::b16;
    case 32:
      return Type::b32;
    default:
      return Type::b64;
  }
}

// d = the elements, the first in the low bits. `detail`: bits of a part.
void run_pack(const Op& op, Warp& warp) {
  const Slot* parts = warp.program->more(op);
  uint32_t bits = op.detail & 0xff;
  bool wide = op.detail >> 8;
  for_each_lane(warp.active, [&](int lane) {
    uint64_t value = 0;
    for (uint32_t i = 0; i < op.extra; ++i) {
      uint64_t part = warp.lanes<uint32_t>(parts[i])[lane];
      value |= (part & ((uint64_t{1} << bits) - 1)) << (bits * i);
    }
    if (wide) {
      warp.lanes<uint64_t>(op.d)[lane] = value;
    } else {
      warp.lanes<uint32_t>(op.d)[lane] = static_cast<uint32_t>(value);
    }
  });
}

void run_unpack(const Op& op, Warp& warp) {
  const Slot* parts = warp.program->more(op);
  uint32_t bits = op.detail & 0xff;
  bool wide = op.detail >> 8;
  for_each_lane(warp.active, [&](int lane) {
    uint64_t value = wide ? warp.lanes<uint64_t>(op.a)[lane] : warp.lanes<uint32_t>(op.a)[lane];
    for (uint32_t i = 0; i < op.extra; ++i)
      warp.lanes<uint32_t>(parts[i])[lane] =
          static_cast<uint32_t>(value >> (bits * i) & ((uint64_t{1} << bits) - 1));
  });
}

uint16_t packing(Type whole, Type part) {
  return static_cast<uint16_t>(ptx::bits_of(part) | (ptx::bits_of(whole) == 64 ? 0x100 : 0));
}

uint64_t window_of(const Decoder& decoder) {
  if (decoder.has(Mod::shared) || decoder.has(Mod::shared_cta) || decoder.has(Mod::shared_cluster))
    return Memory::kSharedWindow;
  if (decoder.has(Mod::local)) return Memory::kLocalWindow;
  if (decoder.has(Mod::_const)) return Memory::kConstantWindow;
  if (decoder.has(Mod::param) || decoder.has(Mod::param_entry))
    return decoder.in_function() ? Memory::kLocalWindow : Memory::kParamWindow;
  return 0;
}

// cvta in 32 bits cannot hold our windows.
bool is_narrow(Decoder& decoder) {
  if (decoder.type() != Type::u32) return false;
  decoder.not_modelled("generic addresses of 32 bits");
  return true;
}

constexpr uint16_t kOwnShared = 1 << 8;  // of the CTA itself alone [H200]

void run_is_space(const Op& op, Warp& warp) {
  LaneMask result = 0;
  for_each_lane(warp.active, [&](int lane) {
    const uint64_t address = warp.lanes<uint64_t>(op.a)[lane];
    if (static_cast<uint16_t>(Memory::kind(address)) != (op.detail & 0xff)) return;
    const uint64_t rank = (address - Memory::kSharedWindow) >> program::kRankShift;
    if (!(op.detail & kOwnShared) || rank == warp.cta->cluster_rank) result |= 1u << lane;
  });
  warp.set_predicate(op.d, warp.active, result);
}

template <arith::PrmtMode mode>
struct Permute {
  LW_ALWAYS_INLINE uint32_t operator()(uint32_t a, uint32_t b, uint32_t c) const {
    return arith::prmt(a, b, c, mode);
  }
};
template <arith::PrmtMode mode>
constexpr Handlers kPermute =
    once::elementwise<Permute<mode>, uint32_t, uint32_t, uint32_t, uint32_t>;

Handlers permute_handlers(const Decoder& decoder) {
  using arith::PrmtMode;
  if (decoder.has(Mod::f4e)) return kPermute<PrmtMode::kF4e>;
  if (decoder.has(Mod::b4e)) return kPermute<PrmtMode::kB4e>;
  if (decoder.has(Mod::rc8)) return kPermute<PrmtMode::kRc8>;
  if (decoder.has(Mod::ecl)) return kPermute<PrmtMode::kEcl>;
  if (decoder.has(Mod::ecr)) return kPermute<PrmtMode::kEcr>;
  if (decoder.has(Mod::rc16)) return kPermute<PrmtMode::kRc16>;
  return kPermute<PrmtMode::kDefault>;
}

}  // namespace

void bind_mov(Decoder& decoder) {
  Type type = decoder.type();
  if (type != Type::b128) return move(decoder, type, decoder.result(0), decoder.source(1));
  move_all(decoder, Type::b64, decoder.results(decoder.operand(0), type),
           decoder.sources(decoder.operand(1), type));
}

void bind_mov_vector(Decoder& decoder) {
  move_all(decoder, decoder.type(), decoder.results(decoder.operand(0), decoder.type()),
           decoder.sources(decoder.operand(1), decoder.type()));
}

void bind_mov_pack(Decoder& decoder) {
  const ptx::Operand& parts = decoder.operand(1);
  Type type = decoder.type();
  Type part = part_type(type, parts.count);
  std::vector<Slot> from = decoder.sources(parts, part);
  if (type == Type::b128 && part == Type::b64)
    return move_all(decoder, Type::b64, decoder.results(decoder.operand(0), type), from);
  if (type == Type::b128) {
    std::vector<Slot> halves = decoder.results(decoder.operand(0), type);
    for (size_t half = 0; half < 2; ++half) {
      Op& op = decoder.emit(plain_handlers<run_pack>, halves[half]);
      op.detail = packing(Type::b64, part);
      decoder.attach(op, std::span(from).subspan(half * 2, 2));
    }
    return;
  }
  Op& op = decoder.emit(plain_handlers<run_pack>, decoder.result(0));
  op.detail = packing(type, part);
  decoder.attach(op, from);
}

void bind_mov_unpack(Decoder& decoder) {
  const ptx::Operand& parts = decoder.operand(0);
  Type type = decoder.type();
  Type part = part_type(type, parts.count);
  std::vector<Slot> to = decoder.results(parts, part);
  std::vector<Slot> from = decoder.sources(decoder.operand(1), type);
  if (type == Type::b128 && part == Type::b64) return move_all(decoder, Type::b64, to, from);
  size_t each = to.size() / from.size();
  for (size_t i = 0; i < from.size(); ++i) {
    Op& op = decoder.emit(plain_handlers<run_unpack>, {}, from[i]);
    op.detail = packing(from.size() == 2 ? Type::b64 : type, part);
    decoder.attach(op, std::span(to).subspan(i * each, each));
  }
}

void bind_cvta(Decoder& decoder) {
  if (is_narrow(decoder)) return;
  decoder.emit(hot_integer(HotInteger::add, Type::u64), decoder.result(0), decoder.source(1),
               decoder.constant(window_of(decoder), Type::u64));
}

void bind_cvta_to(Decoder& decoder) {
  if (is_narrow(decoder)) return;
  decoder.emit(hot_integer(HotInteger::sub, Type::u64), decoder.result(0), decoder.source(1),
               decoder.constant(window_of(decoder), Type::u64));
}

void bind_isspacep(Decoder& decoder) {
  Op& op =
      decoder.emit(plain_handlers<run_is_space>, decoder.result(decoder.operand(0), Type::pred),
                   decoder.source(decoder.operand(1), Type::u64));
  RegionKind kind = decoder.has(Mod::global)   ? RegionKind::global
                    : decoder.has(Mod::local)  ? RegionKind::local
                    : decoder.has(Mod::_const) ? RegionKind::constant
                    : decoder.has(Mod::param) || decoder.has(Mod::param_entry) ? RegionKind::param
                                                                               : RegionKind::shared;
  op.detail = static_cast<uint16_t>(kind);
  if (kind == RegionKind::shared && !decoder.has(Mod::shared_cluster)) op.detail |= kOwnShared;
}

void bind_prmt(Decoder& decoder) { emit_4(decoder, permute_handlers(decoder)); }

}  // namespace lw::machine
