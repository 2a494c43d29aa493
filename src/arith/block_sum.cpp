#include "arith/block_sum.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace lw::arith {

namespace {

constexpr size_t kMostProducts = 256;

// What the special values of a block add up to.
struct Specials {
  bool nan = false;
  bool plus_infinity = false;
  bool minus_infinity = false;

  void add_infinity(bool negative) { (negative ? minus_infinity : plus_infinity) = true; }
  bool any() const { return nan || plus_infinity || minus_infinity; }
  bool is_nan() const { return nan || (plus_infinity && minus_infinity); }
};

bool is_zero(const Decoded& x) { return x.kind == Decoded::Kind::kFinite && x.significand == 0; }

void note_special(Specials& specials, const Decoded& a, const Decoded& b) {
  using Kind = Decoded::Kind;
  if (a.kind == Kind::kNan || b.kind == Kind::kNan) specials.nan = true;
  if (a.kind != Kind::kInfinity && b.kind != Kind::kInfinity) return;
  if (is_zero(a) || is_zero(b)) specials.nan = true;
  specials.add_infinity(a.negative != b.negative);
}

// The term cut to a multiple of 2^unit. A zero may have any exponent.
int64_t truncated(const SumTerm& term, int unit) {
  if (term.significand == 0) return 0;
  int shift = unit - term.last;
  uint64_t magnitude = shift > 63  ? 0
                       : shift > 0 ? term.significand >> shift
                                   : term.significand << -shift;
  return term.negative ? -static_cast<int64_t>(magnitude) : static_cast<int64_t>(magnitude);
}

const Format& accumulator_format(BlockRules rules) {
  return rules.result == BlockRules::Result::kF16 ? kF16 : kF32;
}

uint32_t special_result(const Specials& specials, BlockRules rules) {
  bool half = rules.result == BlockRules::Result::kF16;
  if (specials.is_nan()) return half ? kNanF16 : kNanF32;
  uint32_t infinity = half ? 0x7c00u : 0x7f800000u;
  return infinity | (specials.minus_infinity ? (half ? 0x8000u : kSignF32) : 0);
}

// sum * 2^unit in the result's format.
uint32_t finish(int64_t sum, int unit, BlockRules rules) {
  bool negative = sum < 0;
  uint64_t magnitude = static_cast<uint64_t>(negative ? -sum : sum);
  if (magnitude == 0) return 0;
  if (rules.result == BlockRules::Result::kF16) {
    uint64_t code = encode(kF16, negative, magnitude, unit, Rounding::kNearestEven, false);
    return (code & 0x7fff) == 0 ? 0 : static_cast<uint32_t>(code);
  }
  int leading = unit + 63 - std::countl_zero(magnitude);
  if (leading >= 128) return 0x7f800000u | (negative ? kSignF32 : 0);
  uint32_t code =
      static_cast<uint32_t>(encode(kF32, negative, magnitude, unit, Rounding::kTowardZero, false));
  if (rules.result == BlockRules::Result::kF32Reduced) code &= ~0x3ffu;
  return (code & ~kSignF32) == 0 ? 0 : code;
}

}  // namespace

uint32_t sum_of_terms(std::span<const SumTerm> terms, uint32_t c, BlockRules rules) {
  const Decoded addend = decode(accumulator_format(rules), c);
  const SumTerm last{addend.negative, addend.significand, addend.exponent,
                     addend.exponent + accumulator_format(rules).fraction_bits};
  int largest = rules.floor;
  const auto raise = [&](const SumTerm& term) {
    if (term.significand != 0) largest = std::max(largest, term.exponent);
  };
  for (const SumTerm& term : terms) raise(term);
  raise(last);
  const int unit = largest - rules.fraction_bits;
  int64_t sum = truncated(last, unit);
  for (const SumTerm& term : terms) sum += truncated(term, unit);
  return finish(sum, unit, rules);
}

uint32_t block_sum(std::span<const Decoded> a, int a_fraction_bits, std::span<const Decoded> b,
                   int b_fraction_bits, uint32_t c, BlockRules rules, int scale) {
  LW_CHECK(a.size() == b.size() && a.size() <= kMostProducts, a.size(), b.size());
  std::array<SumTerm, kMostProducts> terms;
  Specials specials;
  for (size_t i = 0; i < a.size(); ++i) {
    note_special(specials, a[i], b[i]);
    const int last = a[i].exponent + b[i].exponent + scale;
    terms[i] = {a[i].negative != b[i].negative, a[i].significand * b[i].significand, last,
                last + a_fraction_bits + b_fraction_bits};
  }
  const Decoded addend = decode(accumulator_format(rules), c);
  if (addend.kind == Decoded::Kind::kNan) specials.nan = true;
  if (addend.kind == Decoded::Kind::kInfinity) specials.add_infinity(addend.negative);
  if (specials.any()) return special_result(specials, rules);
  return sum_of_terms({terms.data(), a.size()}, c, rules);
}

uint32_t block_sum(const Format& a_format, std::span<const uint32_t> a, const Format& b_format,
                   std::span<const uint32_t> b, uint32_t c, BlockRules rules, int scale) {
  LW_CHECK(a.size() <= kMostProducts && b.size() <= kMostProducts, a.size(), b.size());
  std::array<Decoded, kMostProducts> x, y;
  for (size_t i = 0; i < a.size(); ++i) x[i] = decode(a_format, a[i]);
  for (size_t i = 0; i < b.size(); ++i) y[i] = decode(b_format, b[i]);
  return block_sum({x.data(), a.size()}, a_format.fraction_bits, {y.data(), b.size()},
                   b_format.fraction_bits, c, rules, scale);
}

}  // namespace lw::arith
