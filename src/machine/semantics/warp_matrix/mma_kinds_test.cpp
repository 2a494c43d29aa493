// mma.sync of every kind as PTX, against sums over the elements found by the manual's tables read
// backwards: from row, column and k to register, lane and place in the register.

#include <gtest/gtest.h>

#include <bit>
#include <cmath>

#include "machine/semantics/warp_matrix/warp_registers.h"

namespace lw::machine {
namespace {

struct Tile {
  int m, n, k;
  std::string name() const {
    return "m" + std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
  }
};

// Element of A or B at (line, k): line is a row of A or a column of B, `blocks` the eights of
// lines.
uint32_t element(const Registers& registers, int bits, int blocks, int line, int k) {
  const int count = 32 / bits;
  const int reg = k / (4 * count) * blocks + line / 8;
  const int lane = line % 8 * 4 + k % (4 * count) / count;
  const uint32_t word = registers[static_cast<size_t>(reg)][static_cast<size_t>(lane)];
  return bits == 32 ? word : word >> (bits * (k % count)) & ((1u << bits) - 1);
}
// Where element (row, column) of C and D is: register and lane, one element in each.
std::pair<size_t, size_t> place_of(int row, int column) {
  return {static_cast<size_t>(row / 8 * 2 + column % 2),
          static_cast<size_t>(row % 8 * 4 + column / 2)};
}

int64_t number(uint32_t code, const std::string& type) {
  const int bits = std::stoi(type.substr(1));
  return type[0] == 's' && code >> (bits - 1) ? int64_t{code} - (int64_t{1} << bits) : code;
}

size_t registers_for(int elements, int bits) { return static_cast<size_t>(elements * bits / 1024); }

// An integer form: sums of f(a, b).
template <class Product>
void check_integers(const Tile& tile, const std::string& a_type, const std::string& b_type,
                    bool satfinite, const std::string& tail, Product product) {
  const int bits = std::stoi(a_type.substr(1));
  const size_t of_a = registers_for(tile.m * tile.k, bits);
  const size_t of_b = registers_for(tile.n * tile.k, bits);
  const size_t of_c = registers_for(tile.m * tile.n, 32);
  const std::string instruction =
      "mma.sync.aligned." + tile.name() + ".row.col" + (satfinite ? ".satfinite" : "") + ".s32." +
      a_type + "." + b_type + ".s32" + tail + " " + names("d", of_c) + ", " + names("a", of_a) +
      ", " + names("b", of_b) + ", " + names("c", of_c) + ";";
  Words words(static_cast<uint64_t>(tile.k + bits));
  const Registers a = words.registers(of_a), b = words.registers(of_b);
  Registers c = words.registers(of_c);
  for (uint32_t lane = 0; lane < 32; lane += 3)
    c[0][lane] = lane % 2 ? 0x7fffffff - lane : 0x80000000 + lane;
  const Registers d = run_warp(instruction, of_c, {a, b, c});
  for (int row = 0; row < tile.m; ++row)
    for (int column = 0; column < tile.n; ++column) {
      const auto [r, lane] = place_of(row, column);
      int64_t sum = static_cast<int32_t>(c[r][lane]);
      for (int k = 0; k < tile.k; ++k)
        sum += product(number(element(a, bits, tile.m / 8, row, k), a_type),
                       number(element(b, bits, 1, column, k), b_type));
      if (satfinite) sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
      ASSERT_EQ(d[r][lane], static_cast<uint32_t>(sum)) << instruction << row << ' ' << column;
    }
}

constexpr auto kTimes = [](int64_t a, int64_t b) { return a * b; };

TEST(MmaKinds, Bytes) {
  for (const Tile& tile : {Tile{8, 8, 16}, Tile{16, 8, 16}, Tile{16, 8, 32}})
    for (const char* a : {"s8", "u8"})
      for (const char* b : {"s8", "u8"})
        for (bool satfinite : {false, true}) check_integers(tile, a, b, satfinite, "", kTimes);
}

TEST(MmaKinds, Nibbles) {
  for (const Tile& tile : {Tile{8, 8, 32}, Tile{16, 8, 32}, Tile{16, 8, 64}})
    for (const char* a : {"s4", "u4"})
      for (const char* b : {"s4", "u4"})
        for (bool satfinite : {false, true}) check_integers(tile, a, b, satfinite, "", kTimes);
}

TEST(MmaKinds, Bits) {
  for (const Tile& tile : {Tile{8, 8, 128}, Tile{16, 8, 128}, Tile{16, 8, 256}}) {
    check_integers(tile, "b1", "b1", false, ".and.popc", kTimes);
    check_integers(tile, "b1", "b1", false, ".xor.popc",
                   [](int64_t a, int64_t b) { return a ^ b; });
  }
}

double double_at(const Registers& registers, size_t index, size_t lane) {
  return std::bit_cast<double>(uint64_t{registers[2 * index][lane]} |
                               uint64_t{registers[2 * index + 1][lane]} << 32);
}

// Small integers divided by 7, so that the order of roundings shows.
Registers some_doubles(Words& words, size_t count) {
  Registers all(2 * count);
  for (size_t i = 0; i < count; ++i)
    for (size_t lane = 0; lane < 32; ++lane) {
      const double value = (words.next() % 2001 - 1000.0) / 7.0;
      const auto bits = std::bit_cast<uint64_t>(value);
      all[2 * i][lane] = static_cast<uint32_t>(bits);
      all[2 * i + 1][lane] = static_cast<uint32_t>(bits >> 32);
    }
  return all;
}

TEST(MmaKinds, Doubles) {
  for (const Tile& tile : {Tile{8, 8, 4}, Tile{16, 8, 4}, Tile{16, 8, 8}, Tile{16, 8, 16}}) {
    const size_t of_a = static_cast<size_t>(tile.m * tile.k / 32);
    const size_t of_b = static_cast<size_t>(tile.n * tile.k / 32);
    const size_t of_c = static_cast<size_t>(tile.m * tile.n / 32);
    Words words(static_cast<uint64_t>(tile.k));
    const Registers a = some_doubles(words, of_a), b = some_doubles(words, of_b);
    const Registers c = some_doubles(words, of_c);
    const Registers d = run_warp("mma.sync.aligned." + tile.name() + ".row.col.f64.f64.f64.f64 " +
                                     names("dd", of_c) + ", " + names("da", of_a) + ", " +
                                     names("db", of_b) + ", " + names("dc", of_c) + ";",
                                 2 * of_c, {a, b, c}, true);
    for (int row = 0; row < tile.m; ++row)
      for (int column = 0; column < tile.n; ++column) {
        const auto [r, lane] = place_of(row, column);
        double sum = double_at(c, r, lane);
        for (int k = 0; k < tile.k; ++k) {
          const auto a_register = static_cast<size_t>(k / 4 * (tile.m / 8) + row / 8);
          const double x = double_at(a, a_register, static_cast<size_t>(row % 8 * 4 + k % 4));
          const double y =
              double_at(b, static_cast<size_t>(k / 4), static_cast<size_t>(column * 4 + k % 4));
          sum = std::fma(x, y, sum);
        }
        ASSERT_EQ(double_at(d, r, lane), sum) << tile.name() << ' ' << row << ' ' << column;
      }
  }
}

// Codes of fp8 that are small integers, so that every sum is exact.
struct Fp8 {
  const char* name;
  std::array<uint32_t, 9> codes;  // of -4 ... 4
};
constexpr Fp8 kE4m3{"e4m3", {0xc8, 0xc4, 0xc0, 0xb8, 0, 0x38, 0x40, 0x44, 0x48}};
constexpr Fp8 kE5m2{"e5m2", {0xc4, 0xc2, 0xc0, 0xbc, 0, 0x3c, 0x40, 0x42, 0x44}};

Registers small_fp8(Words& words, const Fp8& type, size_t count) {
  Registers all(count);
  for (LaneWords& lanes : all)
    for (uint32_t& word : lanes)
      for (int i = 0; i < 4; ++i) word |= type.codes[words.next() % 9] << (8 * i);
  return all;
}
int value_of(const Fp8& type, uint32_t code) {
  for (size_t i = 0; i < type.codes.size(); ++i)
    if (type.codes[i] == code) return static_cast<int>(i) - 4;
  ADD_FAILURE() << code;
  return 0;
}

void check_fp8(int depth, const Fp8& a_type, const Fp8& b_type, const std::string& target) {
  const Tile tile{16, 8, depth};
  const size_t of_a = registers_for(16 * depth, 8), of_b = registers_for(8 * depth, 8);
  const std::string head = "mma.sync.aligned." + tile.name() + ".row.col.f32." + a_type.name + "." +
                           b_type.name + ".f32 ";
  Words words(static_cast<uint64_t>(depth));
  const Registers a = small_fp8(words, a_type, of_a), b = small_fp8(words, b_type, of_b);
  Registers c(4);
  for (LaneWords& lanes : c)
    for (uint32_t& word : lanes)
      word = std::bit_cast<uint32_t>(static_cast<float>(words.next() % 100));
  const Registers d = run_warp(head + names("d", 4) + ", " + names("a", of_a) + ", " +
                                   names("b", of_b) + ", " + names("c", 4) + ";",
                               4, {a, b, c}, false, target);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      const auto [r, lane] = place_of(row, column);
      float sum = std::bit_cast<float>(c[r][lane]);
      for (int k = 0; k < depth; ++k)
        sum += static_cast<float>(value_of(a_type, element(a, 8, 2, row, k)) *
                                  value_of(b_type, element(b, 8, 1, column, k)));
      ASSERT_EQ(std::bit_cast<float>(d[r][lane]), sum) << head << row << ' ' << column;
    }
}

TEST(MmaKinds, Fp8) {
  for (const char* target : {"sm_89", "sm_90a", "sm_100a", "sm_120a"})
    for (int depth : {16, 32})
      for (const Fp8& a : {kE4m3, kE5m2})
        for (const Fp8& b : {kE4m3, kE5m2}) check_fp8(depth, a, b, target);
}

}  // namespace
}  // namespace lw::machine
