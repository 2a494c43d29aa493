// Every whole-warp function on every vector level against the lane-by-lane one.

#include "arith/warp.h"

#include <gtest/gtest.h>

#include <functional>

#include "arith/formats.h"
#include "arith/half.h"
#include "arith/random_bits.h"

namespace lw::arith {

using In = const uint32_t*;
using Out = uint32_t*;
#define LW_WARP_ALL_LEVELS(name, parameters) \
  namespace v2 {                             \
  void name parameters;                      \
  }                                          \
  namespace v3 {                             \
  void name parameters;                      \
  }                                          \
  namespace v4 {                             \
  void name parameters;                      \
  }
#define LW_WARP_1(name) LW_WARP_ALL_LEVELS(name, (In, Out))
#define LW_WARP_2(name) LW_WARP_ALL_LEVELS(name, (In, In, Out))
#define LW_WARP_3(name) LW_WARP_ALL_LEVELS(name, (In, In, In, Out))
#include "arith/warp.def"
#undef LW_WARP_1
#undef LW_WARP_2
#undef LW_WARP_3

namespace {

using Lane = std::function<uint32_t(uint32_t, uint32_t, uint32_t)>;
using Warp = std::function<void(In, In, In, Out)>;

uint32_t operand(RandomBits& random) {
  switch (random.below(6)) {
    case 0:
      return random.word();
    case 1:
      return random.f32_near(64, 3);
    case 2:
      return random.f32_near(127, 3);
    case 3:
      return 0x3f7fffffu + random.below(3);
    case 4:
      return (random.word() & 0x80008000u) | 0x00800080u | random.below(2);
    default:
      return (random.word() & 0xbfffbfffu) | 0x30003000u;  // halves near one
  }
}

void compare(const char* name, const Warp& warp, const Lane& lane) {
  RandomBits random(11);
  for (int i = 0; i < 3000; ++i) {
    uint32_t a[32], b[32], c[32], d[32];
    for (int l = 0; l < 32; ++l) {
      a[l] = operand(random), b[l] = operand(random), c[l] = operand(random);
      if (l % 4 == 0) c[l] = 0x80000000u | (a[l] & b[l] & 0x00800080u);
    }
    warp(a, b, c, d);
    for (int l = 0; l < 32; ++l)
      ASSERT_EQ(d[l], lane(a[l], b[l], c[l]))
          << name << std::hex << ' ' << a[l] << ' ' << b[l] << ' ' << c[l];
    uint32_t before[32];
    std::copy(a, a + 32, before);
    warp(a, b, c, a);  // in place
    for (int l = 0; l < 32; ++l) ASSERT_EQ(a[l], d[l]) << name << " in place " << before[l];
  }
}

template <class Function>
Warp as_warp(Function* function) {
  return [function](In a, In b, In c, Out d) {
    if constexpr (std::is_invocable_v<Function, In, In, In, Out>)
      function(a, b, c, d);
    else if constexpr (std::is_invocable_v<Function, In, In, Out>)
      function(a, b, d);
    else
      function(a, d);
  };
}

#define LW_COMPARE(name, lane)                                                            \
  compare(#name, as_warp(name), lane);                                                    \
  compare("v2 " #name, as_warp(v2::name), lane);                                          \
  if (__builtin_cpu_supports("x86-64-v3")) compare("v3 " #name, as_warp(v3::name), lane); \
  if (__builtin_cpu_supports("x86-64-v4")) compare("v4 " #name, as_warp(v4::name), lane)

template <class Operation>
Lane f32_lane(Operation operation, bool ftz) {
  return [=](uint32_t a, uint32_t b, uint32_t c) {
    return bits_of(operation(f32_of(a), f32_of(b), f32_of(c), FloatMode{.ftz = ftz}));
  };
}

TEST(Warp, F32) {
  auto lane_add = [](float a, float b, float, FloatMode m) { return add(a, b, m); };
  auto lane_sub = [](float a, float b, float, FloatMode m) { return sub(a, b, m); };
  auto lane_mul = [](float a, float b, float, FloatMode m) { return mul(a, b, m); };
  auto lane_div = [](float a, float b, float, FloatMode m) { return div(a, b, m); };
  auto lane_fma = [](float a, float b, float c, FloatMode m) { return fma(a, b, c, m); };
  LW_COMPARE(warp_add, f32_lane(lane_add, false));
  LW_COMPARE(warp_sub, f32_lane(lane_sub, false));
  LW_COMPARE(warp_mul, f32_lane(lane_mul, false));
  LW_COMPARE(warp_div, f32_lane(lane_div, false));
  LW_COMPARE(warp_fma, f32_lane(lane_fma, false));
  LW_COMPARE(warp_add_ftz, f32_lane(lane_add, true));
  LW_COMPARE(warp_sub_ftz, f32_lane(lane_sub, true));
  LW_COMPARE(warp_mul_ftz, f32_lane(lane_mul, true));
  LW_COMPARE(warp_div_ftz, f32_lane(lane_div, true));
  LW_COMPARE(warp_fma_ftz, f32_lane(lane_fma, true));
}

#define LW_HALVES(function)                                                        \
  [](uint32_t a, uint32_t b, uint32_t) {                                           \
    return each_half([](uint16_t x, uint16_t y) { return function(x, y); }, a, b); \
  }
#define LW_HALVES_3(function)                                                                    \
  [](uint32_t a, uint32_t b, uint32_t c) {                                                       \
    return each_half([](uint16_t x, uint16_t y, uint16_t z) { return function(x, y, z); }, a, b, \
                     c);                                                                         \
  }

TEST(Warp, Halves) {
  LW_COMPARE(warp_add_f16x2, LW_HALVES(add_f16));
  LW_COMPARE(warp_sub_f16x2, LW_HALVES(sub_f16));
  LW_COMPARE(warp_mul_f16x2, LW_HALVES(mul_f16));
  LW_COMPARE(warp_fma_f16x2, LW_HALVES_3(fma_f16));
  LW_COMPARE(warp_add_bf16x2, LW_HALVES(add_bf16));
  LW_COMPARE(warp_sub_bf16x2, LW_HALVES(sub_bf16));
  LW_COMPARE(warp_mul_bf16x2, LW_HALVES(mul_bf16));
  LW_COMPARE(warp_fma_bf16x2, LW_HALVES_3(fma_bf16));
}

TEST(Warp, Conversions) {
  LW_COMPARE(warp_f16x2_from_f32, [](uint32_t a, uint32_t b, uint32_t) {
    return pack16(f16_from_f32(f32_of(a), {}), f16_from_f32(f32_of(b), {}));
  });
  LW_COMPARE(warp_bf16x2_from_f32, [](uint32_t a, uint32_t b, uint32_t) {
    return pack16(bf16_from_f32(f32_of(a), {}), bf16_from_f32(f32_of(b), {}));
  });
  LW_COMPARE(warp_f16_from_f32,
             [](uint32_t a, uint32_t, uint32_t) { return f16_from_f32(f32_of(a), {}); });
  LW_COMPARE(warp_bf16_from_f32,
             [](uint32_t a, uint32_t, uint32_t) { return bf16_from_f32(f32_of(a), {}); });
  LW_COMPARE(warp_f32_from_f16, [](uint32_t a, uint32_t, uint32_t) {
    return bits_of(f32_from_f16(static_cast<uint16_t>(a)));
  });
  LW_COMPARE(warp_f32_from_bf16, [](uint32_t a, uint32_t, uint32_t) { return a << 16; });
}

}  // namespace
}  // namespace lw::arith
