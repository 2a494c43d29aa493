// PTX: Data Movement and Conversion Instructions: cvt between integer types, cvt.pack.

#include "machine/dispatch.h"
#include "machine/each_lane.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/data_movement/convert.h"
#include "machine/semantics/integer_arithmetic/hot.h"
#include "machine/semantics/types.h"

namespace lw::machine {
namespace {

using ptx::Mod;
using ptx::Type;

// Op: `detail` the source's place, `immediate` the result's.
constexpr uint64_t kSaturate = 1u << 16;

struct Bounds {
  int64_t least;
  uint64_t most;
};
Bounds bounds_of(uint32_t bits, bool is_signed) {
  if (!is_signed) return {0, ~uint64_t{0} >> (64 - bits)};
  const uint64_t most = (uint64_t{1} << (bits - 1)) - 1;
  return {-static_cast<int64_t>(most) - 1, most};
}

// `value` is the source's, extended to 64 bits by its sign.
uint64_t saturated(uint64_t value, bool from_signed, Bounds bounds) {
  const auto number = static_cast<int64_t>(value);
  if (from_signed && number < 0)
    return static_cast<uint64_t>(number < bounds.least ? bounds.least : number);
  return value > bounds.most ? bounds.most : value;
}

void run(const Op& op, Warp& warp) {
  const IntegerPlace from = decode_place(op.detail);
  const IntegerPlace to = decode_place(static_cast<uint16_t>(op.immediate));
  const Bounds bounds = bounds_of(to.type_bits, to.is_signed);
  for_each_lane(warp.active, [&](int lane) {
    const uint64_t raw =
        from.wide ? warp.lanes<uint64_t>(op.a)[lane] : warp.lanes<uint32_t>(op.a)[lane];
    uint64_t value = extended(raw, from.type_bits, from.is_signed);
    if (op.immediate & kSaturate) value = saturated(value, from.is_signed, bounds);
    value = in_register(value, to);
    if (to.wide)
      warp.lanes<uint64_t>(op.d)[lane] = value;
    else
      warp.lanes<uint32_t>(op.d)[lane] = static_cast<uint32_t>(value);
  });
}

// One of the conversions that need no look at each lane's width, if this is one.
std::optional<Handlers> plain_case(const IntegerPlace& from, const IntegerPlace& to) {
  const bool whole = to.register_bits == to.type_bits;
  if (from.type_bits == 32 && to.type_bits == 64)
    return from.wide
               ? std::nullopt
               : std::optional(hot_conversion(from.is_signed ? HotConversion::widen_signed
                                                             : HotConversion::widen_unsigned));
  if (to.type_bits == 32 && whole && from.type_bits >= 32)
    return from.wide ? hot_conversion(HotConversion::narrow)
                     : hot_integer(HotInteger::mov, Type::b32);
  if (to.type_bits == 64 && from.type_bits == 64) return hot_integer(HotInteger::mov, Type::b64);
  return std::nullopt;
}

// --- cvt.pack ---

uint32_t packed(int32_t a, int32_t b, uint32_t bits, bool is_signed) {
  const Bounds bounds = bounds_of(bits, is_signed);
  const auto one = [&](int32_t x) {
    const auto value = static_cast<uint64_t>(int64_t{x});
    return static_cast<uint32_t>(extended(saturated(value, true, bounds), bits, false));
  };
  return one(a) << bits | one(b);
}

// Op: `detail` the bits of an element, `immediate` its sign; c goes above the pair.
void run_pack(const Op& op, Warp& warp) {
  const uint32_t bits = op.detail;
  for_each_lane(warp.active, [&](int lane) {
    uint32_t value = packed(warp.lanes<int32_t>(op.a)[lane], warp.lanes<int32_t>(op.b)[lane], bits,
                            op.immediate != 0);
    if (bits < 16) value |= warp.lanes<uint32_t>(op.c)[lane] << (2 * bits);
    warp.lanes<uint32_t>(op.d)[lane] = value;
  });
}

void bind_pack(Decoder& decoder) {
  const Slot d = decoder.result(decoder.operand(0), Type::b32);
  const Slot a = decoder.source(decoder.operand(1), Type::s32);
  const Slot b = decoder.source(decoder.operand(2), Type::s32);
  const bool has_rest = decoder.operands().size() > 3;
  const Slot c = has_rest ? decoder.source(decoder.operand(3), Type::b32) : Slot{};
  Op& op = decoder.emit(plain_handlers<run_pack>, d, a, b, c);
  op.detail = static_cast<uint16_t>(ptx::bits_of(decoder.type(0)));
  op.immediate = is_signed(decoder.type(0));
}

}  // namespace

IntegerPlace integer_place(const Decoder& decoder, const ptx::Operand& operand, Type type) {
  IntegerPlace place;
  place.type_bits = static_cast<uint8_t>(ptx::bits_of(type));
  place.is_signed = is_signed(type);
  place.register_bits = place.type_bits;
  if (operand.kind == ptx::OperandKind::reg)
    place.register_bits = static_cast<uint8_t>(ptx::bits_of(decoder.declared(operand)));
  place.wide = place.register_bits > 32;
  return place;
}

Slot word_source(Decoder& decoder, const ptx::Operand& operand, Type type) {
  const Slot slot = decoder.source(operand, type);
  if (ptx::bits_of(type) > 32 || !decoder.is_wide(operand)) return slot;
  const Slot word = decoder.temporary(Type::b32);
  decoder.emit(hot_conversion(HotConversion::narrow), word, slot);
  return word;
}

Slot word_result(Decoder& decoder, const ptx::Operand& operand, Type type) {
  if (ptx::bits_of(type) > 32 || !decoder.is_wide(operand)) return decoder.result(operand, type);
  return decoder.temporary(Type::b32);
}

void finish_word(Decoder& decoder, const ptx::Operand& operand, Type type, Slot word) {
  if (ptx::bits_of(type) > 32 || !decoder.is_wide(operand)) return;
  decoder.emit(hot_conversion(HotConversion::widen_unsigned), decoder.result(operand, type), word);
}

void bind_cvt_int_int(Decoder& decoder) {
  const IntegerPlace to = integer_place(decoder, decoder.operand(0), decoder.type(0));
  const IntegerPlace from = integer_place(decoder, decoder.operand(1), decoder.type(1));
  const Slot d = decoder.result(decoder.operand(0), decoder.type(0));
  const Slot a = decoder.source(decoder.operand(1), decoder.type(1));
  if (!decoder.has(Mod::sat))
    if (const auto handlers = plain_case(from, to)) return void(decoder.emit(*handlers, d, a));
  Op& op = decoder.emit(plain_handlers<run>, d, a);
  op.detail = encode_place(from);
  op.immediate = encode_place(to) | (decoder.has(Mod::sat) ? kSaturate : 0);
}

void bind_cvt_pack(Decoder& decoder) { bind_pack(decoder); }
void bind_cvt_pack_b32(Decoder& decoder) { bind_pack(decoder); }

}  // namespace lw::machine
