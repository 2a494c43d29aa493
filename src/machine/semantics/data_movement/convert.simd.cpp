#include "machine/semantics/data_movement/convert.h"

#include "arith/convert.h"
#include "machine/semantics/lanes.h"

namespace lw::machine::LW_SIMD_NAMESPACE {
namespace {

template <class To>
struct Cast {
  template <class From>
  LW_ALWAYS_INLINE To operator()(From a) const {
    return static_cast<To>(a);
  }
};

struct SignedCut {
  LW_ALWAYS_INLINE int32_t operator()(float a) const {
    return arith::int_from_f32<int32_t>(a, arith::Rounding::kTowardZero);
  }
};
struct UnsignedCut {
  LW_ALWAYS_INLINE uint32_t operator()(float a) const {
    return arith::int_from_f32<uint32_t>(a, arith::Rounding::kTowardZero);
  }
};

}  // namespace

Handlers hot_conversion(HotConversion what) {
  switch (what) {
    case HotConversion::widen_unsigned:
      return elementwise<Cast<uint64_t>, uint64_t, uint32_t>;
    case HotConversion::widen_signed:
      return elementwise<Cast<int64_t>, int64_t, int32_t>;
    case HotConversion::narrow:
      return elementwise<Cast<uint32_t>, uint32_t, uint64_t>;
    case HotConversion::f32_from_s32:
      return elementwise<Cast<float>, float, int32_t>;
    case HotConversion::f32_from_u32:
      return elementwise<Cast<float>, float, uint32_t>;
    case HotConversion::s32_from_f32:
      return elementwise<SignedCut, int32_t, float>;
    case HotConversion::u32_from_f32:
      return elementwise<UnsignedCut, uint32_t, float>;
  }
  return {};
}

}  // namespace lw::machine::LW_SIMD_NAMESPACE
