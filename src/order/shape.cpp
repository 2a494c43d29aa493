#include "order/shape.h"

#include "order/core.h"

namespace lw::order {
namespace {

// All lanes at one address.
bool is_uniform(const EachShape& each) {
  const uint64_t first = each.address[__builtin_ctz(each.lanes)];
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((each.lanes >> lane & 1) && each.address[lane] != first) return false;
  }
  return true;
}

// Lane i at base + i * stride for a stride that is a power of two, at least the bytes of a lane.
bool is_affine(const EachShape& each, uint64_t& base, int& shift) {
  if ((each.lanes & 3) != 3) return false;
  const uint64_t stride = each.address[1] - each.address[0];
  if (stride < each.bytes || (stride & (stride - 1)) != 0 || stride > 1u << 14) return false;
  uint64_t wrong = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t expected = each.address[0] + static_cast<uint64_t>(lane) * stride;
    wrong |= each.lanes >> lane & 1 ? each.address[lane] ^ expected : 0;
  }
  base = each.address[0];
  shift = __builtin_ctzll(stride);
  return wrong == 0;
}

}  // namespace

Shape Core::shape_of(const EachShape& each) {
  uint64_t base = 0;
  int shift = 0;
  if (is_uniform(each)) return uniform_shape(each.lanes, ShapeKind::kLanes);
  if (is_affine(each, base, shift)) return affine_shape(base, shift);
  return each_shape(each);
}

}  // namespace lw::order
