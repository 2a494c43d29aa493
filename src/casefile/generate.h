#pragma once
// The data of a case's buffers, made from a kind, a scale and a seed.
//
// The same bytes must come out here, in the test programs that run a case's inputs on a GPU, and on
// every later machine. So element i is a function of (seed, i) alone, there is no state, and
// nothing depends on a mathematics library: a normal value is the sum of twelve uniform 16-bit
// integers (Irwin-Hall), less its mean, in units of its standard deviation. That is an exact
// integer over 65536, its range is -6 to 6, and its distribution is close enough to a normal one
// for test data. Every step is exact or one correctly rounded operation in double; the caller then
// rounds the double to float, and that float to the type of the buffer, each to nearest even. Plain
// C++17, no other header of ours: GPU programs include it too.

#include <cstdint>
#include <cstring>

namespace lw::casefile {

// Finaliser of splitmix64: every bit of the input affects every bit of the output.
inline uint64_t mix_bits(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

// Word number `index` of the stream that belongs to `seed`: splitmix64 with its counter as
// argument.
inline uint64_t random_word(uint64_t seed, uint64_t index) {
  constexpr uint64_t kStep = 0x9e3779b97f4a7c15u;
  return mix_bits(mix_bits(seed + kStep) + (index + 1) * kStep);
}

// `data = "normal"`: mean 0, standard deviation `scale`. Three words an element.
inline double normal_value(uint64_t seed, uint64_t element, double scale) {
  int32_t sum = 0;
  for (uint64_t part = 0; part < 3; ++part) {
    const uint64_t word = random_word(seed, 3 * element + part);
    for (int shift = 0; shift < 64; shift += 16)
      sum += static_cast<int32_t>(word >> shift & 0xffff);
  }
  constexpr int32_t kMean = 12 * 65535 / 2;
  return static_cast<double>(sum - kMean) / 65536.0 * scale;
}

// `data = "uniform"`: from -scale up to, but not including, scale.
inline double uniform_value(uint64_t seed, uint64_t element, double scale) {
  const int64_t fraction = static_cast<int64_t>(random_word(seed, element) >> 11) - (1ll << 52);
  return static_cast<double>(fraction) / 4503599627370496.0 * scale;  // 2^52
}

// `data = "integers"`: every integer from -limit to limit, limit >= 0.
inline int64_t integer_value(uint64_t seed, uint64_t element, int64_t limit) {
  const uint64_t count = 2 * static_cast<uint64_t>(limit) + 1;
  return static_cast<int64_t>(random_word(seed, element) % count) - limit;
}

// Rounds to bfloat16, to nearest even; a NaN stays one.
inline uint16_t to_bf16_bits(float value) {
  uint32_t bits;
  std::memcpy(&bits, &value, sizeof bits);
  if ((bits & 0x7fffffffu) > 0x7f800000u) return static_cast<uint16_t>(bits >> 16 | 0x40);
  return static_cast<uint16_t>((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

}  // namespace lw::casefile
