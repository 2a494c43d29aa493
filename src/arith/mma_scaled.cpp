#include "arith/mma_scaled.h"

#include <array>
#include <cstdlib>

#include "arith/block_sum.h"
#include "arith/mma_matrix.h"

namespace lw::arith {

namespace {

using namespace mma_detail;

constexpr int kGroup = 16;  // products that are added exactly, with k = 64
constexpr BlockRules kFloatRules{25, -133, BlockRules::Result::kF32Cut};
constexpr BlockRules kHalfRules{25, -21, BlockRules::Result::kF16};
constexpr BlockRules kGroupRules{35, -133, BlockRules::Result::kF32Cut};

// How each matrix looks to the helpers of mma_matrix.h: only the shape and the width count.
MmaForm layout_of(const ScaledForm& form) {
  const MmaType element = form.k == 64 ? MmaType::kU4 : MmaType::kE4m3;
  return {{16, 8, form.k}, element, element, form.half ? MmaType::kF16 : MmaType::kF32};
}

// An element in its byte.
auto element_in_byte(const Format& format) {
  const int bits = 1 + format.exponent_bits + format.fraction_bits;
  const int below = bits == 4 ? 2 : 0;
  return [=](uint32_t byte) { return decode(format, byte >> below & ((1u << bits) - 1)); };
}

// A scale: significand * 2^(exponent - fraction_bits).
struct Scale {
  bool nan;
  uint64_t significand;
  int exponent;
  int fraction_bits;
};
Scale scale_of(ScaleType type, uint32_t byte) {
  if (type == ScaleType::kUe8m0) return {byte == 0xff, 1, static_cast<int>(byte) - 127, 0};
  const uint32_t field = byte >> 3 & 15, fraction = byte & 7;  // the sign does not count
  if (field == 0) return {false, fraction, -6, 3};
  return {(byte & 0x7f) == 0x7f, 8 + fraction, static_cast<int>(field) - 7, 3};
}

// The scale of chunk `index` of a row or column.
Scale scale_at(const ScaledForm& form, uint32_t word, ScaleSelector select, int index) {
  const auto byte = static_cast<int>(select.byte) + index;
  return scale_of(form.scale, word >> (8 * byte) & 0xff);
}

// A row of A, a column of B and the words of their scales.
template <class Element>
struct Operands {
  const Element* x;
  const Element* y;
  uint32_t scales_a = 0;
  uint32_t scales_b = 0;
  ScaleSelector select_a{};
  ScaleSelector select_b{};
};

uint32_t sum_of(const ScaledForm& form, const Operands<Decoded>& o, uint32_t c) {
  int scale = 0;
  if (form.scale != ScaleType::kNone) {
    const Scale a = scale_at(form, o.scales_a, o.select_a, 0);
    const Scale b = scale_at(form, o.scales_b, o.select_b, 0);
    if (a.nan || b.nan) return kNanF32;
    scale = a.exponent + b.exponent;
  }
  return block_sum({o.x, 32}, form.a.fraction_bits, {o.y, 32}, form.b.fraction_bits, c,
                   form.half ? kHalfRules : kFloatRules, scale);
}

// Twice the value of an e2m1 code.
int32_t doubled(uint32_t code) {
  constexpr std::array<int, 8> kMagnitudes = {0, 1, 2, 3, 4, 6, 8, 12};
  return code & 8 ? -kMagnitudes[code & 7] : kMagnitudes[code & 7];
}

SumTerm group_term(const Operands<int32_t>& o, int group, const Scale& a, const Scale& b) {
  int64_t sum = 0;  // in quarters
  for (int k = group * kGroup; k < (group + 1) * kGroup; ++k) sum += o.x[k] * o.y[k];
  const int exponent = a.exponent + b.exponent;
  return {sum < 0, static_cast<uint64_t>(std::abs(sum)) * a.significand * b.significand,
          exponent - a.fraction_bits - b.fraction_bits - 2, exponent};
}

uint32_t sum_of(const ScaledForm& form, const Operands<int32_t>& o, uint32_t c) {
  std::array<SumTerm, 4> terms;
  for (int group = 0; group < 4; ++group) {
    const int index = group * form.scales / 4;
    const Scale a = scale_at(form, o.scales_a, o.select_a, index);
    const Scale b = scale_at(form, o.scales_b, o.select_b, index);
    if (a.nan || b.nan) return kNanF32;
    terms[group] = group_term(o, group, a, b);
  }
  const Decoded addend = decode(kF32, c);
  if (addend.kind == Decoded::Kind::kNan) return kNanF32;
  if (addend.kind == Decoded::Kind::kInfinity) return c;
  return sum_of_terms(terms, c, kGroupRules);
}

}  // namespace

bool ScaledMma::can_select(ScaleSelector a, ScaleSelector b) const {
  if (form.scale == ScaleType::kNone) return true;
  const auto step = static_cast<uint32_t>(form.scales);
  const auto is_byte = [&](uint32_t byte) { return byte % step == 0 && byte + step <= 4; };
  return is_byte(a.byte) && is_byte(b.byte) && a.thread < 2 && b.thread < 4;
}

void ScaledMma::run(const void* const* a, const void* const* b, const void* const* c,
                    const uint32_t* scales_a, ScaleSelector select_a, const uint32_t* scales_b,
                    ScaleSelector select_b, void* const* d) const {
  const auto multiply = [&](auto of_a, auto of_b) {
    using Element = decltype(of_a(0u));
    const MmaForm layout = layout_of(form);
    Matrix<Element> rows, columns;
    take_a(layout, kScaledRegistersOfA, a, rows, of_a);
    take_b(layout, kScaledRegistersOfB, b, columns, of_b);
    each_result(layout, c, d, [&](int row, int column, uint32_t addend) {
      Operands<Element> operands{&rows.at(row, 0), &columns.at(column, 0)};
      if (form.scale != ScaleType::kNone) {
        operands.select_a = select_a, operands.select_b = select_b;
        operands.scales_a = scales_a[row % 8 * 4 + static_cast<int>(2 * select_a.thread) + row / 8];
        operands.scales_b = scales_b[column * 4 + static_cast<int>(select_b.thread)];
      }
      return sum_of(form, operands, addend);
    });
  };
  if (form.k == 64) return multiply(doubled, doubled);
  multiply(element_in_byte(form.a), element_in_byte(form.b));
}

}  // namespace lw::arith
