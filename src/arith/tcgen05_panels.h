#pragma once
// The operands of tcgen05.mma as panels (tcgen05.simd.cpp): decoded, without NaN and infinities,
// and with a note where those were. Only for *.simd.cpp files.

#include <algorithm>

#include "arith/block_sum_vector.h"
#include "arith/tcgen05.h"

namespace lw::arith::LW_SIMD_NAMESPACE {

inline constexpr int kMaxK = 32;
inline constexpr int kRowsOfGroup = static_cast<int>(kTensorRowGroup);

// By k then row (A), or by column then k (B).
template <int kElements>
struct Panel {
  alignas(64) int32_t layout[kElements];  // what decode() takes; then free for other use
  alignas(64) float mantissa[kElements];  // narrow: the value
  alignas(64) int32_t exponent[kElements];
};

struct Panels {
  Panel<kMaxK* static_cast<int>(kMaxTensorRows)> a;
  Panel<kMaxK* static_cast<int>(kMaxTensorColumns)> b;
  alignas(64) int32_t special_rows[kMaxTensorRows];  // all ones where one is NaN or Inf
  alignas(64) int32_t raised_rows[kMaxTensorRows];
  int32_t raised_columns[kMaxTensorColumns];
  bool special_columns[kMaxTensorColumns];
  bool has_special_rows = false;
  int rows = 0;
  int columns = 0;
};

// How the codes of a type become layouts: fraction bits from bit 22 down, the exponent above, the
// sign on top.
struct Layout {
  int shift;           // of the magnitude, to the left
  uint32_t magnitude;  // of a code
  int sign;            // its bit
  int bias;
  int32_t special;  // the first layout that is NaN or Inf

  Layout(TensorType type, const Format& format)
      : shift(type == TensorType::kTf32 ? 0 : 23 - format.fraction_bits),
        magnitude(type == TensorType::kTf32
                      ? 0x7fffe000u
                      : (1u << (format.exponent_bits + format.fraction_bits)) - 1),
        sign(type == TensorType::kTf32 ? 31 : format.exponent_bits + format.fraction_bits),
        bias(format.bias),
        special(first_special(format)) {}

  static int32_t first_special(const Format& format) {
    const int32_t top = ((1 << format.exponent_bits) - 1) << 23;
    if (format.top == Format::Top::kInfinityAndNan) return top;
    if (format.top == Format::Top::kNumbers) return INT32_MAX;
    return top | ((1 << format.fraction_bits) - 1) << (23 - format.fraction_bits);
  }
};

template <class Element>
LW_INLINE int32_t layout_of(const std::byte* from, const Layout& layout, uint32_t flip) {
  Element element;
  std::memcpy(&element, from, sizeof element);
  const uint32_t code = element;
  const uint32_t sign = ((code >> layout.sign) ^ flip) << 31;
  return static_cast<int32_t>((code & layout.magnitude) << layout.shift | sign);
}

template <class Element>
inline void take_rows(const std::byte* a, const Layout& layout, bool negate, Panels& panels) {
  constexpr int kK = kTensorRowBytes / sizeof(Element);
  for (int row = 0; row < panels.rows; ++row)
    for (int k = 0; k < kK; ++k)
      panels.a.layout[k * panels.rows + row] = layout_of<Element>(
          a + static_cast<size_t>(row) * kTensorRowBytes + static_cast<size_t>(k) * sizeof(Element),
          layout, negate);
}

template <class Element>
inline void take_columns(const std::byte* b, const Layout& layout, bool negate, Panels& panels) {
  constexpr int kK = kTensorRowBytes / sizeof(Element);
  for (int i = 0; i < panels.columns * kK; ++i)
    panels.b.layout[i] =
        layout_of<Element>(b + static_cast<size_t>(i) * sizeof(Element), layout, negate);
}

LW_INLINE bool any(I mask) {
  uint64_t words[sizeof(I) / 8];
  std::memcpy(words, &mask, sizeof mask);
  uint64_t all = 0;
  for (uint64_t word : words) all |= word;
  return all != 0;
}

// Replaces NaN and infinities by zero; calls `found(at, which)` for vectors with some.
template <class Found>
inline void drop_specials(int32_t* layouts, int count, int32_t special, Found found) {
  for (int at = 0; at < count; at += kWidth) {
    const I layout = load(layouts + at);
    const I is_special = (layout & INT32_MAX) >= special;
    if (!any(is_special)) [[likely]]
      continue;
    store(layouts + at, layout & ~is_special);
    found(at, is_special);
  }
}

inline void drop_special_rows(Panels& panels, int k, int32_t special) {
  std::fill_n(panels.special_rows, panels.rows, 0);
  panels.has_special_rows = false;
  drop_specials(panels.a.layout, k * panels.rows, special, [&](int at, I is_special) {
    int32_t* rows = panels.special_rows + at % panels.rows;
    store(rows, load(rows) | is_special);
    panels.has_special_rows = true;
  });
}

inline void drop_special_columns(Panels& panels, int k, int32_t special) {
  std::fill_n(panels.special_columns, panels.columns, false);
  drop_specials(panels.b.layout, k * panels.columns, special, [&](int at, I is_special) {
    for (int i = 0; i < kWidth; ++i)
      if (is_special[i] != 0) panels.special_columns[(at + i) / k] = true;
  });
}

// All exponents moderate (block_sum_vector.h).
inline bool is_narrow(const int32_t* layouts, int count, int bias) {
  if (bias != kF32.bias) return true;
  I wrong{};
  for (int at = 0; at < count; at += kWidth) {
    const I magnitude = load(layouts + at) & INT32_MAX;
    const I outside = (magnitude < ((bias - 32) << 23)) | (magnitude >= ((bias + 32) << 23));
    wrong |= outside & (magnitude != 0);
  }
  return !any(wrong);
}

template <bool kNarrow, int kElements>
inline void decode_panel(Panel<kElements>& panel, int count, int bias) {
  for (int at = 0; at < count; at += kWidth) {
    const I layout = load(panel.layout + at);
    const Term term = kNarrow ? decode_value(layout, bias) : decode(layout, bias);
    store(panel.mantissa + at, as_i(term.mantissa));
    store(panel.exponent + at, term.exponent);
  }
}

// Narrow: the exponent bytes of four neighbouring columns in one word (into `layout`, by group of
// columns, then k), and those of A four times.
template <int kK>
inline void spread_exponents(Panels& panels) {
  for (int group = 0; group < panels.columns / 4; ++group) {
    const int32_t* from = panels.b.exponent + group * 4 * kK;
    int32_t* to = panels.b.layout + group * kK;
    for (int k = 0; k < kK; ++k)
      to[k] = from[k] | from[kK + k] << 8 | from[2 * kK + k] << 16 | from[3 * kK + k] << 24;
  }
  for (int at = 0; at < kK * panels.rows; at += kWidth) {
    I byte = load(panels.a.exponent + at);
    byte |= byte << 8;
    store(panels.a.exponent + at, byte | byte << 16);
  }
}

}  // namespace lw::arith::LW_SIMD_NAMESPACE
