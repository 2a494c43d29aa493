// Floating-point arithmetic over a warp: loops that the compiler turns into vectors.
//
// Two corners are rare and slow: with .ftz, a result that rounds to the smallest normal number; in
// bf16, an f32 result halfway between two bf16. The loops note whether one occurred, and only then
// the lanes are gone through one by one. Results wait in a local array, so an operand may be the
// destination.

#include "arith/float32.h"
#include "arith/formats.h"
#include "arith/half.h"
#include "arith/round_to_odd.h"

namespace lw::arith::LW_SIMD_NAMESPACE {

namespace {

constexpr int kLanes = 32;
using Word = uint32_t;

LW_INLINE void store(const Word* results, Word* d) {
  for (int lane = 0; lane < kLanes; ++lane) d[lane] = results[lane];
}

template <class Operation, class... Sources>
LW_INLINE void each_lane(Operation operation, Word* d, const Sources*... sources) {
  Word results[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) results[lane] = operation(sources[lane]...);
  store(results, d);
}

// `operation` on f32 values; NaN made canonical.
template <class Operation, class... Sources>
LW_INLINE void f32_lanes(Operation operation, Word* d, const Sources*... sources) {
  each_lane(
      [operation](auto... words) { return bits_of(canonical_nan(operation(f32_of(words)...))); }, d,
      sources...);
}

template <class Operation, class Exact, class... Sources>
LW_INLINE void f32_lanes_ftz(Operation operation, Exact exact, Word* d, const Sources*... sources) {
  constexpr FloatMode kFtz{.ftz = true};
  Word results[kLanes];
  Word edges = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    float r = operation(flush(f32_of(sources[lane]))...);
    edges |= at_flush_edge(r) ? 1 : 0;
    results[lane] = bits_of(canonical_nan(flush(r)));
  }
  if (edges != 0) [[unlikely]]
    for (int lane = 0; lane < kLanes; ++lane)
      if (at_flush_edge(f32_of(results[lane])))
        results[lane] = bits_of(exact(f32_of(sources[lane])..., kFtz));
  store(results, d);
}

struct Add {
  LW_INLINE float operator()(float a, float b) const { return a + b; }
};
struct Sub {
  LW_INLINE float operator()(float a, float b) const { return a - b; }
};
struct Mul {
  LW_INLINE float operator()(float a, float b) const { return a * b; }
};
struct Div {
  LW_INLINE float operator()(float a, float b) const { return a / b; }
};
struct Fma {
  LW_INLINE float operator()(float a, float b, float c) const { return __builtin_fmaf(a, b, c); }
};

// f16: an operation on f32 values whose result is exact, rounded to 24 bits where that is harmless
// (add), or rounded to odd (fma).
struct FmaToOdd {
  LW_INLINE float operator()(float a, float b, float c) const { return sum_to_odd_f32(a * b, c); }
};
template <class Operation, class... Sources>
LW_INLINE void f16x2_lanes(Operation operation, Word* d, const Sources*... sources) {
  each_lane(
      [operation](auto... words) {
        Word low = f16_from_f32_rn(operation(f32_from_f16(static_cast<uint16_t>(words))...));
        Word high = f16_from_f32_rn(operation(f32_from_f16(static_cast<uint16_t>(words >> 16))...));
        return high << 16 | low;
      },
      d, sources...);
}

LW_INLINE float low_bf16(Word word) { return f32_of(word << 16); }
LW_INLINE float high_bf16(Word word) { return f32_of(word & 0xffff0000u); }
LW_INLINE bool halfway(float r) { return (bits_of(r) & 0xffff) == 0x8000; }

template <class Operation, class Exact, class... Sources>
LW_INLINE void bf16x2_lanes(Operation operation, Exact exact, Word* d, const Sources*... sources) {
  Word results[kLanes];
  Word edges[kLanes];
  Word any = 0;
  for (int lane = 0; lane < kLanes; ++lane) {
    float low = operation(low_bf16(sources[lane])...);
    float high = operation(high_bf16(sources[lane])...);
    edges[lane] = (halfway(low) ? 1 : 0) | (halfway(high) ? 1 : 0);
    any |= edges[lane];
    results[lane] = pack16(bf16_from_f32_rn(high), bf16_from_f32_rn(low));
  }
  if (any != 0) [[unlikely]]
    for (int lane = 0; lane < kLanes; ++lane)
      if (edges[lane] != 0) results[lane] = each_half(exact, sources[lane]...);
  store(results, d);
}

}  // namespace

void warp_add(const Word* a, const Word* b, Word* d) { f32_lanes(Add{}, d, a, b); }
void warp_sub(const Word* a, const Word* b, Word* d) { f32_lanes(Sub{}, d, a, b); }
void warp_mul(const Word* a, const Word* b, Word* d) { f32_lanes(Mul{}, d, a, b); }
void warp_div(const Word* a, const Word* b, Word* d) { f32_lanes(Div{}, d, a, b); }
void warp_fma(const Word* a, const Word* b, const Word* c, Word* d) {
  f32_lanes(Fma{}, d, a, b, c);
}

// Sums near 2^-126 are exact: flushing them needs no second look.
void warp_add_ftz(const Word* a, const Word* b, Word* d) {
  f32_lanes([](float x, float y) { return flush(flush(x) + flush(y)); }, d, a, b);
}
void warp_sub_ftz(const Word* a, const Word* b, Word* d) {
  f32_lanes([](float x, float y) { return flush(flush(x) - flush(y)); }, d, a, b);
}
void warp_mul_ftz(const Word* a, const Word* b, Word* d) {
  f32_lanes_ftz(Mul{}, mul_exactly, d, a, b);
}
void warp_div_ftz(const Word* a, const Word* b, Word* d) {
  f32_lanes_ftz(Div{}, div_exactly, d, a, b);
}
void warp_fma_ftz(const Word* a, const Word* b, const Word* c, Word* d) {
  f32_lanes_ftz(Fma{}, fma_exactly, d, a, b, c);
}

void warp_add_f16x2(const Word* a, const Word* b, Word* d) { f16x2_lanes(Add{}, d, a, b); }
void warp_sub_f16x2(const Word* a, const Word* b, Word* d) { f16x2_lanes(Sub{}, d, a, b); }
void warp_mul_f16x2(const Word* a, const Word* b, Word* d) { f16x2_lanes(Mul{}, d, a, b); }
void warp_fma_f16x2(const Word* a, const Word* b, const Word* c, Word* d) {
  f16x2_lanes(FmaToOdd{}, d, a, b, c);
}

void warp_add_bf16x2(const Word* a, const Word* b, Word* d) {
  bf16x2_lanes(
      Add{}, [](uint16_t x, uint16_t y) { return add_bf16(x, y); }, d, a, b);
}
void warp_sub_bf16x2(const Word* a, const Word* b, Word* d) {
  bf16x2_lanes(
      Sub{}, [](uint16_t x, uint16_t y) { return sub_bf16(x, y); }, d, a, b);
}
void warp_mul_bf16x2(const Word* a, const Word* b, Word* d) {
  bf16x2_lanes(
      Mul{}, [](uint16_t x, uint16_t y) { return mul_bf16(x, y); }, d, a, b);
}
void warp_fma_bf16x2(const Word* a, const Word* b, const Word* c, Word* d) {
  bf16x2_lanes(
      Fma{}, [](uint16_t x, uint16_t y, uint16_t z) { return fma_bf16(x, y, z); }, d, a, b, c);
}

void warp_f16x2_from_f32(const Word* high, const Word* low, Word* d) {
  each_lane(
      [](Word h, Word l) { return pack16(f16_from_f32_rn(f32_of(h)), f16_from_f32_rn(f32_of(l))); },
      d, high, low);
}
void warp_bf16x2_from_f32(const Word* high, const Word* low, Word* d) {
  each_lane([](Word h,
               Word l) { return pack16(bf16_from_f32_rn(f32_of(h)), bf16_from_f32_rn(f32_of(l))); },
            d, high, low);
}
void warp_f16_from_f32(const Word* a, Word* d) {
  each_lane([](Word x) { return Word{f16_from_f32_rn(f32_of(x))}; }, d, a);
}
void warp_bf16_from_f32(const Word* a, Word* d) {
  each_lane([](Word x) { return Word{bf16_from_f32_rn(f32_of(x))}; }, d, a);
}
void warp_f32_from_f16(const Word* a, Word* d) {
  each_lane([](Word x) { return bits_of(f32_from_f16(static_cast<uint16_t>(x))); }, d, a);
}
void warp_f32_from_bf16(const Word* a, Word* d) {
  each_lane([](Word x) { return x << 16; }, d, a);
}

}  // namespace lw::arith::LW_SIMD_NAMESPACE
