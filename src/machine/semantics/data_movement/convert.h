#pragma once
// What the conversions share (PTX: Data Movement and Conversion Instructions: cvt).
//
// The registers of an integer operand may be wider than its type: a source is cut to its type, a
// result is extended to its register, by the sign of its type. So a conversion needs to know the
// register's width besides the type.

#include "machine/semantics/levels.h"
#include "program/decoder.h"
#include "ptx/tokens.h"

namespace lw::machine {

// An integer operand: its type, and what its register holds.
struct IntegerPlace {
  uint8_t type_bits = 32;
  bool is_signed = false;
  bool wide = false;           // it stands in a 64-bit slot
  uint8_t register_bits = 32;  // of a result: what is beyond stays zero in the slot
};

// The operand's place as `type`; only registers are wider than their type.
IntegerPlace integer_place(const program::Decoder& decoder, const ptx::Operand& operand,
                           ptx::Type type);

inline uint16_t encode_place(const IntegerPlace& place) {
  return static_cast<uint16_t>(place.type_bits / 8 | place.register_bits / 8 << 4 |
                               place.is_signed << 8 | place.wide << 9);
}
inline IntegerPlace decode_place(uint16_t code) {
  return {static_cast<uint8_t>((code & 15) * 8), (code >> 8 & 1) != 0, (code >> 9 & 1) != 0,
          static_cast<uint8_t>((code >> 4 & 15) * 8)};
}

// The low bits of `raw`, extended to 64 by the sign of the type.
inline uint64_t extended(uint64_t raw, uint32_t bits, bool is_signed) {
  const uint32_t unused = 64 - bits;
  const uint64_t top = raw << unused;
  return is_signed ? static_cast<uint64_t>(static_cast<int64_t>(top) >> unused) : top >> unused;
}

// What the slot holds of a result of this place.
inline uint64_t in_register(uint64_t value, const IntegerPlace& place) {
  return extended(extended(value, place.type_bits, place.is_signed), place.register_bits, false);
}

// A source or result of at most 32 bits whose register may be a 64-bit one: the word to work with.
// `finish_word` writes a result's word to its register, zero-extended.
program::Slot word_source(program::Decoder& decoder, const ptx::Operand& operand, ptx::Type type);
program::Slot word_result(program::Decoder& decoder, const ptx::Operand& operand, ptx::Type type);
void finish_word(program::Decoder& decoder, const ptx::Operand& operand, ptx::Type type,
                 program::Slot word);

// The conversions that every kernel runs all the time.
enum class HotConversion : uint8_t {
  widen_unsigned,  // 32 to 64 bits
  widen_signed,
  narrow,        // 64 to 32 bits
  f32_from_s32,  // .rn
  f32_from_u32,
  s32_from_f32,  // .rzi
  u32_from_f32,
};
LW_LEVELS(hot_conversion, (HotConversion what), (what))

}  // namespace lw::machine
