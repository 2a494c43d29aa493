#pragma once
// Random operands for tests: the same on every machine.

#include <cstdint>

namespace lw::arith {

class RandomBits {
 public:
  // Scrambled, so that neighbouring seeds are not the same sequence one step apart.
  explicit RandomBits(uint64_t seed) : state_(mixed(seed + 1)) {}

  uint64_t next() {
    state_ += 0x9e3779b97f4a7c15u;
    return mixed(state_);
  }
  uint32_t word() { return static_cast<uint32_t>(next() >> 32); }
  uint32_t below(uint32_t bound) { return static_cast<uint32_t>((next() >> 32) * bound >> 32); }

  // f32 bits with an exponent field near `centre`: sums cancel and results meet the edges.
  uint32_t f32_near(int centre, int spread) {
    uint32_t field =
        static_cast<uint32_t>(centre + static_cast<int>(below(2 * spread + 1)) - spread);
    return (word() & 0x807fffffu) | (field & 0xff) << 23;
  }

 private:
  static uint64_t mixed(uint64_t x) {
    x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
    x = (x ^ x >> 27) * 0x94d049bb133111ebu;
    return x ^ x >> 31;
  }

  uint64_t state_;
};

}  // namespace lw::arith
