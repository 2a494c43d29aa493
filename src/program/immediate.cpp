#include "program/immediate.h"

#include <bit>

#include "arith/formats.h"

namespace lw::program {
namespace {

using ptx::Literal;
using ptx::Type;

double as_f64(const ptx::Operand& operand) {
  if (operand.literal == Literal::f32_bits)
    return arith::f64_from_f32(std::bit_cast<float>(static_cast<uint32_t>(operand.value)));
  return std::bit_cast<double>(operand.value);
}

uint64_t float_bits(const ptx::Operand& operand, Type type) {
  switch (type) {
    case Type::f64:
      return std::bit_cast<uint64_t>(as_f64(operand));
    case Type::f16:
      return arith::f16_from_f64(as_f64(operand), {});
    case Type::bf16:
      return arith::bf16_from_f64(as_f64(operand), {});
    default:
      if (operand.literal == Literal::f32_bits) return static_cast<uint32_t>(operand.value);
      if (ptx::bits_of(type) == 64) return static_cast<uint64_t>(operand.value);
      return std::bit_cast<uint32_t>(static_cast<float>(as_f64(operand)));
  }
}

bool is_float(Literal literal) {
  return literal == Literal::f32_bits || literal == Literal::f64_bits ||
         literal == Literal::decimal;
}

}  // namespace

uint64_t immediate_bits(const ptx::Operand& operand, Type type) {
  uint64_t bits =
      is_float(operand.literal) ? float_bits(operand, type) : static_cast<uint64_t>(operand.value);
  if (type == Type::pred) return bits != 0 ? ~uint64_t{0} : 0;
  int width = ptx::bits_of(type);
  if (type == Type::none || width >= 64) return bits;
  return bits & ((uint64_t{1} << width) - 1);
}

}  // namespace lw::program
