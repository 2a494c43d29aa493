#include "machine/bulk_reduce.h"

#include <algorithm>
#include <cstring>

#include "arith/float32.h"
#include "arith/float64.h"
#include "arith/half.h"
#include "base/check.h"

namespace lw::machine {
namespace {

template <class Number>
Number reduce_integer(Number old, Number operand, ReduceOp op) {
  switch (op) {
    case ReduceOp::add:
      return old + operand;
    case ReduceOp::min:
      return std::min(old, operand);
    case ReduceOp::max:
      return std::max(old, operand);
    case ReduceOp::inc:
      return old >= operand ? 0 : old + 1;
    case ReduceOp::dec:
      return old == 0 || old > operand ? operand : old - 1;
    case ReduceOp::and_bits:
      return old & operand;
    case ReduceOp::or_bits:
      return old | operand;
    case ReduceOp::xor_bits:
      return old ^ operand;
  }
  return old;
}

uint16_t reduce_f16(uint16_t old, uint16_t operand, ReduceOp op) {
  if (op == ReduceOp::add) return arith::add_f16(old, operand);
  return op == ReduceOp::min ? arith::min_f16(old, operand) : arith::max_f16(old, operand);
}
uint16_t reduce_bf16(uint16_t old, uint16_t operand, ReduceOp op) {
  if (op == ReduceOp::add) return arith::add_bf16(old, operand);
  return op == ReduceOp::min ? arith::min_bf16(old, operand) : arith::max_bf16(old, operand);
}
float reduce_f32(float old, float operand, ReduceOp) { return arith::add(old, operand, {}); }
float reduce_f32_ftz(float old, float operand, ReduceOp) {
  return arith::add(old, operand, {.ftz = true});
}
uint64_t reduce_f64(uint64_t old, uint64_t operand, ReduceOp) {
  const double x = arith::f64_of(old), y = arith::f64_of(operand);
  if (arith::is_nan(x)) return old;
  if (arith::is_nan(y)) return operand;
  return arith::bits_of(arith::add_f64(x, y, arith::Rounding::kNearestEven));
}

template <class Number>
void for_each_element(std::byte* memory, const std::byte* operand, uint32_t bytes, ReduceOp op,
                      Number (*reduce)(Number, Number, ReduceOp)) {
  for (uint32_t at = 0; at + sizeof(Number) <= bytes; at += sizeof(Number)) {
    Number old, other;
    std::memcpy(&old, memory + at, sizeof old);
    std::memcpy(&other, operand + at, sizeof other);
    old = reduce(old, other, op);
    std::memcpy(memory + at, &old, sizeof old);
  }
}

}  // namespace

uint32_t reduce_element_bytes(ReduceType type) {
  switch (type) {
    case ReduceType::f16:
    case ReduceType::bf16:
      return 2;
    case ReduceType::u32:
    case ReduceType::s32:
    case ReduceType::f32:
    case ReduceType::f32_ftz:
      return 4;
    case ReduceType::u64:
    case ReduceType::s64:
    case ReduceType::f64:
      return 8;
  }
  return 0;
}

std::optional<ReduceType> reduce_type_of(TensorType type) {
  switch (type) {
    case TensorType::s32:
      return ReduceType::s32;
    case TensorType::u64:
      return ReduceType::u64;
    case TensorType::s64:
      return ReduceType::s64;
    case TensorType::f16:
      return ReduceType::f16;
    case TensorType::bf16:
      return ReduceType::bf16;
    case TensorType::f32:
    case TensorType::tf32:
      return ReduceType::f32;
    case TensorType::f32_ftz:
    case TensorType::tf32_ftz:
      return ReduceType::f32_ftz;
    case TensorType::f64:
      return ReduceType::f64;
    case TensorType::u32:
      return ReduceType::u32;
    case TensorType::u8:
    case TensorType::u16:
      return std::nullopt;
  }
  return std::nullopt;
}

bool reduces(ReduceOp op, ReduceType type) {
  const bool half = type == ReduceType::f16 || type == ReduceType::bf16;
  const bool floating = half || type >= ReduceType::f32;
  switch (op) {
    case ReduceOp::add:
      return true;
    case ReduceOp::min:
    case ReduceOp::max:
      return half || !floating;
    case ReduceOp::inc:
    case ReduceOp::dec:
      return type == ReduceType::u32;
    default:
      return !floating;
  }
}

void reduce_elements(std::byte* memory, const std::byte* operand, uint32_t bytes, ReduceOp op,
                     ReduceType type) {
  LW_CHECK(reduces(op, type), static_cast<int>(op), static_cast<int>(type));
  const auto run = [&](auto reduce) { for_each_element(memory, operand, bytes, op, reduce); };
  switch (type) {
    case ReduceType::u32:
      return run(&reduce_integer<uint32_t>);
    case ReduceType::s32:
      return op == ReduceOp::add ? run(&reduce_integer<uint32_t>) : run(&reduce_integer<int32_t>);
    case ReduceType::u64:
      return run(&reduce_integer<uint64_t>);
    case ReduceType::s64:
      return op == ReduceOp::add ? run(&reduce_integer<uint64_t>) : run(&reduce_integer<int64_t>);
    case ReduceType::f16:
      return run(&reduce_f16);
    case ReduceType::bf16:
      return run(&reduce_bf16);
    case ReduceType::f32:
      return run(&reduce_f32);
    case ReduceType::f32_ftz:
      return run(&reduce_f32_ftz);
    case ReduceType::f64:
      return run(&reduce_f64);
  }
}

}  // namespace lw::machine
