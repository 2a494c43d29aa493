#include "arith/block_sum.h"

#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "arith/exact.h"
#include "arith/random_bits.h"
#include "arith/sample_file.h"

namespace lw::arith {
namespace {

using Result = BlockRules::Result;
using Codes = std::vector<uint32_t>;

// The forms of mma_samples.tsv, how the H200 computes them.
struct SampleForm {
  Format a;
  Format b;
  BlockRules rules;
  bool emulated = false;  // fp8 mma.sync through f16 instructions
};

constexpr BlockRules kF32Rules{25, -133, Result::kF32Cut};
constexpr BlockRules kF16Rules{25, -21, Result::kF16};
constexpr BlockRules kReduced{13, -133, Result::kF32Reduced};
constexpr BlockRules kReducedF16{13, -21, Result::kF16};

const std::map<std::string, SampleForm> kForms = {
    {"mma m16n8k16 f16.f16", {kF16, kF16, kF16Rules}},
    {"mma m16n8k16 f32.bf16", {kBf16, kBf16, kF32Rules}},
    {"mma m16n8k16 f32.e4m3", {kE4m3, kE4m3, kF32Rules, true}},
    {"mma m16n8k16 f32.f16", {kF16, kF16, kF32Rules}},
    {"mma m16n8k32 f16.e4m3", {kE4m3, kE4m3, kF16Rules, true}},
    {"mma m16n8k32 f32.e4m3", {kE4m3, kE4m3, kF32Rules, true}},
    {"mma m16n8k32 f32.e4m3.e5m2", {kE4m3, kE5m2, kF32Rules, true}},
    {"mma m16n8k32 f32.e5m2", {kE5m2, kE5m2, kF32Rules, true}},
    {"mma m16n8k4 f32.tf32", {kTf32, kTf32, kF32Rules}},
    {"mma m16n8k8 f32.bf16", {kBf16, kBf16, kF32Rules}},
    {"mma m16n8k8 f32.f16", {kF16, kF16, kF32Rules}},
    {"mma m16n8k8 f32.tf32", {kTf32, kTf32, kF32Rules}},
    {"wgmma m64n64k16 f32.bf16, eight equal column blocks", {kBf16, kBf16, kF32Rules}},
    {"wgmma m64n8k16 f16.f16", {kF16, kF16, kF16Rules}},
    {"wgmma m64n8k16 f32.bf16", {kBf16, kBf16, kF32Rules}},
    {"wgmma m64n8k16 f32.bf16, A in registers", {kBf16, kBf16, kF32Rules}},
    {"wgmma m64n8k16 f32.f16", {kF16, kF16, kF32Rules}},
    {"wgmma m64n8k16 f32.f16, A negated", {kF16, kF16, kF32Rules}},
    {"wgmma m64n8k32 f16.e4m3", {kE4m3, kE4m3, kReducedF16}},
    {"wgmma m64n8k32 f16.e5m2", {kE5m2, kE5m2, kReducedF16}},
    {"wgmma m64n8k32 f32.e4m3", {kE4m3, kE4m3, kReduced}},
    {"wgmma m64n8k32 f32.e5m2.e4m3", {kE5m2, kE4m3, kReduced}},
    {"wgmma m64n8k8 f32.tf32", {kTf32, kTf32, kF32Rules}},
};

Codes codes(const std::string& text, const Format& format) {
  Codes all;
  std::istringstream stream(text);
  for (std::string code; stream >> code;)
    all.push_back(format == kTf32 ? hex(code) >> 13 : hex(code));
  return all;
}

uint32_t to_f16(const Format& format, uint32_t code) {
  uint8_t byte = static_cast<uint8_t>(code);
  return format == kE4m3 ? f16_from_e4m3(byte) : f16_from_e5m2(byte);
}

uint32_t emulated_sum(const SampleForm& form, const Codes& a, const Codes& b, uint32_t c) {
  uint32_t sum = 0;
  for (size_t first : {0u, 2u}) {
    Codes x, y;
    for (size_t k = 0; k < a.size(); ++k) {
      if (k % 4 != first && k % 4 != first + 1) continue;
      x.push_back(to_f16(form.a, a[k]));
      y.push_back(to_f16(form.b, b[k]));
    }
    sum = block_sum(kF16, x, kF16, y, sum, form.rules);
  }
  if (form.rules.result == Result::kF16)
    return f16_from_f32_rn(f32_from_f16(static_cast<uint16_t>(sum)) +
                           f32_from_f16(static_cast<uint16_t>(c)));
  return bits_of(canonical_nan(f32_of(sum) + f32_of(c)));
}

TEST(BlockSum, EverySampleOfTheH200) {
  int rows = 0;
  for (const auto& row : read_samples("mma_samples.tsv")) {
    const SampleForm& form = kForms.at(row.at(0));
    Codes a = codes(row.at(4), form.a);
    Codes b = codes(row.at(5), form.b);
    uint32_t c = hex(row.at(2));
    uint32_t d = form.emulated ? emulated_sum(form, a, b, c)
                               : block_sum(form.a, a, form.b, b, c, form.rules);
    EXPECT_EQ(d, hex(row.at(3))) << row[0] << ' ' << row[1] << " c " << row[2];
    ++rows;
  }
  EXPECT_EQ(rows, 1380);
}

// The definition once more, with 768-bit integers in place of aligned words.
std::optional<uint32_t> exact_block_sum(const Format& format, const Codes& a, const Codes& b,
                                        float c, BlockRules rules) {
  auto exponent_of = [](const Format& f, uint32_t code) {
    int field = static_cast<int>(code >> f.fraction_bits & ((1u << f.exponent_bits) - 1));
    return std::max(field, 1) - f.bias;
  };
  auto value_of = [&](uint32_t code) {
    return f32_of(code << (31 - format.exponent_bits - format.fraction_bits));  // bf16, tf32
  };
  std::vector<Exact> terms{Exact(c)};
  int largest = rules.floor;
  if (c != 0) largest = std::max(largest, exponent_of(kF32, bits_of(c)));
  for (size_t i = 0; i < a.size(); ++i) {
    Exact product = exact_mul(Exact(value_of(a[i])), Exact(value_of(b[i])));
    if (product.kind != Exact::Kind::kFinite) return std::nullopt;
    if (!product.is_zero())
      largest = std::max(largest, exponent_of(format, a[i]) + exponent_of(format, b[i]));
    terms.push_back(product);
  }
  Exact sum;
  for (Exact& term : terms) {
    term.magnitude = term.magnitude.cut(largest - rules.fraction_bits);
    sum = exact_add(sum, term, Rounding::kNearestEven);
  }
  bool overflow = sum.magnitude >= Big(1, 128);
  uint32_t code = static_cast<uint32_t>(round_exact_to(
      kF32, sum, overflow ? Rounding::kNearestEven : Rounding::kTowardZero, kNanF32));
  return (code & ~kSignF32) == 0 ? 0 : code;
}

TEST(BlockSum, EqualsExactIntegers) {
  RandomBits random(3);
  for (int i = 0; i < 4000; ++i) {
    const Format& format = i % 2 == 0 ? kBf16 : kTf32;
    int width = 1 + format.exponent_bits + format.fraction_bits;
    int centre = i % 3 == 0 ? 64 : i % 3 == 1 ? 127 : 185;
    Codes a, b;
    for (int k = 0; k < 16; ++k) {
      a.push_back(random.f32_near(centre, 8 + i % 30) >> (32 - width));
      b.push_back(random.f32_near(centre, 8) >> (32 - width));
    }
    float c = f32_of(random.f32_near(2 * centre - 127, 25));
    if ((bits_of(c) & 0x7f800000u) == 0x7f800000u) c = 0;
    auto want = exact_block_sum(format, a, b, c, kF32Rules);
    if (!want) continue;
    ASSERT_EQ(block_sum(format, a, format, b, bits_of(c), kF32Rules), *want) << i;
  }
}

}  // namespace
}  // namespace lw::arith
