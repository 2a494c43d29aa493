#include "order/shape.h"

#include "order/core.h"

namespace lw::order {

namespace {

template <class Address>
void copy_addresses(const void* from, LaneMask lanes, EachShape& each) {
  const auto* address = static_cast<const Address*>(from);
  if (lanes == kAllLanes) {
    for (int lane = 0; lane < kWarpSize; ++lane) each.address[lane] = address[lane];
    return;
  }
  for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
    each.address[__builtin_ctz(rest)] = address[__builtin_ctz(rest)];
  }
}

}  // namespace

EachShape each_of(const Addresses& at, LaneMask lanes, uint32_t bytes) {
  EachShape each;
  each.lanes = lanes;
  each.bytes = bytes;
  switch (at.shape) {
    case Addresses::Shape::kEach32:
      copy_addresses<uint32_t>(at.each, lanes, each);
      break;
    case Addresses::Shape::kEach64:
      copy_addresses<uint64_t>(at.each, lanes, each);
      break;
    case Addresses::Shape::kContiguous:
    case Addresses::Shape::kUniform:
      for (LaneMask rest = lanes; rest != 0; rest &= rest - 1) {
        const int lane = __builtin_ctz(rest);
        each.address[lane] = at.of(lane, bytes);
      }
      break;
  }
  return each;
}

Shape Core::shape_of(Warp& warp, OpId op, const EachShape& each, const Row& row) {
  constexpr uint64_t kMaxStride = 1u << 14;
  if (!row.regular) return each_shape(warp, op, each);
  if (row.stride == 0) return uniform_shape(each.lanes, ShapeKind::kLanes);
  const bool power = (row.stride & (row.stride - 1)) == 0;
  if (!power || row.stride < each.bytes || row.stride > kMaxStride) {
    return each_shape(warp, op, each);
  }
  return affine_shape(row.base, __builtin_ctzll(row.stride));
}

}  // namespace lw::order
