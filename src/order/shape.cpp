#include "order/shape.h"

#include "order/core.h"

namespace lw::order {

EachShape each_of(const Addresses& at, LaneMask lanes, uint32_t bytes) {
  EachShape each;
  each.lanes = lanes;
  each.bytes = bytes;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    each.address[lane] = lanes >> lane & 1 ? at.of(lane, bytes) : 0;
  }
  return each;
}

bool has_stride(const EachShape& each, uint64_t base, uint64_t stride) {
  uint64_t wrong = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t expected = base + static_cast<uint64_t>(lane) * stride;
    wrong |= each.lanes >> lane & 1 ? each.address[lane] ^ expected : 0;
  }
  return wrong == 0;
}

Row row_of(const EachShape& each) {
  const int first = __builtin_ctz(each.lanes);
  const LaneMask rest = each.lanes & (each.lanes - 1);
  if (rest == 0) return {each.address[first], 0, true};
  const int second = __builtin_ctz(rest);
  const auto lanes_between = static_cast<uint64_t>(second - first);
  const uint64_t stride = (each.address[second] - each.address[first]) / lanes_between;
  const uint64_t base = each.address[first] - static_cast<uint64_t>(first) * stride;
  return {base, stride, has_stride(each, base, stride)};
}

Shape Core::shape_of(const EachShape& each, const Row& row) {
  constexpr uint64_t kMaxStride = 1u << 14;
  if (!row.regular) return each_shape(each);
  if (row.stride == 0) return uniform_shape(each.lanes, ShapeKind::kLanes);
  const bool power = (row.stride & (row.stride - 1)) == 0;
  if (!power || row.stride < each.bytes || row.stride > kMaxStride) return each_shape(each);
  return affine_shape(row.base, __builtin_ctzll(row.stride));
}

}  // namespace lw::order
