#include "machine/semantics/warp_matrix/mma_operands.h"

#include <cstdlib>

namespace lw::machine {

using arith::MmaShape;
using arith::MmaType;
using ptx::Mod;
using ptx::Type;

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

std::optional<MmaShape> mma_shape(const program::Decoder& decoder) {
  constexpr std::pair<Mod, MmaShape> kShapes[] = {
      {Mod::m16n8k4, {16, 8, 4}},     {Mod::m16n8k8, {16, 8, 8}},    {Mod::m16n8k16, {16, 8, 16}},
      {Mod::m16n8k32, {16, 8, 32}},   {Mod::m16n8k64, {16, 8, 64}},  {Mod::m8n8k4, {8, 8, 4}},
      {Mod::m8n8k16, {8, 8, 16}},     {Mod::m8n8k32, {8, 8, 32}},    {Mod::m8n8k128, {8, 8, 128}},
      {Mod::m16n8k128, {16, 8, 128}}, {Mod::m16n8k256, {16, 8, 256}}};
  for (auto [mod, shape] : kShapes)
    if (decoder.has(mod)) return shape;
  return std::nullopt;
}

arith::MmaTarget mma_target(const ptx::Module& module) {
  for (const std::string& target : module.target)
    if (target.starts_with("sm_")) return {std::atoi(target.c_str() + 3)};
  return {0};
}

arith::BitOperation bit_operation(const program::Decoder& decoder) {
  return decoder.has(Mod::_and) ? arith::BitOperation::kAnd : arith::BitOperation::kXor;
}

Type fragment_register(Type element) { return element == Type::f64 ? Type::f64 : Type::b32; }

}  // namespace lw::machine
