#include "arith/mufu.h"

#include <gtest/gtest.h>

#include <functional>
#include <map>

#include "arith/mufu_unit.h"
#include "arith/random_bits.h"
#include "arith/sample_file.h"

namespace lw::arith {

// The three builds of every whole-warp function.
#define LW_WARP_UNIT(name, function, table)     \
  namespace v2 {                                \
  void name(const uint32_t* in, uint32_t* out); \
  }                                             \
  namespace v3 {                                \
  void name(const uint32_t* in, uint32_t* out); \
  }                                             \
  namespace v4 {                                \
  void name(const uint32_t* in, uint32_t* out); \
  }
#include "arith/mufu_warp.def"
#undef LW_WARP_UNIT

namespace {

using Function = std::function<float(float)>;

const std::map<std::string, Function> kFunctions = {
    {"rcp.approx.ftz.f32", [](float x) { return rcp_approx(x, true); }},
    {"rsqrt.approx.ftz.f32", [](float x) { return rsqrt_approx(x, true); }},
    {"sqrt.approx.ftz.f32", [](float x) { return sqrt_approx(x, true); }},
    {"ex2.approx.ftz.f32", [](float x) { return ex2_approx(x, true); }},
    {"lg2.approx.ftz.f32", [](float x) { return lg2_approx(x, true); }},
    {"sin.approx.ftz.f32", sin_approx},
    {"cos.approx.ftz.f32", cos_approx},
    {"tanh.approx.f32", tanh_approx},
};

TEST(Mufu, EverySampleOfTheH200) {
  int rows = 0;
  for (const auto& row : read_samples("mufu_samples.tsv")) {
    uint32_t x = hex(row.at(1));
    EXPECT_EQ(bits_of(kFunctions.at(row.at(0))(f32_of(x))), hex(row.at(2)))
        << row[0] << ' ' << row[1];
    ++rows;
  }
  EXPECT_EQ(rows, 2904);
}

// The manual-like definition of the square: bit by bit.
TEST(Mufu, TruncatedSquareOfEveryOperand) {
  for (uint32_t x = 0; x < (1u << 17); ++x) {
    uint32_t q = 0;
    for (int i = 0; i < 17; ++i) q += (x >> i & 1) != 0 ? x >> (18 - i) : 0;
    ASSERT_EQ(unit::truncated_square(x), static_cast<int32_t>(q >> 1)) << x;
  }
}

// Operands that reach every path: specials, edges of the ranges, random bits.
std::vector<uint32_t> operands() {
  std::vector<uint32_t> all;
  for (uint32_t edge :
       {0x00000000u, 0x00000001u, 0x007fffffu, 0x00800000u, 0x3b800000u, 0x3f800000u, 0x41000000u,
        0x42fc0000u, 0x43000000u, 0x43150000u, 0x7e800000u, 0x7f000000u, 0x7f7fffffu, 0x7f800000u,
        0x7f800001u, 0x7fc00000u, 0x7fffffffu})
    for (uint32_t step : {0u, 1u, 2u, 0xffffffffu, 0xfffffffeu})
      for (uint32_t sign : {0u, kSignF32}) all.push_back((edge + step) ^ sign);
  RandomBits random(1);
  while (all.size() < 32 * 4000) {
    uint32_t bits = random.word();
    all.push_back(all.size() % 2 != 0 ? bits : (bits & 0x8fffffffu) | 0x38000000u);
  }
  return all;
}

void expect_warp_equals_lanes(WarpFunction warp, uint32_t (*lane)(uint32_t), const char* name) {
  static const std::vector<uint32_t> all = operands();
  for (size_t i = 0; i + 32 <= all.size(); i += 32) {
    uint32_t out[32];
    warp(&all[i], out);
    for (int l = 0; l < 32; ++l) ASSERT_EQ(out[l], lane(all[i + l])) << name << ' ' << all[i + l];
  }
}

TEST(Mufu, WarpsEqualLanesOnEveryVectorLevel) {
  [[maybe_unused]] bool has_v3 = __builtin_cpu_supports("x86-64-v3");
  [[maybe_unused]] bool has_v4 = __builtin_cpu_supports("x86-64-v4");
#define LW_WARP_UNIT(name, function, table)                                   \
  const auto one_##name = [](uint32_t bits) { return unit::function(bits); }; \
  expect_warp_equals_lanes(name, one_##name, #name);                          \
  expect_warp_equals_lanes(v2::name, one_##name, "v2 " #name);                \
  if (has_v3) expect_warp_equals_lanes(v3::name, one_##name, "v3 " #name);    \
  if (has_v4) expect_warp_equals_lanes(v4::name, one_##name, "v4 " #name);
#include "arith/mufu_warp.def"
#undef LW_WARP_UNIT
}

TEST(Mufu, PlainFormsReachSubnormals) {
  EXPECT_EQ(rcp_approx(f32_of(0x7f000000u), false), f32_of(0x00400000u));  // 2^127
  EXPECT_EQ(rcp_approx(f32_of(0x7f000000u), true), 0.0f);
  EXPECT_EQ(ex2_approx(-149.0f, false), f32_of(1));
  EXPECT_EQ(ex2_approx(-149.0f, true), 0.0f);
  EXPECT_EQ(lg2_approx(f32_of(1), false), -149.0f);
  EXPECT_EQ(bits_of(lg2_approx(f32_of(1), true)), 0xff800000u);
  EXPECT_EQ(sqrt_approx(f32_of(2), false), f32_of(0x1a800000u));  // 2^-148
}

TEST(Mufu, Division) {
  EXPECT_EQ(div_approx(1.0f, 4.0f, true), 0.25f);
  EXPECT_EQ(div_approx(1.0f, f32_of(0x7e800001u), true), 0.0f);  // the reciprocal is flushed
  EXPECT_GT(div_full(1.0f, f32_of(0x7e000001u), true), 0.0f);
  EXPECT_EQ(bits_of(div_full(f32_of(0x7fc12345u), 1.0f, false)), kNanF32);
  EXPECT_EQ(bits_of(div_approx(0.0f, 0.0f, false)), kNanF32);
}

TEST(Mufu, ShortFormats) {
  EXPECT_EQ(ex2_approx_f16(0x0000), 0x3c00);
  EXPECT_EQ(ex2_approx_f16(0x4c00), 0x7c00);  // 2^16
  EXPECT_EQ(ex2_approx_f16(0xce00), 0x0001);  // 2^-24
  EXPECT_EQ(ex2_approx_f16(0x7e01), 0x7fff);
  EXPECT_EQ(ex2_approx_f16(0xfc00), 0x0000);
  EXPECT_EQ(tanh_approx_f16(0x8001), 0x8001);
  EXPECT_EQ(tanh_approx_f16(0x7c00), 0x3c00);
  EXPECT_EQ(ex2_approx_ftz_bf16(0x3f80), 0x4000);
  EXPECT_EQ(tanh_approx_bf16(0xff81), 0x7fff);
}

TEST(Mufu, F64SeesTheHighWordAlone) {
  EXPECT_EQ(rcp_approx_ftz_f64(4.0), 0.25);
  EXPECT_EQ(bits_of(rcp_approx_ftz_f64(f64_of(0x7ff0000000000001u))), 0u);
  EXPECT_EQ(bits_of(rcp_approx_ftz_f64(f64_of(0x800fffffffffffffu))), 0xfff0000000000000u);
  EXPECT_EQ(bits_of(rcp_approx_ftz_f64(f64_of(0xffe8000000000000u))), 0x8000000000000000u);
  EXPECT_EQ(rsqrt_approx_ftz_f64(16.0), 0.25);
  EXPECT_EQ(bits_of(rsqrt_approx_ftz_f64(-1.0)) >> 32, 0x7fffffffu);
}

}  // namespace
}  // namespace lw::arith
