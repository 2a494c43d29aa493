// Whole-warp arithmetic: nanoseconds for 32 lanes, and exact matrix instructions in flop/s.

#include <benchmark/benchmark.h>

#include <array>
#include <vector>

#include "arith/mma.h"
#include "arith/mufu.h"
#include "arith/random_bits.h"
#include "arith/tcgen05.h"
#include "arith/warp.h"

namespace lw::arith {
namespace {

using Lanes = std::array<uint32_t, 32>;

Lanes ordinary_lanes(uint64_t seed) {
  RandomBits random(seed);
  Lanes lanes;
  for (uint32_t& lane : lanes) lane = random.f32_near(126, 3) & ~kSignF32;
  return lanes;
}

void one_operand(benchmark::State& state, WarpFunction function) {
  Lanes a = ordinary_lanes(1), d;
  for (auto _ : state) {
    function(a.data(), d.data());
    benchmark::DoNotOptimize(d);
  }
}

void three_operands(benchmark::State& state, void (*function)(const uint32_t*, const uint32_t*,
                                                              const uint32_t*, uint32_t*)) {
  Lanes a = ordinary_lanes(1), b = ordinary_lanes(2), c = ordinary_lanes(3), d;
  for (auto _ : state) {
    function(a.data(), b.data(), c.data(), d.data());
    benchmark::DoNotOptimize(d);
  }
}

BENCHMARK_CAPTURE(one_operand, ex2_approx_ftz, warp_ex2_approx_ftz);
BENCHMARK_CAPTURE(one_operand, ex2_approx, warp_ex2_approx);
BENCHMARK_CAPTURE(one_operand, lg2_approx_ftz, warp_lg2_approx_ftz);
BENCHMARK_CAPTURE(one_operand, rcp_approx_ftz, warp_rcp_approx_ftz);
BENCHMARK_CAPTURE(one_operand, rsqrt_approx_ftz, warp_rsqrt_approx_ftz);
BENCHMARK_CAPTURE(one_operand, sqrt_approx_ftz, warp_sqrt_approx_ftz);
BENCHMARK_CAPTURE(one_operand, sin_approx, warp_sin_approx);
BENCHMARK_CAPTURE(one_operand, tanh_approx, warp_tanh_approx);
BENCHMARK_CAPTURE(one_operand, f32_from_f16, warp_f32_from_f16);
BENCHMARK_CAPTURE(one_operand, f16_from_f32, warp_f16_from_f32);
BENCHMARK_CAPTURE(three_operands, fma, warp_fma);
BENCHMARK_CAPTURE(three_operands, fma_ftz, warp_fma_ftz);
BENCHMARK_CAPTURE(three_operands, fma_f16x2, warp_fma_f16x2);
BENCHMARK_CAPTURE(three_operands, fma_bf16x2, warp_fma_bf16x2);

enum class Data { kOrdinary, kSpread, kNan };

// Codes of a moderate, or of a wide, range of exponents.
uint32_t operand_word(RandomBits& random, MmaType type, Data data) {
  int spread = data == Data::kSpread ? 60 : 3;
  switch (type) {
    case MmaType::kTf32:
      return random.f32_near(126, spread);
    case MmaType::kBf16:
      return random.f32_near(126, spread) >> 16 | (random.f32_near(126, 3) & 0xffff0000u);
    case MmaType::kF16:
      return (random.word() & 0x8fff8fffu) | 0x30003000u;
    default:
      return (random.word() & 0x8f8f8f8fu) | 0x30303030u;
  }
}

void mma(benchmark::State& state, MmaType type, MmaType result, int k, Data data) {
  Mma form = find_mma({{16, 8, k}, type, type, result}, {90}).value();
  RandomBits random(1);
  std::array<Lanes, 4> a, b, c, d;
  for (auto* operand : {&a, &b})
    for (Lanes& lanes : *operand)
      for (uint32_t& lane : lanes) lane = operand_word(random, type, data);
  for (Lanes& lanes : c)
    for (uint32_t& lane : lanes) lane = result == MmaType::kF16 ? 0x3c003c00u : 0x3f800000u;
  if (data == Data::kNan) a[0][0] |= 0x7fff7fffu;
  std::array<const void*, 4> as, bs, cs;
  std::array<void*, 4> ds;
  for (int r = 0; r < 4; ++r)
    as[r] = a[r].data(), bs[r] = b[r].data(), cs[r] = c[r].data(), ds[r] = d[r].data();
  for (auto _ : state) {
    form.run(as.data(), bs.data(), cs.data(), ds.data());
    benchmark::DoNotOptimize(d);
  }
  state.counters["flop/s"] = benchmark::Counter(
      static_cast<double>(state.iterations()) * 2 * 16 * 8 * k, benchmark::Counter::kIsRate);
}

using T = MmaType;
BENCHMARK_CAPTURE(mma, m16n8k16_f32_bf16, T::kBf16, T::kF32, 16, Data::kOrdinary);
BENCHMARK_CAPTURE(mma, m16n8k16_f32_bf16_spread, T::kBf16, T::kF32, 16, Data::kSpread);
BENCHMARK_CAPTURE(mma, m16n8k16_f32_bf16_nan, T::kBf16, T::kF32, 16, Data::kNan);
BENCHMARK_CAPTURE(mma, m16n8k16_f32_f16, T::kF16, T::kF32, 16, Data::kOrdinary);
BENCHMARK_CAPTURE(mma, m16n8k16_f16_f16, T::kF16, T::kF16, 16, Data::kOrdinary);
BENCHMARK_CAPTURE(mma, m16n8k8_f32_tf32, T::kTf32, T::kF32, 8, Data::kOrdinary);
BENCHMARK_CAPTURE(mma, m16n8k32_f32_e4m3, T::kE4m3, T::kF32, 32, Data::kOrdinary);

// One tcgen05.mma: 128 rows, 256 columns.
void tensor_tile(benchmark::State& state, TensorType type, TensorResult result, MmaType word) {
  constexpr uint32_t kRows = kMaxTensorRows, kColumns = kMaxTensorColumns;
  RandomBits random(1);
  std::vector<uint32_t> a(kRows * 8), b(kColumns * 8), cells(kRows * kColumns, 0x3f800000);
  for (auto* operand : {&a, &b})
    for (uint32_t& element : *operand) element = operand_word(random, word, Data::kOrdinary);
  std::vector<uint32_t> rows, columns;
  for (uint32_t row = 0; row < kRows; row += kTensorRowGroup) rows.push_back(row);
  for (uint32_t column = 0; column < kColumns; ++column) columns.push_back(column * kRows);
  const TensorProduct product{type, type, result};
  for (auto _ : state) {
    tensor_mma(product, reinterpret_cast<const std::byte*>(a.data()),
               reinterpret_cast<const std::byte*>(b.data()), {cells.data(), rows, columns});
    benchmark::DoNotOptimize(cells.data());
  }
  state.counters["flop/s"] =
      benchmark::Counter(static_cast<double>(state.iterations()) * 2 * kRows * kColumns *
                             (kTensorRowBytes / element_bytes(type)),
                         benchmark::Counter::kIsRate);
}

BENCHMARK_CAPTURE(tensor_tile, f32_e4m3, TensorType::kE4m3, TensorResult::kF32, T::kE4m3);
BENCHMARK_CAPTURE(tensor_tile, f32_bf16, TensorType::kBf16, TensorResult::kF32, T::kBf16);
BENCHMARK_CAPTURE(tensor_tile, f16_f16, TensorType::kF16, TensorResult::kF16, T::kF16);
BENCHMARK_CAPTURE(tensor_tile, f32_tf32, TensorType::kTf32, TensorResult::kF32, T::kTf32);
BENCHMARK_CAPTURE(tensor_tile, s32_s8, TensorType::kS8, TensorResult::kS32, T::kE4m3);

}  // namespace
}  // namespace lw::arith
