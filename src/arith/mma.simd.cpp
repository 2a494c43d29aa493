// mma.sync on floating-point operands: fragments to panels, block sums, results back to fragments.
//
// A vector holds rows: 4, 8 or 16 of the 16 rows, in an order that C and D share with A, so that
// transposing 4x4 blocks is all the shuffling there is. B's elements are broadcast from memory.
// Three ways through, chosen for a whole tile: narrow (moderate exponents), wide (any), and special
// (a NaN or an infinity somewhere): the wide sum with special operands read as zero, corrected by a
// second sum of what decides about specials (class_of).

#include "arith/mma.h"

#include <algorithm>

#include "arith/mma_form.h"
#include "arith/mma_way.h"

namespace lw::arith::LW_SIMD_NAMESPACE {

namespace {

// By element of a lane's registers, then by lane (column * 4 + t). Narrow: exponent bytes of
// columns 0-3 and of columns 4-7 in a word for each t.
struct BPanel {
  static constexpr int kElements = 8;
  alignas(64) float mantissa[kElements * 32];
  alignas(64) int32_t exponent[kElements * 32];
  alignas(64) float special[kElements * 32];
  alignas(64) int32_t exponent_bytes[2][kElements * 4];
};

using I4 = int32_t __attribute__((vector_size(16)));

LW_INLINE void pack_exponents(BPanel& panel, int element) {
  for (int group = 0; group < 2; ++group) {
    I4 column[4];
    std::memcpy(column, &panel.exponent[element * 32 + group * 16], sizeof column);
    I4 words = column[0] | column[1] << 8 | column[2] << 16 | column[3] << 24;
    std::memcpy(&panel.exponent_bytes[group][element * 4], &words, sizeof words);
  }
}

template <MmaType kType, bool kEmulated, Way kWay>
LW_INLINE Term term_of(I layout) {
  constexpr int kThisBias = kBias<kType, kEmulated>;
  if constexpr (kWay == Way::kNarrow) return decode_value(layout, kThisBias);
  if constexpr (kWay == Way::kSpecial) layout = is_special<kType, kEmulated>(layout) ? I{} : layout;
  return decode(layout, kThisBias);
}

template <class Form, Way kWay>
LW_INLINE void fill_b(Registers b, BPanel& panel) {
  for (int r = 0; r < Form::kBRegisters; ++r) {
    for (int lane = 0; lane < 32; lane += kWidth) {
      I word = load_lanes(b, r, lane);
      for (int i = 0; i < Form::kPerRegister; ++i) {
        I layout = element_layout<Form::kB, Form::kEmulated>(word, i);
        Term term = term_of<Form::kB, Form::kEmulated, kWay>(layout);
        int place = (r * Form::kPerRegister + i) * 32 + lane;
        store(&panel.mantissa[place], as_i(term.mantissa));
        store(&panel.exponent[place], term.exponent);
        if constexpr (kWay == Way::kSpecial)
          store(&panel.special[place], as_i(class_of<Form::kB, Form::kEmulated>(layout)));
      }
    }
    if constexpr (kWay == Way::kNarrow)
      for (int i = 0; i < Form::kPerRegister; ++i)
        pack_exponents(panel, r * Form::kPerRegister + i);
  }
}

// Four vectors of words of a pair of registers (rows 0-7 and 8-15), transposed: v[t] holds the
// words of the lanes with lane % 4 = t, its rows in the order that all operands share.
LW_INLINE void load_rows(Registers registers, int first, int second, int group, I (&v)[4]) {
  for (int j = 0; j < 4; ++j) {
    int lane = (group * 4 + j) * kWidth;
    v[j] = load_lanes(registers, lane < 32 ? first : second, lane % 32);
  }
  transpose_blocks(v);
}

template <int kK>
struct APanel {
  Term terms[kK];  // narrow: the exponent byte four times
  F special[kK];
};

LW_INLINE I four_times(I byte) {
  byte |= byte << 8;
  return byte | byte << 16;
}

template <class Form, Way kWay>
LW_INLINE void fill_a(Registers a, int group, APanel<Form::Products::kK>& panel) {
  constexpr int e = Form::kPerRegister;
#pragma GCC unroll 4
  for (int block = 0; block < Form::kARegisters / 2; ++block) {
    I words[4];
    load_rows(a, 2 * block, 2 * block + 1, group, words);
#pragma GCC unroll 4
    for (int t = 0; t < 4; ++t)
#pragma GCC unroll 4
      for (int i = 0; i < e; ++i) {
        I layout = element_layout<Form::kA, Form::kEmulated>(words[t], i);
        int k = block * 4 * e + t * e + i;
        Term term = term_of<Form::kA, Form::kEmulated, kWay>(layout);
        if constexpr (kWay == Way::kNarrow) term.exponent = four_times(term.exponent);
        panel.terms[k] = term;
        if constexpr (kWay == Way::kSpecial)
          panel.special[k] = class_of<Form::kA, Form::kEmulated>(layout);
      }
  }
}

// --- one column of one group of rows ---

template <BlockRules kRules>
inline constexpr bool kHalf = kRules.result == BlockRules::Result::kF16;
template <BlockRules kRules>
inline constexpr int kInfinity = kHalf<kRules> ? 0x7c00 : 0x7f800000;

template <BlockRules kRules>
LW_INLINE I magnitude_of(I code) {
  return code & (kHalf<kRules> ? 0x7fff : INT32_MAX);
}
template <BlockRules kRules>
LW_INLINE I code_is_special(I code) {
  return magnitude_of<kRules>(code) >= kInfinity<kRules>;
}

// What decides about specials, summed: finite, or the special value that the result is.
template <BlockRules kRules, class Order, int kBlock>
LW_INLINE F special_sum(const APanel<Order::kK>& a, const float* b, I c) {
  I nan = magnitude_of<kRules>(c) > kInfinity<kRules>;
  I value = nan ? broadcast(0x7fc00000) : broadcast(0x7f800000);
  I sign = kHalf<kRules> ? (c & 0x8000) << 16 : c & INT32_MIN;
  F sum = as_f(code_is_special<kRules>(c) ? value | sign : I{});
  for (int j = 0; j < Order::kCount; ++j) {
    int k = Order::k(kBlock, j);
    sum += a.special[k] * b[Order::offset(k)];
  }
  return sum;
}

template <BlockRules kRules>
LW_INLINE I special_code(F value) {
  I bits = as_i(value);
  I sign = kHalf<kRules> ? (bits >> 16) & 0x8000 : bits & INT32_MIN;
  I nan = broadcast(kHalf<kRules> ? kNanF16 : static_cast<int>(kNanF32));
  return value != value ? nan : kInfinity<kRules> | sign;
}

// The largest sums of exponent bytes of each block, for four columns.
template <class Order>
struct LargestBytes {
  Bytes blocks[Order::kBlocks];

  LW_INLINE I of(int block, int column) const {
    return (reinterpret_cast<I>(blocks[block]) >> (column % 4 * 8)) & 255;
  }
};

template <class Order>
LW_INLINE LargestBytes<Order> largest_bytes(const APanel<Order::kK>& a, const BPanel& b,
                                            int group) {
  LargestBytes<Order> largest{};
#pragma GCC unroll 4
  for (int block = 0; block < Order::kBlocks; ++block)
#pragma GCC unroll 32
    for (int j = 0; j < Order::kCount; ++j) {
      int k = Order::k(block, j);
      int place = Order::offset(k) / 32 * 4 + Order::offset(k) % 4;
      Bytes sum = reinterpret_cast<Bytes>(a.terms[k].exponent) +
                  reinterpret_cast<Bytes>(broadcast(b.exponent_bytes[group][place]));
      largest.blocks[block] = sum > largest.blocks[block] ? sum : largest.blocks[block];
    }
  return largest;
}

template <BlockRules kRules, class Order>
struct Operands {
  const APanel<Order::kK>& a;
  const BPanel& b;
  LargestBytes<Order> largest;  // narrow only
  const Narrow<kRules>& narrow;
};

template <BlockRules kRules, class Order, Way kWay, int kBlock>
LW_INLINE I one_block(const Operands<kRules, Order>& operands, int column, I c) {
  const auto& [a, b, largest, narrow] = operands;
  Column place{b.mantissa + 4 * column, b.exponent + 4 * column};
  if constexpr (kWay == Way::kSpecial) {
    F special = special_sum<kRules, Order, kBlock>(a, b.special + 4 * column, c);
    I finite_c = code_is_special<kRules>(c) ? I{} : c;
    I sum = block_sum<kRules, Order, kBlock>(a.terms, place, finite_c);
    return (special - special) != 0.0f ? special_code<kRules>(special) : sum;
  }
  I sum;
  if constexpr (kWay == Way::kNarrow)
    sum = block_sum_narrow<kRules, Order, kBlock>(narrow, a.terms, place.mantissa,
                                                  largest.of(kBlock, column), c);
  else
    sum = block_sum<kRules, Order, kBlock>(a.terms, place, c);
  if constexpr (kBlock > 0)  // the block before may have overflowed
    sum = code_is_special<kRules>(c) ? c : sum;
  return sum;
}

template <BlockRules kRules, class Order, Way kWay, int kBlock = 0>
LW_INLINE I all_blocks(const Operands<kRules, Order>& operands, int column, I c) {
  I sum = one_block<kRules, Order, kWay, kBlock>(operands, column, c);
  if constexpr (kBlock + 1 < Order::kBlocks)
    return all_blocks<kRules, Order, kWay, kBlock + 1>(operands, column, sum);
  else
    return sum;
}

LW_INLINE F f32_from_f16_codes(I code) {
  I layout = accumulator_layout<BlockRules::Result::kF16>(code);
  I magnitude = layout & INT32_MAX;
  I value = as_i(decode_value(magnitude, kF16.bias).mantissa);
  value = magnitude >= (31 << 23) ? magnitude + (224 << 23) : value;
  return as_f(value | (layout & INT32_MIN));
}

// The last step of an emulated form: an ordinary rounded addition.
template <BlockRules kRules>
LW_INLINE I rounded_add(I sum, I c) {
  if constexpr (kHalf<kRules>) {
    F value = f32_from_f16_codes(sum) + f32_from_f16_codes(c);
    I bits = as_i(value);
    I code = round_to_f16(bits & INT32_MAX) | ((bits >> 16) & 0x8000);
    return value != value ? broadcast(kNanF16) : code;
  } else {
    F value = as_f(sum) + as_f(c);
    return value != value ? broadcast(static_cast<int>(kNanF32)) : as_i(value);
  }
}

template <BlockRules kRules, class Order, Way kWay>
LW_INLINE I column_sum(const Operands<kRules, Order>& operands, int column, I c) {
  if constexpr (Order::kFromZero)
    return rounded_add<kRules>(all_blocks<kRules, Order, kWay>(operands, column, I{}), c);
  else
    return all_blocks<kRules, Order, kWay>(operands, column, c);
}

// --- the tile ---

struct Results {
  alignas(64) int32_t lanes[4][32];
};

LW_INLINE void store_rows(Results& results, int first, int second, int group, I (&v)[4]) {
  transpose_blocks(v);
  for (int j = 0; j < 4; ++j) {
    int lane = (group * 4 + j) * kWidth;
    store(&results.lanes[lane < 32 ? first : second][lane % 32], v[j]);
  }
}

// Columns 2t + half of an f32 accumulator are register `half` (rows 0-7) and `half` + 2 (rows
// 8-15); of an f16 accumulator they are a half of registers 0 and 1.
template <BlockRules kRules, class Order, Way kWay>
void sum_group(const APanel<Order::kK>& a, const BPanel& b, Registers c, int group,
               Results& results) {
  constexpr int kSecond = kHalf<kRules> ? 1 : 2;
  const Narrow<kRules> narrow;
  I words[2][4];
  for (int half = 0; half < 2; ++half) {
    int first = kHalf<kRules> ? 0 : half;
    load_rows(c, first, first + kSecond, group, words[half]);
    if constexpr (kHalf<kRules>)
      for (I& word : words[half]) word = (half == 0 ? word : word >> 16) & 0xffff;
  }
  for (int columns = 0; columns < 2; ++columns) {
    Operands<kRules, Order> operands{a, b, {}, narrow};
    if constexpr (kWay == Way::kNarrow) operands.largest = largest_bytes<Order>(a, b, columns);
    for (int column = 4 * columns; column < 4 * columns + 4; ++column) {
      I& code = words[column % 2][column / 2];
      code = column_sum<kRules, Order, kWay>(operands, column, code);
    }
  }
  if constexpr (kHalf<kRules>) {
    for (int t = 0; t < 4; ++t) words[0][t] |= words[1][t] << 16;
    store_rows(results, 0, 1, group, words[0]);
  } else {
    for (int half = 0; half < 2; ++half) store_rows(results, half, half + 2, group, words[half]);
  }
}

template <class Form, Way kWay>
void sum_tile(Registers a, Registers b, Registers c, void* const* d) {
  constexpr BlockRules kRules = Form::kBlockRules;
  BPanel b_panel;
  fill_b<Form, kWay>(b, b_panel);
  Results results;
  for (int group = 0; group < 16 / kWidth; ++group) {
    APanel<Form::Products::kK> a_panel;
    fill_a<Form, kWay>(a, group, a_panel);
    sum_group<kRules, typename Form::Products, kWay>(a_panel, b_panel, c, group, results);
  }
  for (int r = 0; r < (kHalf<kRules> ? 2 : 4); ++r) std::memcpy(d[r], results.lanes[r], 128);
}

// --- one form ---

template <class Form>
void run(const Mma&, Registers a, Registers b, Registers c, void* const* d) {
  constexpr MmaType kC = kHalf<Form::kBlockRules> ? MmaType::kF16 : MmaType::kF32;
  Way way =
      std::max({way_of<Form::kA>(a, Form::kARegisters), way_of<Form::kB>(b, Form::kBRegisters),
                way_of<kC>(c, kC == MmaType::kF16 ? 2 : 4)});
  if (way == Way::kSpecial) [[unlikely]]
    return sum_tile<Form, Way::kSpecial>(a, b, c, d);
  if constexpr (Form::kMayBeNarrow)
    if (Form::kAlwaysNarrow || way == Way::kNarrow) return sum_tile<Form, Way::kNarrow>(a, b, c, d);
  if constexpr (!Form::kAlwaysNarrow) sum_tile<Form, Way::kWide>(a, b, c, d);
}

}  // namespace

MmaFunction float_mma_function(const MmaForm& form, const MmaRules& rules) {
#define LW_MMA(k, a_type, b_type, c_type, sm)                                               \
  {                                                                                         \
    constexpr MmaForm kForm{{16, 8, k}, MmaType::a_type, MmaType::b_type, MmaType::c_type}; \
    constexpr MmaRules kRules = *mma_rules(kForm, {sm});                                    \
    if (form == kForm && rules == kRules) return run<Form<kForm, kRules>>;                  \
  }
#include "arith/mma_forms.def"
#undef LW_MMA
  return nullptr;
}

}  // namespace lw::arith::LW_SIMD_NAMESPACE
