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

using Table = std::vector<PtxOperation>;

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
uint32_t u32(uint64_t x) { return static_cast<uint32_t>(x); }
int32_t s32(uint64_t x) { return static_cast<int32_t>(x); }
uint16_t u16(uint64_t x) { return static_cast<uint16_t>(x); }

// Wrappers that let a row be written as a lambda on f32.
void f32_row(Table& table, std::string ptx, int operands,
             std::function<float(float, float, float)> run) {
  table.push_back({std::move(ptx), "f" + std::string(operands, 'f'),
                   [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                     return bits_of(run(f32(a), f32(b), f32(c)));
                   }});
}
void f64_row(Table& table, std::string ptx, int operands,
             std::function<double(double, double, double)> run) {
  table.push_back({std::move(ptx), "d" + std::string(operands, 'd'),
                   [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                     return bits_of(run(f64(a), f64(b), f64(c)));
                   }});
}
using HalfFunction = std::function<uint16_t(uint16_t, uint16_t, uint16_t)>;
void half_row(Table& table, std::string ptx, int operands, HalfFunction run) {  // x2 forms
  table.push_back({std::move(ptx), "r" + std::string(operands, 'r'),
                   [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                     return each_half(run, u32(a), u32(b), u32(c));
                   }});
}

// --- f32 ---

void add_f32_arithmetic(Table& t, NamedRounding r, bool ftz, bool sat) {
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

void add_f32_rest(Table& t, bool ftz) {
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

void add_half_min_max(Table& t, bool bf16, bool ftz) {
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

void add_f16(Table& t, bool ftz) {
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

void add_bf16_rows(Table& t) {
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

void add_f64_rows(Table& t) {
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

void add_narrowing(Table& t, NamedRounding r, bool satfinite, bool relu) {
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

void add_float_conversions(Table& t) {
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
void add_to_integer(Table& t, const char* type, char letter) {
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
void add_from_integer(Table& t, const char* type, char letter) {
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

// --- integers ---

void word_row(Table& t, std::string ptx, int operands,
              std::function<uint32_t(uint32_t, uint32_t, uint32_t)> run) {
  t.push_back({std::move(ptx), "r" + std::string(operands, 'r'),
               [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                 return run(u32(a), u32(b), u32(c));
               }});
}

void add_integer_rows(Table& t) {
  for (bool wrap : {false, true}) {
    std::string mode = wrap ? ".wrap" : ".clamp";
    word_row(t, "shf.l" + mode + ".b32", 3,
             [=](auto a, auto b, auto c) { return shf_l(a, b, c, wrap); });
    word_row(t, "shf.r" + mode + ".b32", 3,
             [=](auto a, auto b, auto c) { return shf_r(a, b, c, wrap); });
    word_row(t, "bmsk" + mode + ".b32", 2, [=](auto a, auto b, auto) { return bmsk(a, b, wrap); });
    word_row(t, "szext" + mode + ".u32", 2,
             [=](auto a, auto b, auto) { return szext<uint32_t>(a, b, wrap); });
    word_row(t, "szext" + mode + ".s32", 2, [=](auto a, auto b, auto) {
      return static_cast<uint32_t>(szext<int32_t>(static_cast<int32_t>(a), b, wrap));
    });
  }
  word_row(t, "shl.b32", 2, [](auto a, auto b, auto) { return shl(a, b); });
  word_row(t, "shr.u32", 2, [](auto a, auto b, auto) { return shr(a, b); });
  word_row(t, "shr.s32", 2,
           [](auto a, auto b, auto) { return static_cast<uint32_t>(shr(s32(a), b)); });
  word_row(t, "bfe.u32", 3, [](auto a, auto b, auto c) { return bfe(a, b, c); });
  word_row(t, "bfe.s32", 3,
           [](auto a, auto b, auto c) { return static_cast<uint32_t>(bfe(s32(a), b, c)); });
  word_row(t, "brev.b32", 1, [](auto a, auto, auto) { return brev(a); });
  word_row(t, "clz.b32", 1, [](auto a, auto, auto) { return clz(a); });
  word_row(t, "popc.b32", 1, [](auto a, auto, auto) { return popc(a); });
  word_row(t, "bfind.u32", 1, [](auto a, auto, auto) { return bfind(a, false); });
  word_row(t, "bfind.s32", 1, [](auto a, auto, auto) { return bfind(s32(a), false); });
  word_row(t, "bfind.shiftamt.u32", 1, [](auto a, auto, auto) { return bfind(a, true); });
  word_row(t, "bfind.shiftamt.s32", 1, [](auto a, auto, auto) { return bfind(s32(a), true); });
  word_row(t, "fns.b32", 3, [](auto a, auto b, auto c) { return fns(a, b, s32(c)); });
  const std::pair<const char*, PrmtMode> kModes[] = {
      {"", PrmtMode::kDefault},  {".f4e", PrmtMode::kF4e}, {".b4e", PrmtMode::kB4e},
      {".rc8", PrmtMode::kRc8},  {".ecl", PrmtMode::kEcl}, {".ecr", PrmtMode::kEcr},
      {".rc16", PrmtMode::kRc16}};
  for (auto [name, mode] : kModes)
    word_row(t, "prmt.b32" + std::string(name), 3,
             [mode = mode](auto a, auto b, auto c) { return prmt(a, b, c, mode); });
}

void add_product_rows(Table& t) {
  auto bits = [](int32_t x) { return static_cast<uint32_t>(x); };
  for (bool a_signed : {false, true})
    for (bool b_signed : {false, true}) {
      std::string types = std::string(a_signed ? ".s32" : ".u32") + (b_signed ? ".s32" : ".u32");
      word_row(t, "dp4a" + types, 3,
               [=](auto a, auto b, auto c) { return dp4a(a, b, c, a_signed, b_signed); });
      for (bool high : {false, true})
        word_row(t, "dp2a" + std::string(high ? ".hi" : ".lo") + types, 3,
                 [=](auto a, auto b, auto c) { return dp2a(a, b, c, a_signed, b_signed, high); });
    }
  word_row(t, "mul.hi.u32", 2, [](auto a, auto b, auto) { return mul_hi(a, b); });
  word_row(t, "mul.hi.s32", 2, [=](auto a, auto b, auto) { return bits(mul_hi(s32(a), s32(b))); });
  word_row(t, "mul24.lo.u32", 2, [](auto a, auto b, auto) { return mul24_lo(a, b); });
  word_row(t, "mul24.hi.u32", 2, [](auto a, auto b, auto) { return mul24_hi(a, b); });
  word_row(t, "mul24.lo.s32", 2,
           [=](auto a, auto b, auto) { return bits(mul24_lo(s32(a), s32(b))); });
  word_row(t, "mul24.hi.s32", 2,
           [=](auto a, auto b, auto) { return bits(mul24_hi(s32(a), s32(b))); });
  word_row(t, "mad24.hi.sat.s32", 3,
           [=](auto a, auto b, auto c) { return bits(mad24_hi_sat(s32(a), s32(b), s32(c))); });
  word_row(t, "mad.hi.sat.s32", 3,
           [=](auto a, auto b, auto c) { return bits(mad_hi_sat(s32(a), s32(b), s32(c))); });
  word_row(t, "sad.u32", 3, [](auto a, auto b, auto c) { return sad(a, b, c); });
  word_row(t, "sad.s32", 3,
           [=](auto a, auto b, auto c) { return bits(sad(s32(a), s32(b), s32(c))); });
  word_row(t, "add.sat.s32", 2,
           [=](auto a, auto b, auto) { return bits(add_sat(s32(a), s32(b))); });
  word_row(t, "sub.sat.s32", 2,
           [=](auto a, auto b, auto) { return bits(sub_sat(s32(a), s32(b))); });
  word_row(t, "div.u32", 2, [](auto a, auto b, auto) { return div_int(a, b); });
  word_row(t, "rem.u32", 2, [](auto a, auto b, auto) { return rem_int(a, b); });
  word_row(t, "div.s32", 2, [=](auto a, auto b, auto) { return bits(div_int(s32(a), s32(b))); });
  word_row(t, "rem.s32", 2, [=](auto a, auto b, auto) { return bits(rem_int(s32(a), s32(b))); });
}

// 64 and 16 bits.
void add_other_widths(Table& t) {
  auto row = [&t](const char* ptx, const char* signature, auto run) {
    t.push_back({ptx, signature, [run](uint64_t a, uint64_t b, uint64_t c) -> uint64_t {
                   return static_cast<uint64_t>(run(a, b, c));
                 }});
  };
  auto s64 = [](uint64_t x) { return static_cast<int64_t>(x); };
  row("shl.b64", "llr", [](auto a, auto b, auto) { return shl(a, u32(b)); });
  row("shr.u64", "llr", [](auto a, auto b, auto) { return shr(a, u32(b)); });
  row("shr.s64", "llr", [=](auto a, auto b, auto) { return shr(s64(a), u32(b)); });
  row("shl.b16", "hhr", [](auto a, auto b, auto) { return shl(u16(a), u32(b)); });
  row("shr.u16", "hhr", [](auto a, auto b, auto) { return shr(u16(a), u32(b)); });
  row("shr.s16", "hhr", [](auto a, auto b, auto) {
    return static_cast<uint16_t>(shr(static_cast<int16_t>(a), u32(b)));
  });
  row("bfe.u64", "llrr", [](auto a, auto b, auto c) { return bfe(a, u32(b), u32(c)); });
  row("bfe.s64", "llrr", [=](auto a, auto b, auto c) { return bfe(s64(a), u32(b), u32(c)); });
  row("brev.b64", "ll", [](auto a, auto, auto) { return brev(a); });
  row("clz.b64", "rl", [](auto a, auto, auto) { return clz(a); });
  row("popc.b64", "rl", [](auto a, auto, auto) { return popc(a); });
  row("bfind.u64", "rl", [](auto a, auto, auto) { return bfind(a, false); });
  row("bfind.s64", "rl", [=](auto a, auto, auto) { return bfind(s64(a), false); });
  row("bfind.shiftamt.s64", "rl", [=](auto a, auto, auto) { return bfind(s64(a), true); });
  row("mul.hi.u64", "lll", [](auto a, auto b, auto) { return mul_hi(a, b); });
  row("mul.hi.s64", "lll", [=](auto a, auto b, auto) { return mul_hi(s64(a), s64(b)); });
  row("div.u64", "lll", [](auto a, auto b, auto) { return div_int(a, b); });
  row("div.s64", "lll", [=](auto a, auto b, auto) { return div_int(s64(a), s64(b)); });
  row("rem.u64", "lll", [](auto a, auto b, auto) { return rem_int(a, b); });
  row("rem.s64", "lll", [=](auto a, auto b, auto) { return rem_int(s64(a), s64(b)); });
  row("sad.u64", "llll", [](auto a, auto b, auto c) { return sad(a, b, c); });
}

Table make_table() {
  Table t;
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
  add_integer_rows(t);
  add_product_rows(t);
  add_other_widths(t);
  return t;
}

}  // namespace

const std::vector<PtxOperation>& ptx_operations() {
  static const Table table = make_table();
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
