// The special-function unit over a warp: plain loops that the compiler turns into vectors. Only the
// look-up is done by hand: the compiler takes indices out of a vector one by one, while a table of
// 64 or 128 words is four or eight registers of AVX-512, in which it can permute.

#include "arith/mufu_unit.h"
#include "arith/simd_vector.h"

namespace lw::arith::LW_SIMD_NAMESPACE {
namespace {

constexpr int kLanes = 32;

// The entries `index` of the 2 * kWidth * kPairs words at `table`.
template <int kPairs>
LW_INLINE I permuted(const int32_t* table, I index) {
  if constexpr (kPairs == 1) return __builtin_shuffle(load(table), load(table + kWidth), index);
  constexpr int kHalf = kPairs / 2 * 2 * kWidth;
  const I low = permuted<(kPairs + 1) / 2>(table, index);
  const I high = permuted<(kPairs + 1) / 2>(table + kHalf, index);
  return (index & kHalf) != 0 ? high : low;
}

template <int kSegments>
LW_INLINE void look_up(const int32_t (&table)[kSegments], const uint32_t* segment, int32_t* out) {
  if constexpr (kWidth == 16) {
    for (int lane = 0; lane < kLanes; lane += kWidth)
      store(out + lane, permuted<kSegments / (2 * kWidth)>(table, load(segment + lane)));
  } else {
    for (int lane = 0; lane < kLanes; ++lane) out[lane] = table[segment[lane]];
  }
}

// `function(bits, look)`: first to learn the segments, then with their rows.
template <class Table, class Function>
LW_INLINE void each_lane(const Table& table, Function function, const uint32_t* in, uint32_t* out) {
  alignas(64) uint32_t operands[kLanes];
  alignas(64) uint32_t segments[kLanes];
  alignas(64) int32_t c0[kLanes];
  alignas(64) int32_t c1_c2[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) operands[lane] = in[lane];
  for (int lane = 0; lane < kLanes; ++lane) {
    function(
        operands[lane], [&](const Table&, uint32_t segment) __attribute__((always_inline)) {
          segments[lane] = segment;
          return unit::Row{};
        });
  }
  look_up(table.c0, segments, c0);
  look_up(table.c1_c2, segments, c1_c2);
  for (int lane = 0; lane < kLanes; ++lane) {
    operands[lane] = function(
        operands[lane], [&](const Table&, uint32_t) __attribute__((always_inline)) {
          return unit::Row{c0[lane], c1_c2[lane]};
        });
  }
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = operands[lane];
}

// tanh finds its rows by itself.
template <class Function>
LW_INLINE void each_lane(const unit::TanhTable&, Function function, const uint32_t* in,
                         uint32_t* out) {
  alignas(64) uint32_t operands[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) operands[lane] = in[lane];
  for (int lane = 0; lane < kLanes; ++lane) operands[lane] = function(operands[lane], 0);
  for (int lane = 0; lane < kLanes; ++lane) out[lane] = operands[lane];
}

}  // namespace

#define LW_WARP_UNIT(name, function, table)                                               \
  void name(const uint32_t* in, uint32_t* out) {                                          \
    const auto one = [](uint32_t bits, const auto& look) __attribute__((always_inline)) { \
      if constexpr (requires { unit::function(bits, look); }) {                           \
        return unit::function(bits, look);                                                \
      } else {                                                                            \
        return unit::function(bits);                                                      \
      }                                                                                   \
    };                                                                                    \
    each_lane(unit::table, one, in, out);                                                 \
  }
#include "arith/mufu_warp.def"
#undef LW_WARP_UNIT

}  // namespace lw::arith::LW_SIMD_NAMESPACE
