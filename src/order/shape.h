#pragma once
// Contiguous and strided lanes as affine shapes.

#include "order/event.h"
#include "order/object.h"

namespace lw::order {

// Lane i at base + i * 2^shift. Wraps around modulo 32 strides, so that instructions which advance
// by whole warps share a shape.
constexpr uint32_t affine_base(uint64_t base, int shift) {
  return static_cast<uint32_t>(base) & ((1u << (shift + 5)) - 1);
}
constexpr uint32_t affine_code(uint64_t base, int shift) {
  return shape_code(ShapeKind::kAffine,
                    static_cast<uint32_t>(shift) << 25 | affine_base(base, shift));
}

inline Shape affine_shape(uint64_t base, int shift) {
  Shape shape;
  shape.kind = ShapeKind::kAffine;
  shape.shift = static_cast<uint8_t>(shift);
  shape.base = affine_base(base, shift);
  shape.code = affine_code(base, shift);
  return shape;
}

// The addresses of the lanes that take part; zero for the others.
EachShape each_of(const Addresses& at, LaneMask lanes, uint32_t bytes);

}  // namespace lw::order
