// The table of PTX instructions, and the test of it against results of an H200.

#include "arith/ptx_operations.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "arith/convert.h"
#include "arith/float32.h"
#include "arith/float64.h"
#include "arith/formats.h"
#include "arith/half.h"
#include "arith/integer.h"
#include "arith/mufu.h"
#include "arith/sample_file.h"

namespace lw::arith {
namespace {

struct NamedRounding {
  const char* name;
  Rounding rounding;
};
constexpr NamedRounding kRoundings[] = {{".rn", Rounding::kNearestEven},
                                        {".rz", Rounding::kTowardZero},
                                        {".rm", Rounding::kDown},
                                        {".rp", Rounding::kUp}};
constexpr NamedRounding kIntegral[] = {{".rni", Rounding::kNearestEven},
                                       {".rzi", Rounding::kTowardZero},
                                       {".rmi", Rounding::kDown},
                                       {".rpi", Rounding::kUp}};

std::string flag(bool on, const char* text) { return on ? text : ""; }

float f32(uint64_t x) { return f32_of(static_cast<uint32_t>(x)); }
double f64(uint64_t x) { return f64_of(x); }

// Wrappers that let a row be written as a lambda on f32.
void f32_row(PtxOperations& table, std::string ptx, int operands,
             std::function<float(float, float, float)> run) {
  table.push_back({std::move(ptx), "f" + std::string(operands, 'f'),
                   [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                     return bits_of(run(f32(a), f32(b), f32(c)));
                   }});
}
void f64_row(PtxOperations& table, std::string ptx, int operands,
             std::function<double(double, double, double)> run) {
  table.push_back({std::move(ptx), "d" + std::string(operands, 'd'),
                   [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                     return bits_of(run(f64(a), f64(b), f64(c)));
                   }});
}
using HalfFunction = std::function<uint16_t(uint16_t, uint16_t, uint16_t)>;
void half_row(PtxOperations& table, std::string ptx, int operands, HalfFunction run) {  // x2 forms
  table.push_back({std::move(ptx), "r" + std::string(operands, 'r'),
                   [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                     return each_half(run, u32(a), u32(b), u32(c));
                   }});
}

// --- f32 ---

void add_f32_arithmetic(PtxOperations& t, NamedRounding r, bool ftz, bool sat) {
  FloatMode m{r.rounding, ftz, sat};
  std::string suffix = std::string(r.name) + flag(ftz, ".ftz") + flag(sat, ".sat") + ".f32";
  f32_row(t, "add" + suffix, 2, [m](float a, float b, float) { return add(a, b, m); });
  f32_row(t, "sub" + suffix, 2, [m](float a, float b, float) { return sub(a, b, m); });
  f32_row(t, "mul" + suffix, 2, [m](float a, float b, float) { return mul(a, b, m); });
  f32_row(t, "fma" + suffix, 3, [m](float a, float b, float c) { return fma(a, b, c, m); });
  if (sat) return;
  f32_row(t, "div" + suffix, 2, [m](float a, float b, float) { return div(a, b, m); });
  f32_row(t, "rcp" + suffix, 1, [m](float a, float, float) { return rcp(a, m); });
  f32_row(t, "sqrt" + suffix, 1, [m](float a, float, float) { return sqrt(a, m); });
}

void add_f32_rest(PtxOperations& t, bool ftz) {
  std::string f = flag(ftz, ".ftz");
  for (bool nan : {false, true})
    for (bool xorsign : {false, true}) {
      std::string suffix = f + flag(nan, ".NaN") + flag(xorsign, ".xorsign.abs") + ".f32";
      MinMaxMode m{ftz, nan, xorsign};
      f32_row(t, "min" + suffix, 2, [m](float a, float b, float) { return min(a, b, m); });
      f32_row(t, "max" + suffix, 2, [m](float a, float b, float) { return max(a, b, m); });
    }
  if (!ftz) f32_row(t, "copysign.f32", 2, [](float a, float b, float) { return copysign(a, b); });
  f32_row(t, "neg" + f + ".f32", 1, [=](float a, float, float) { return neg(a, ftz); });
  f32_row(t, "abs" + f + ".f32", 1, [=](float a, float, float) { return abs(a, ftz); });
  f32_row(t, "ex2.approx" + f + ".f32", 1,
          [=](float a, float, float) { return ex2_approx(a, ftz); });
  f32_row(t, "lg2.approx" + f + ".f32", 1,
          [=](float a, float, float) { return lg2_approx(a, ftz); });
  f32_row(t, "rcp.approx" + f + ".f32", 1,
          [=](float a, float, float) { return rcp_approx(a, ftz); });
  f32_row(t, "rsqrt.approx" + f + ".f32", 1,
          [=](float a, float, float) { return rsqrt_approx(a, ftz); });
  f32_row(t, "sqrt.approx" + f + ".f32", 1,
          [=](float a, float, float) { return sqrt_approx(a, ftz); });
  f32_row(t, "sin.approx" + f + ".f32", 1, [](float a, float, float) { return sin_approx(a); });
  f32_row(t, "cos.approx" + f + ".f32", 1, [](float a, float, float) { return cos_approx(a); });
  f32_row(t, "div.approx" + f + ".f32", 2,
          [=](float a, float b, float) { return div_approx(a, b, ftz); });
  f32_row(t, "div.full" + f + ".f32", 2,
          [=](float a, float b, float) { return div_full(a, b, ftz); });
  for (NamedRounding r : kIntegral)
    f32_row(t, "cvt" + std::string(r.name) + f + ".f32.f32", 1, [=](float a, float, float) {
      return round_to_integral(ftz ? flush(a) : a, r.rounding);
    });
}

// --- f16x2 and bf16x2 ---

void add_half_min_max(PtxOperations& t, bool bf16, bool ftz) {
  const char* type = bf16 ? ".bf16x2" : ".f16x2";
  for (bool nan : {false, true})
    for (bool xorsign : {false, true}) {
      std::string suffix = flag(ftz, ".ftz") + flag(nan, ".NaN") + flag(xorsign, ".xorsign.abs");
      HalfMinMaxMode m{ftz, nan, xorsign};
      half_row(t, "min" + suffix + type, 2, [=](uint16_t a, uint16_t b, uint16_t) {
        return bf16 ? min_bf16(a, b, m) : min_f16(a, b, m);
      });
      half_row(t, "max" + suffix + type, 2, [=](uint16_t a, uint16_t b, uint16_t) {
        return bf16 ? max_bf16(a, b, m) : max_f16(a, b, m);
      });
    }
}

void add_f16(PtxOperations& t, bool ftz) {
  std::string f = flag(ftz, ".ftz");
  for (bool sat : {false, true}) {
    std::string suffix = f + flag(sat, ".sat") + ".f16x2";
    HalfMode m{ftz, sat, false};
    half_row(t, "add.rn" + suffix, 2, [m](auto a, auto b, auto) { return add_f16(a, b, m); });
    half_row(t, "sub.rn" + suffix, 2, [m](auto a, auto b, auto) { return sub_f16(a, b, m); });
    half_row(t, "mul.rn" + suffix, 2, [m](auto a, auto b, auto) { return mul_f16(a, b, m); });
    half_row(t, "fma.rn" + suffix, 3, [m](auto a, auto b, auto c) { return fma_f16(a, b, c, m); });
  }
  HalfMode relu{ftz, false, true};
  half_row(t, "fma.rn" + f + ".relu.f16x2", 3,
           [relu](auto a, auto b, auto c) { return fma_f16(a, b, c, relu); });
  half_row(t, "neg" + f + ".f16x2", 1, [=](auto a, auto, auto) { return neg_f16(a, ftz); });
  half_row(t, "abs" + f + ".f16x2", 1, [=](auto a, auto, auto) { return abs_f16(a, ftz); });
  add_half_min_max(t, false, ftz);
}

void add_bf16_rows(PtxOperations& t) {
  half_row(t, "add.rn.bf16x2", 2, [](auto a, auto b, auto) { return add_bf16(a, b); });
  half_row(t, "sub.rn.bf16x2", 2, [](auto a, auto b, auto) { return sub_bf16(a, b); });
  half_row(t, "mul.rn.bf16x2", 2, [](auto a, auto b, auto) { return mul_bf16(a, b); });
  half_row(t, "fma.rn.bf16x2", 3, [](auto a, auto b, auto c) { return fma_bf16(a, b, c); });
  half_row(t, "fma.rn.relu.bf16x2", 3,
           [](auto a, auto b, auto c) { return fma_bf16(a, b, c, {.relu = true}); });
  half_row(t, "neg.bf16x2", 1, [](auto a, auto, auto) { return neg_bf16(a); });
  half_row(t, "abs.bf16x2", 1, [](auto a, auto, auto) { return abs_bf16(a); });
  add_half_min_max(t, true, false);
  half_row(t, "ex2.approx.f16x2", 1, [](auto a, auto, auto) { return ex2_approx_f16(a); });
  half_row(t, "ex2.approx.ftz.bf16x2", 1,
           [](auto a, auto, auto) { return ex2_approx_ftz_bf16(a); });
  half_row(t, "tanh.approx.f16x2", 1, [](auto a, auto, auto) { return tanh_approx_f16(a); });
  half_row(t, "tanh.approx.bf16x2", 1, [](auto a, auto, auto) { return tanh_approx_bf16(a); });
}

// --- f64 ---

void add_f64_rows(PtxOperations& t) {
  for (NamedRounding r : kRoundings) {
    Rounding m = r.rounding;
    std::string suffix = std::string(r.name) + ".f64";
    f64_row(t, "add" + suffix, 2, [m](double a, double b, double) { return add_f64(a, b, m); });
    f64_row(t, "sub" + suffix, 2, [m](double a, double b, double) { return sub_f64(a, b, m); });
    f64_row(t, "mul" + suffix, 2, [m](double a, double b, double) { return mul_f64(a, b, m); });
    f64_row(t, "fma" + suffix, 3,
            [m](double a, double b, double c) { return fma_f64(a, b, c, m); });
    f64_row(t, "div" + suffix, 2, [m](double a, double b, double) { return div_f64(a, b, m); });
    f64_row(t, "sqrt" + suffix, 1, [m](double a, double, double) { return sqrt_f64(a, m); });
  }
  f64_row(t, "min.f64", 2, [](double a, double b, double) { return min_f64(a, b); });
  f64_row(t, "max.f64", 2, [](double a, double b, double) { return max_f64(a, b); });
  f64_row(t, "neg.f64", 1, [](double a, double, double) { return neg_f64(a); });
  f64_row(t, "abs.f64", 1, [](double a, double, double) { return abs_f64(a); });
  f64_row(t, "rcp.approx.ftz.f64", 1,
          [](double a, double, double) { return rcp_approx_ftz_f64(a); });
  f64_row(t, "rsqrt.approx.ftz.f64", 1,
          [](double a, double, double) { return rsqrt_approx_ftz_f64(a); });
}

// --- conversions ---

void add_narrowing(PtxOperations& t, NamedRounding r, bool satfinite, bool relu) {
  Narrowing how{r.rounding, satfinite, relu};
  std::string prefix =
      "cvt" + std::string(r.name) + flag(relu, ".relu") + flag(satfinite, ".satfinite");
  t.push_back({prefix + ".f16x2.f32", "rff", [how](auto a, auto b, auto) -> uint64_t {
                 return pack16(f16_from_f32(f32(a), how), f16_from_f32(f32(b), how));
               }});
  t.push_back({prefix + ".bf16x2.f32", "rff", [how](auto a, auto b, auto) -> uint64_t {
                 return pack16(bf16_from_f32(f32(a), how), bf16_from_f32(f32(b), how));
               }});
  std::string tf32 = "cvt" + std::string(r.name) + flag(satfinite, ".satfinite") +
                     flag(relu, ".relu") + ".tf32.f32";
  if (!satfinite)
    t.push_back(
        {tf32, "rf", [how](auto a, auto, auto) -> uint64_t { return tf32_from_f32(f32(a), how); }});
  if (r.rounding != Rounding::kNearestEven || !satfinite) return;
  prefix = "cvt.rn.satfinite" + flag(relu, ".relu");
  t.push_back({prefix + ".e4m3x2.f32", "hff", [how](auto a, auto b, auto) -> uint64_t {
                 return static_cast<uint64_t>(e4m3_from_f32(f32(a), how)) << 8 |
                        e4m3_from_f32(f32(b), how);
               }});
  t.push_back({prefix + ".e5m2x2.f32", "hff", [how](auto a, auto b, auto) -> uint64_t {
                 return static_cast<uint64_t>(e5m2_from_f32(f32(a), how)) << 8 |
                        e5m2_from_f32(f32(b), how);
               }});
}

void add_float_conversions(PtxOperations& t) {
  for (NamedRounding r : {kRoundings[0], kRoundings[1]})
    for (bool satfinite : {false, true})
      for (bool relu : {false, true}) add_narrowing(t, r, satfinite, relu);
  t.push_back({"cvt.rna.tf32.f32", "rf", [](auto a, auto, auto) -> uint64_t {
                 return tf32_from_f32(f32(a), {.rounding = Rounding::kNearestAway});
               }});
  for (NamedRounding r : kRoundings) {
    std::string cvt = "cvt" + std::string(r.name);
    Narrowing how{r.rounding, false, false};
    t.push_back({cvt + ".f16.f32", "hf",
                 [how](auto a, auto, auto) -> uint64_t { return f16_from_f32(f32(a), how); }});
    if (r.rounding == Rounding::kNearestEven)
      t.push_back({cvt + ".bf16.f64", "hd",
                   [how](auto x, auto, auto) -> uint64_t { return bf16_from_f64(f64(x), how); }});
    t.push_back({cvt + ".f16.f64", "hd",
                 [how](auto a, auto, auto) -> uint64_t { return f16_from_f64(f64(a), how); }});
    for (bool ftz : {false, true}) {
      FloatMode mode{r.rounding, ftz, false};
      t.push_back(
          {cvt + flag(ftz, ".ftz") + ".f32.f64", "fd",
           [mode](auto a, auto, auto) -> uint64_t { return bits_of(f32_from_f64(f64(a), mode)); }});
    }
  }
  for (bool relu : {false, true}) {
    std::string prefix = "cvt.rn.satfinite" + flag(relu, ".relu");
    Narrowing how{.satfinite = true, .relu = relu};
    auto halves = [how](auto narrow) {
      return [=](uint64_t x, auto, auto) -> uint64_t {
        uint64_t high = narrow(f32_from_f16(u16(x >> 16)), how);
        return high << 8 | narrow(f32_from_f16(u16(x)), how);
      };
    };
    t.push_back({prefix + ".e4m3x2.f16x2", "hr", halves(e4m3_from_f32)});
    t.push_back({prefix + ".e5m2x2.f16x2", "hr", halves(e5m2_from_f32)});
  }
  t.push_back({"cvt.rn.f16x2.e4m3x2", "rh", [](auto x, auto, auto) -> uint64_t {
                 return pack16(f16_from_e4m3(static_cast<uint8_t>(x >> 8)),
                               f16_from_e4m3(static_cast<uint8_t>(x)));
               }});
  t.push_back({"cvt.rn.f16x2.e5m2x2", "rh", [](auto x, auto, auto) -> uint64_t {
                 return pack16(f16_from_e5m2(static_cast<uint8_t>(x >> 8)),
                               f16_from_e5m2(static_cast<uint8_t>(x)));
               }});
  t.push_back({"cvt.f64.f32", "df",
               [](auto a, auto, auto) -> uint64_t { return bits_of(f64_from_f32(f32(a))); }});
  t.push_back({"cvt.f32.f16", "fh",
               [](auto a, auto, auto) -> uint64_t { return bits_of(f32_from_f16(u16(a))); }});
  t.push_back({"cvt.f32.bf16", "fh",
               [](auto a, auto, auto) -> uint64_t { return bits_of(f32_from_bf16(u16(a))); }});
}

// cvt to an integer type: in the register, sign- or zero-extended to the destination's width.
template <class Int>
void add_to_integer(PtxOperations& t, const char* type, char letter) {
  using Kept = std::conditional_t<sizeof(Int) == 8, uint64_t, uint32_t>;
  auto kept = [](Int x) -> uint64_t { return static_cast<Kept>(x); };
  for (NamedRounding r : kIntegral) {
    std::string cvt = "cvt" + std::string(r.name);
    t.push_back({cvt + type + ".f32", std::string{letter, 'f'},
                 [=](auto a, auto, auto) { return kept(int_from_f32<Int>(f32(a), r.rounding)); }});
    t.push_back({cvt + type + ".f64", std::string{letter, 'd'},
                 [=](auto a, auto, auto) { return kept(int_from_f64<Int>(f64(a), r.rounding)); }});
    t.push_back({cvt + type + ".f16", std::string{letter, 'h'}, [=](auto a, auto, auto) {
                   return kept(int_from_f32<Int>(f32_from_f16(u16(a)), r.rounding));
                 }});
  }
}

template <class Int>
void add_from_integer(PtxOperations& t, const char* type, char letter) {
  using Wide64 = std::conditional_t<std::is_signed_v<Int>, int64_t, uint64_t>;
  for (NamedRounding r : kRoundings) {
    std::string cvt = "cvt" + std::string(r.name);
    Rounding m = r.rounding;
    t.push_back(
        {cvt + ".f32" + type, std::string{'f', letter}, [m](auto a, auto, auto) -> uint64_t {
           return bits_of(f32_from_int(Wide64{static_cast<Int>(a)}, m));
         }});
    t.push_back(
        {cvt + ".f16" + type, std::string{'h', letter}, [m](auto a, auto, auto) -> uint64_t {
           return f16_from_int(Wide64{static_cast<Int>(a)}, m);
         }});
    t.push_back(
        {cvt + ".bf16" + type, std::string{'h', letter}, [m](auto a, auto, auto) -> uint64_t {
           return bf16_from_int(Wide64{static_cast<Int>(a)}, m);
         }});
    t.push_back(
        {cvt + ".f64" + type, std::string{'d', letter}, [m](auto a, auto, auto) -> uint64_t {
           return bits_of(f64_from_int(Wide64{static_cast<Int>(a)}, m));
         }});
  }
}

PtxOperations make_table() {
  PtxOperations t;
  for (NamedRounding r : kRoundings)
    for (bool ftz : {false, true})
      for (bool sat : {false, true}) add_f32_arithmetic(t, r, ftz, sat);
  for (bool ftz : {false, true}) add_f32_rest(t, ftz), add_f16(t, ftz);
  f32_row(t, "tanh.approx.f32", 1, [](float a, float, float) { return tanh_approx(a); });
  add_bf16_rows(t);
  add_f64_rows(t);
  add_float_conversions(t);
  add_to_integer<int8_t>(t, ".s8", 'r');
  add_to_integer<uint8_t>(t, ".u8", 'r');
  add_to_integer<int16_t>(t, ".s16", 'r');
  add_to_integer<uint16_t>(t, ".u16", 'r');
  add_to_integer<int32_t>(t, ".s32", 'r');
  add_to_integer<uint32_t>(t, ".u32", 'r');
  add_to_integer<int64_t>(t, ".s64", 'l');
  add_to_integer<uint64_t>(t, ".u64", 'l');
  add_from_integer<int32_t>(t, ".s32", 'r');
  add_from_integer<uint32_t>(t, ".u32", 'r');
  add_from_integer<int64_t>(t, ".s64", 'l');
  add_from_integer<uint64_t>(t, ".u64", 'l');
  add_integer_operations(t);
  return t;
}

}  // namespace

const PtxOperations& ptx_operations() {
  static const PtxOperations table = make_table();
  return table;
}

namespace {

TEST(PtxOperations, NamesAreDistinct) {
  std::set<std::string> names;
  for (const PtxOperation& operation : ptx_operations())
    EXPECT_TRUE(names.insert(operation.ptx).second) << operation.ptx;
}

uint64_t hex64(const std::string& text) { return text == "-" ? 0 : std::stoull(text, nullptr, 16); }

TEST(PtxOperations, EverySampleOfTheH200) {
  std::map<std::string, const PtxOperation*> by_name;
  for (const PtxOperation& operation : ptx_operations()) by_name[operation.ptx] = &operation;
  std::set<std::string> seen;
  for (const auto& row : read_samples("arith_samples.tsv")) {
    ASSERT_EQ(row.size(), 5u) << row[0];
    ASSERT_TRUE(by_name.contains(row[0])) << row[0];
    EXPECT_EQ(by_name[row[0]]->run(hex64(row[1]), hex64(row[2]), hex64(row[3])), hex64(row[4]))
        << row[0] << ' ' << row[1] << ' ' << row[2] << ' ' << row[3];
    seen.insert(row[0]);
  }
  EXPECT_EQ(seen.size(), by_name.size());
}

}  // namespace
}  // namespace lw::arith
