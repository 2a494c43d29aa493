#pragma once
// Contiguous and strided lanes as affine shapes.

#include "order/object.h"

namespace lw::order {

// Lane i at base + i * 2^shift. Wraps around modulo 32 strides, so that instructions which advance
// by whole warps share a shape.
inline Shape affine_shape(uint64_t base, int shift) {
  Shape shape;
  shape.kind = ShapeKind::kAffine;
  shape.shift = static_cast<uint8_t>(shift);
  shape.base = static_cast<uint32_t>(base) & ((1u << (shift + 5)) - 1);
  shape.code = shape_code(ShapeKind::kAffine, static_cast<uint32_t>(shift) << 25 | shape.base);
  return shape;
}

}  // namespace lw::order
