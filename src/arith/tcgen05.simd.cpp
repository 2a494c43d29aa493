// tcgen05.mma on whole tiles: operands to panels, then block sums with rows in the vectors.
//
// Panels hold decoded operands: A by k, 128 rows in a line, so that a vector is 4, 8 or 16 rows of
// one k; B by column, its elements broadcast from memory. As in mma.simd.cpp there is a narrow way
// (moderate exponents; their sums, four columns at a time, in bytes) and a wide one. NaN and
// infinities are read as zero, and every element that has one in its row, its column or its
// accumulator is computed again by the definition: few have. Four columns at a time are asked
// whether they hold any, or a row without a product.

#include "arith/tcgen05.h"

#include <algorithm>

#include "arith/tcgen05_panels.h"
#include "arith/tcgen05_rules.h"

namespace lw::arith::LW_SIMD_NAMESPACE {

namespace {

template <int kProducts>
struct InOrder {
  static constexpr int kK = kProducts;
  static constexpr int kCount = kProducts;
  static constexpr int k(int, int j) { return j; }
  static constexpr int offset(int k) { return k; }
};

template <BlockRules kRules>
inline constexpr bool kHalf = kRules.result == BlockRules::Result::kF16;

// The narrow sum with the exponents of all products raised by `raise`, which may lead anywhere. All
// products zero: `largest_byte` is less than kFirstProductByte.
template <BlockRules kRules, class Order>
LW_INLINE I block_sum_raised(const Term* a, const float* b, I largest_byte, I raise, I c_code) {
  const Term c = decode(c_code, kF32.bias);
  const I of_products = largest_byte < kFirstProductByte ? broadcast(kZeroExponent)
                                                         : largest_byte - 2 * kByteBias + raise;
  const I largest = max(max(of_products, c.exponent), broadcast(kRules.floor));
  const Scale<kRules.fraction_bits> scale(largest);
  // A scale too large for an f32 has nothing to scale.
  const F of_all = as_f(min(max(raise + scale.offset, I{}), broadcast(254)) << 23);
  I first = to_i(c.mantissa * scale.of(c.exponent)), second{};
#pragma GCC unroll 32
  for (int k = 0; k < Order::kCount; ++k) {
    const I term = to_i(a[k].mantissa * b[k] * of_all);
    (k % 2 == 0 ? first : second) += term;
  }
  return finish<kRules>(total_of(first, second), largest);
}

// Where the rows of one vector are, and what goes with them.
struct Rows {
  const TensorProduct& product;
  const std::byte* a;  // of the tile
  const std::byte* b;
  int first;
  uint32_t* cells;  // of column 0
  I special;
  I kept;
  I raise;  // of the exponents of products, by the scales of the rows
};

// Elements with specials, one by one.
void redo(const Rows& rows, int column, I which, I old, I& result) {
  for (int i = 0; i < kWidth; ++i)
    if (which[i] != 0)
      result[i] = static_cast<int32_t>(
          tensor_element(rows.product, rows.a, rows.b, static_cast<uint32_t>(rows.first + i),
                         static_cast<uint32_t>(column), static_cast<uint32_t>(old[i])));
}

template <BlockRules kRules>
struct Codes {  // of an accumulator
  static constexpr int32_t kMagnitude = kHalf<kRules> ? 0x7fff : INT32_MAX;
  static constexpr int32_t kInfinity = kHalf<kRules> ? 0x7c00 : 0x7f800000;
};

// One column of a vector of rows: `sum(c)` is the block sum.
template <BlockRules kRules, class Sum>
LW_INLINE void finish_column(const Rows& rows, uint32_t offset, Sum sum) {
  uint32_t* cell = rows.cells + offset;
  const I old = load(cell);
  I c = rows.product.accumulate ? old : I{};
  if constexpr (kHalf<kRules>) c &= 0xffff;
  const I result = sum(c, std::true_type{});
  store(cell, (result & ~rows.kept) | (old & rows.kept));
}

// The same where there may be specials. `redo_all`: the column has some.
template <BlockRules kRules, class Sum>
void finish_special_column(const Rows& rows, uint32_t offset, int column, bool redo_all, Sum sum) {
  uint32_t* cell = rows.cells + offset;
  const I old = load(cell);
  I c = rows.product.accumulate ? old : I{};
  if constexpr (kHalf<kRules>) c &= 0xffff;
  const I special_c = (c & Codes<kRules>::kMagnitude) >= Codes<kRules>::kInfinity;
  I result = sum(c & ~special_c, std::false_type{});
  redo(rows, column, redo_all ? broadcast(-1) : special_c | rows.special, old, result);
  store(cell, (result & ~rows.kept) | (old & rows.kept));
}

// Whether any of four columns has a special in it, its row or its accumulator.
template <BlockRules kRules>
LW_INLINE bool has_specials(const Panels& panels, const Rows& rows, int first,
                            std::span<const uint32_t> offsets) {
  I special = rows.special;
  bool column = false;
  for (int i = 0; i < 4; ++i) {
    column |= panels.special_columns[first + i];
    const I c = load(rows.cells + offsets[first + i]) & Codes<kRules>::kMagnitude;
    special |= rows.product.accumulate ? c >= Codes<kRules>::kInfinity : I{};
  }
  return column || any(special);
}

// Whether some row has no product in one of four columns.
LW_INLINE bool lacks_products(Bytes largest) {
  return any((reinterpret_cast<I>(largest) & 0x80808080) != static_cast<int32_t>(0x80808080));
}

enum class Way { kNarrow, kWide, kScaled };  // scaled operands are narrow

template <BlockRules kRules, int kK, Way kWay>
void sum_rows(const Panels& panels, const Rows& rows, std::span<const uint32_t> offsets) {
  using Order = InOrder<kK>;
  const Narrow<kRules> narrow;
  Term a[kK];
  for (int k = 0; k < kK; ++k) {
    const int at = k * panels.rows + rows.first;
    a[k] = {as_f(load(panels.a.mantissa + at)), load(panels.a.exponent + at)};
  }
  for (int group = 0; group < panels.columns / 4; ++group) {
    Bytes largest{};
    if constexpr (kWay != Way::kWide) {
      const int32_t* words = panels.b.layout + group * kK;
#pragma GCC unroll 32
      for (int k = 0; k < kK; ++k) {
        const Bytes sum =
            reinterpret_cast<Bytes>(a[k].exponent) + reinterpret_cast<Bytes>(broadcast(words[k]));
        largest = sum > largest ? sum : largest;
      }
    }
    const bool specials = has_specials<kRules>(panels, rows, 4 * group, offsets) ||
                          (kWay == Way::kNarrow && lacks_products(largest));
    for (int column = 4 * group; column < 4 * group + 4; ++column) {
      const Column b{panels.b.mantissa + column * kK, panels.b.exponent + column * kK};
      const I byte = (reinterpret_cast<I>(largest) >> (column % 4 * 8)) & 255;
      const auto sum = [&]<bool kProducts>(I c, std::bool_constant<kProducts>)
          __attribute__((always_inline)) {
        if constexpr (kWay == Way::kNarrow)
          return block_sum_narrow<kRules, Order, 0, kProducts>(narrow, a, b.mantissa, byte, c);
        else if constexpr (kWay == Way::kWide)
          return block_sum<kRules, Order, 0>(a, b, c);
        else
          return block_sum_raised<kRules, Order>(a, b.mantissa, byte,
                                                 rows.raise + panels.raised_columns[column], c);
      };
      if (!specials) [[likely]]
        finish_column<kRules>(rows, offsets[column], sum);
      else
        finish_special_column<kRules>(rows, offsets[column], column, panels.special_columns[column],
                                      sum);
    }
  }
}

// Calls `body(rows)` for every vector of rows.
template <class Body>
void for_each_rows(const TensorProduct& product, const std::byte* a, const std::byte* b,
                   const TensorCells& d, const Panels& panels, Body body) {
  for (int first = 0; first < panels.rows; first += kWidth) {
    const Rows rows{product,
                    a,
                    b,
                    first,
                    d.cells + d.rows[first / kRowsOfGroup] + first % kRowsOfGroup,
                    panels.has_special_rows ? load(panels.special_rows + first) : I{},
                    d.kept != nullptr ? load(d.kept + first) : I{},
                    load(panels.raised_rows + first)};
    body(rows);
  }
}

template <BlockRules kRules, int kK, Way kWay>
void sum_tile(const TensorProduct& product, const std::byte* a, const std::byte* b,
              const TensorCells& d, Panels& panels) {
  constexpr bool kNarrow = kWay != Way::kWide;
  decode_panel<kNarrow>(panels.a, kK * panels.rows, format_of(product.a).bias);
  decode_panel<kNarrow>(panels.b, kK * panels.columns, format_of(product.b).bias);
  if constexpr (kNarrow) spread_exponents<kK>(panels);
  for_each_rows(product, a, b, d, panels,
                [&](const Rows& rows) { sum_rows<kRules, kK, kWay>(panels, rows, d.columns); });
}

// Scales to exponents; those that are NaN make their row or column special.
void take_scales(const TensorScales& scales, Panels& panels) {
  for (int row = 0; row < panels.rows; ++row) {
    panels.raised_rows[row] = scales.rows[row] - kScaleBias;
    if (scales.rows[row] != kNanScale) continue;
    panels.special_rows[row] = -1;
    panels.has_special_rows = true;
  }
  for (int column = 0; column < panels.columns; ++column) {
    panels.raised_columns[column] = scales.columns[column] - kScaleBias;
    panels.special_columns[column] |= scales.columns[column] == kNanScale;
  }
}

template <class Element, BlockRules kRules>
void float_mma(const TensorProduct& product, const std::byte* a, const std::byte* b,
               const TensorCells& d, Panels& panels) {
  constexpr int kK = kTensorRowBytes / sizeof(Element);
  const Layout a_layout(product.a, format_of(product.a)), b_layout(product.b, format_of(product.b));
  take_rows<Element>(a, a_layout, product.negate_a, panels);
  take_columns<Element>(b, b_layout, product.negate_b, panels);
  drop_special_rows(panels, kK, a_layout.special);
  drop_special_columns(panels, kK, b_layout.special);
  if constexpr (sizeof(Element) == 1 && kRules == kTensorRulesF32)
    if (product.scales.rows != nullptr) {
      take_scales(product.scales, panels);
      return sum_tile<kRules, kK, Way::kScaled>(product, a, b, d, panels);
    }
  const bool narrow = is_narrow(panels.a.layout, kK * panels.rows, a_layout.bias) &&
                      is_narrow(panels.b.layout, kK * panels.columns, b_layout.bias);
  // Eight-bit containers have no other exponents.
  if (narrow || sizeof(Element) == 1)
    return sum_tile<kRules, kK, Way::kNarrow>(product, a, b, d, panels);
  if constexpr (sizeof(Element) != 1) sum_tile<kRules, kK, Way::kWide>(product, a, b, d, panels);
}

template <class Element>
void float_mma(const TensorProduct& product, const std::byte* a, const std::byte* b,
               const TensorCells& d, Panels& panels) {
  if constexpr (sizeof(Element) != 4)
    if (product.d == TensorResult::kF16)
      return float_mma<Element, kTensorRulesF16>(product, a, b, d, panels);
  float_mma<Element, kTensorRulesF32>(product, a, b, d, panels);
}

// --- integers: products and sums of 32 are exact in f32 ---

void take_integers(const std::byte* from, bool is_signed, int rows, bool by_k, float* to) {
  for (int row = 0; row < rows; ++row)
    for (int k = 0; k < kMaxK; ++k) {
      const auto byte = static_cast<uint8_t>(from[row * kMaxK + k]);
      to[by_k ? k * rows + row : row * kMaxK + k] =
          is_signed ? static_cast<int8_t>(byte) : static_cast<float>(byte);
    }
}

LW_INLINE I add_clamped(I c, I sum) {
  const I result = as_i(as_u(c) + as_u(sum));
  const I overflow = ((c ^ result) & (sum ^ result)) < 0;
  return overflow ? (c < 0 ? broadcast(INT32_MIN) : broadcast(INT32_MAX)) : result;
}

void sum_integer_rows(const Panels& panels, const Rows& rows, std::span<const uint32_t> offsets) {
  F a[kMaxK];
  for (int k = 0; k < kMaxK; ++k)
    a[k] = as_f(load(panels.a.mantissa + k * panels.rows + rows.first));
  for (int column = 0; column < panels.columns; ++column) {
    const float* b = panels.b.mantissa + column * kMaxK;
    F even{}, odd{};
    for (int k = 0; k < kMaxK; k += 2) {
      even += a[k] * b[k];
      odd += a[k + 1] * b[k + 1];
    }
    uint32_t* cell = rows.cells + offsets[column];
    const I old = load(cell), sum = to_i(even + odd);
    const I c = rows.product.accumulate ? old : I{};
    const I result = rows.product.saturate ? add_clamped(c, sum) : as_i(as_u(c) + as_u(sum));
    store(cell, (result & ~rows.kept) | (old & rows.kept));
  }
}

void integer_mma(const TensorProduct& product, const std::byte* a, const std::byte* b,
                 const TensorCells& d, Panels& panels) {
  take_integers(a, product.a == TensorType::kS8, panels.rows, true, panels.a.mantissa);
  take_integers(b, product.b == TensorType::kS8, panels.columns, false, panels.b.mantissa);
  for_each_rows(product, a, b, d, panels,
                [&](const Rows& rows) { sum_integer_rows(panels, rows, d.columns); });
}

}  // namespace

void tensor_mma(const TensorProduct& product, const std::byte* a, const std::byte* b,
                const TensorCells& d) {
  Panels panels;
  std::fill_n(panels.raised_rows, kMaxTensorRows, 0);
  panels.rows = static_cast<int>(d.rows.size()) * kRowsOfGroup;
  panels.columns = static_cast<int>(d.columns.size());
  if (is_integer(product.a)) return integer_mma(product, a, b, d, panels);
  switch (element_bytes(product.a)) {
    case 1:
      return float_mma<uint8_t>(product, a, b, d, panels);
    case 2:
      return float_mma<uint16_t>(product, a, b, d, panels);
    default:
      return float_mma<uint32_t>(product, a, b, d, panels);
  }
}

}  // namespace lw::arith::LW_SIMD_NAMESPACE
