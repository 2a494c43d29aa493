#pragma once
// Rounding and flushing modifiers of an instruction as arith's modes, and in an Op's `detail`.

#include "arith/bits.h"
#include "program/decoder.h"

namespace lw::machine {

inline arith::Rounding rounding_of(const program::Decoder& decoder) {
  using ptx::Mod;
  if (decoder.has(Mod::rz) || decoder.has(Mod::rzi)) return arith::Rounding::kTowardZero;
  if (decoder.has(Mod::rm) || decoder.has(Mod::rmi)) return arith::Rounding::kDown;
  if (decoder.has(Mod::rp) || decoder.has(Mod::rpi)) return arith::Rounding::kUp;
  if (decoder.has(Mod::rna)) return arith::Rounding::kNearestAway;
  return arith::Rounding::kNearestEven;
}

inline arith::FloatMode float_mode(const program::Decoder& decoder) {
  return {rounding_of(decoder), decoder.has(ptx::Mod::ftz), decoder.has(ptx::Mod::sat)};
}

inline uint16_t encode_mode(arith::FloatMode mode) {
  return static_cast<uint16_t>(static_cast<unsigned>(mode.rounding) | mode.ftz << 3 |
                               mode.sat << 4);
}
inline arith::FloatMode decode_mode(uint16_t detail) {
  return {static_cast<arith::Rounding>(detail & 7), (detail >> 3 & 1) != 0, (detail >> 4 & 1) != 0};
}

}  // namespace lw::machine
