// mma.sp: sparse matrices are made, taken apart into elements and metadata, and multiplied; against
// the product of the matrices. Small integers, so that all sums are exact.

#include "arith/mma_sparse.h"

#include <gtest/gtest.h>

#include <bit>

#include "arith/block_sum.h"
#include "arith/formats.h"
#include "machine/semantics/warp_matrix/warp_registers.h"

namespace lw::machine {
namespace {

struct Kind {
  std::string type;
  int bits;
  int k;
  int selectors;
  std::string b_type = "";
  std::string other() const { return b_type.empty() ? type : b_type; }
  bool is_integer() const { return bits <= 8; }
  bool is_signed() const { return type[0] != 'u'; }
};

uint32_t code_of(const std::string& type, int bits, int value) {
  if (type == "f16") return arith::f16_from_f32_rn(static_cast<float>(value));
  if (type == "bf16") return arith::bf16_from_f32_rn(static_cast<float>(value));
  if (type == "tf32") return std::bit_cast<uint32_t>(static_cast<float>(value)) | 0x1fff;
  return static_cast<uint32_t>(value) & ((1u << bits) - 1);
}

// One 16 x 8 x k product.
struct Case {
  Kind kind;
  int selector;
  Words words;
  std::vector<std::vector<int>> a, b;  // 16 x k with zeros, 8 x k (a row is a column of B)
  Registers a_registers, b_registers, c_registers, metadata;

  Case(Kind what, int which, uint64_t seed) : kind(std::move(what)), selector(which), words(seed) {
    const auto count = [&](int elements) {
      return static_cast<size_t>(elements * kind.bits / 1024);
    };
    a_registers.resize(count(8 * kind.k));
    b_registers.resize(count(8 * kind.k));
    a.assign(16, std::vector<int>(static_cast<size_t>(kind.k)));
    b.assign(8, std::vector<int>(static_cast<size_t>(kind.k)));
    c_registers = words.registers(4);
    metadata = words.registers(1);
    for (int row = 0; row < 16; ++row) fill_row(row);
    for (int column = 0; column < 8; ++column) fill_column(column);
  }

  int some(bool is_signed) {
    const int bits = kind.is_integer() ? kind.bits : 4;
    const int value = static_cast<int>(words.next() & ((1u << bits) - 1));
    return is_signed ? value - (1 << (bits - 1)) : value;
  }

  static void put(Registers& registers, int bits, int blocks, int line, int k, uint32_t code) {
    const int each = 32 / bits;
    const auto reg = static_cast<size_t>(k / (4 * each) * blocks + line / 8);
    const auto lane = static_cast<size_t>(line % 8 * 4 + k % (4 * each) / each);
    registers[reg][lane] |= bits == 32 ? code : code << (bits * (k % each));
  }

  void fill_column(int column) {
    for (int k = 0; k < kind.k; ++k) {
      const int value = some(kind.other()[0] != 'u');
      b[static_cast<size_t>(column)][static_cast<size_t>(k)] = value;
      put(b_registers, kind.bits, 1, column, k, code_of(kind.other(), kind.bits, value));
    }
  }

  // Chooses two places of four (of pairs, of 4-bit types; one of two of tf32) in every chunk.
  void fill_row(int row) {
    const int length = kind.bits == 32 ? 2 : kind.bits == 4 ? 8 : 4;
    int given = 0;
    for (int chunk = 0; chunk < kind.k / length; ++chunk) {
      const std::pair<int, int> kPairs[] = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 3}, {2, 3}};
      auto [first, second] = kPairs[words.next() % 6];
      if (kind.bits == 32) first = static_cast<int>(words.next() % 2) * 2, second = first + 1;
      put_metadata(row, chunk, static_cast<uint32_t>(first | second << 2));
      std::vector<int> places = {first, second};
      if (kind.bits == 32) places = {first / 2};
      if (kind.bits == 4) places = {2 * first, 2 * first + 1, 2 * second, 2 * second + 1};
      for (int place : places) {
        const int value = some(kind.is_signed());
        a[static_cast<size_t>(row)][static_cast<size_t>(chunk * length + place)] = value;
        put(a_registers, kind.bits, 2, row, given++, code_of(kind.type, kind.bits, value));
      }
    }
  }

  void put_metadata(int row, int chunk, uint32_t bits) {
    const int chunks = kind.bits == 32 ? kind.k / 2 : kind.bits == 4 ? kind.k / 8 : kind.k / 4;
    const int upper = row / 8;
    int in_quad = 0, at = 0;
    switch (chunks) {
      case 4:  // one thread of the quad
        in_quad = selector, at = 16 * upper + 4 * chunk;
        break;
      case 8:  // two of them
        if (kind.is_integer())
          in_quad = 2 * selector + upper, at = 4 * chunk;
        else
          in_quad = 2 * selector + chunk / 4, at = 16 * upper + 4 * (chunk % 4);
        break;
      default:  // all
        in_quad = chunk / 8 * 2 + upper, at = 4 * (chunk % 8);
    }
    uint32_t& word = metadata[0][static_cast<size_t>(row % 8 * 4 + in_quad)];
    word = (word & ~(15u << at)) | bits << at;
  }

  int64_t product(int row, int column) const {
    int64_t sum = 0;
    for (size_t k = 0; k < static_cast<size_t>(kind.k); ++k)
      sum += a[static_cast<size_t>(row)][k] * b[static_cast<size_t>(column)][k];
    return sum;
  }
};

std::pair<size_t, size_t> place_of(int row, int column) {
  return {static_cast<size_t>(row / 8 * 2 + column % 2),
          static_cast<size_t>(row % 8 * 4 + column / 2)};
}

Registers run_case(const Case& test, const std::string& head, size_t results, const Registers& c) {
  return run_warp(head + names("d", results) + ", " + names("a", test.a_registers.size()) + ", " +
                      names("b", test.b_registers.size()) + ", " + names("c", results) + ", %e0, " +
                      std::to_string(test.selector) + ";",
                  results, {test.a_registers, test.b_registers, c, test.metadata});
}

std::string head_of(const Kind& kind, const std::string& sparse, const std::string& before,
                    const std::string& result) {
  return "mma." + sparse + ".sync.aligned.m16n8k" + std::to_string(kind.k) + ".row.col" + before +
         "." + result + "." + kind.type + "." + kind.other() + "." + result + " ";
}

void check_integers(const Kind& kind, bool satfinite) {
  for (int selector = 0; selector < kind.selectors; ++selector) {
    Case test(kind, selector, static_cast<uint64_t>(kind.k + selector));
    for (uint32_t lane = 0; lane < 32; ++lane)
      test.c_registers[1][lane] = lane % 2 ? 0x7fffffff - lane : 0x80000000 + lane;
    const Registers d = run_case(test,
                                 head_of(kind, selector % 2 ? "sp" : "sp::ordered_metadata",
                                         satfinite ? ".satfinite" : "", "s32"),
                                 4, test.c_registers);
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        const auto [r, lane] = place_of(row, column);
        int64_t sum = static_cast<int32_t>(test.c_registers[r][lane]) + test.product(row, column);
        if (satfinite) sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
        ASSERT_EQ(d[r][lane], static_cast<uint32_t>(sum))
            << kind.type << kind.k << ' ' << selector << ' ' << row << ' ' << column;
      }
  }
}

TEST(MmaSparse, BytesAndNibbles) {
  for (bool satfinite : {false, true}) {
    for (const char* a : {"s8", "u8"})
      for (const char* b : {"s8", "u8"}) {
        check_integers({a, 8, 32, 2, b}, satfinite);
        check_integers({a, 8, 64, 1, b}, satfinite);
      }
    for (const char* a : {"s4", "u4"})
      for (const char* b : {"s4", "u4"}) {
        check_integers({a, 4, 64, 2, b}, satfinite);
        check_integers({a, 4, 128, 1, b}, satfinite);
      }
  }
}

void check_floats(const Kind& kind) {
  for (int selector = 0; selector < kind.selectors; ++selector) {
    Case test(kind, selector, static_cast<uint64_t>(kind.k + 10 * selector));
    for (LaneWords& lanes : test.c_registers)
      for (uint32_t& word : lanes) word = std::bit_cast<uint32_t>(static_cast<float>(word % 1000));
    const Registers d =
        run_case(test, head_of(kind, "sp::ordered_metadata", "", "f32"), 4, test.c_registers);
    for (int row = 0; row < 16; ++row)
      for (int column = 0; column < 8; ++column) {
        const auto [r, lane] = place_of(row, column);
        const float sum = std::bit_cast<float>(test.c_registers[r][lane]) +
                          static_cast<float>(test.product(row, column));
        ASSERT_EQ(std::bit_cast<float>(d[r][lane]), sum)
            << kind.type << kind.k << ' ' << selector << ' ' << row << ' ' << column;
      }
  }
}

TEST(MmaSparse, Floats) {
  check_floats({"f16", 16, 16, 4});
  check_floats({"f16", 16, 32, 2});
  check_floats({"bf16", 16, 16, 4});
  check_floats({"bf16", 16, 32, 2});
  check_floats({"tf32", 32, 8, 4});
  check_floats({"tf32", 32, 16, 2});
}

TEST(MmaSparse, HalvesIntoHalves) {
  Case test({"f16", 16, 32, 2}, 1, 3);
  const Registers c(2);
  const Registers d = run_case(test, head_of(test.kind, "sp", "", "f16"), 2, c);
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      const uint32_t word =
          d[static_cast<size_t>(row / 8)][static_cast<size_t>(row % 8 * 4 + column / 2)];
      EXPECT_EQ(word >> (16 * (column % 2)) & 0xffff,
                code_of("f16", 16, static_cast<int>(test.product(row, column))));
    }
}

// As a dense instruction of half of k would: the same block rules.
TEST(MmaSparse, FloatsAreSummedInOneBlock) {
  Words words(11);
  const auto sparse = arith::find_sparse_mma(
      {{16, 8, 32}, arith::MmaType::kF16, arith::MmaType::kF16, arith::MmaType::kF32}, 0, {90});
  ASSERT_TRUE(sparse);
  Registers a = words.registers(4), b = words.registers(4), c = words.registers(4), d(4);
  LaneWords metadata;
  metadata.fill(0x44444444);  // the first two of each four
  const auto pointers = [](Registers& registers) {
    std::array<void*, 4> all;
    for (size_t r = 0; r < 4; ++r) all[r] = registers[r].data();
    return all;
  };
  sparse->run(pointers(a).data(), pointers(b).data(), pointers(c).data(), metadata.data(),
              pointers(d).data());
  const auto half = [](const Registers& registers, int blocks, int line, int k) -> uint32_t {
    const uint32_t word = registers[static_cast<size_t>(k / 8 * blocks + line / 8)]
                                   [static_cast<size_t>(line % 8 * 4 + k % 8 / 2)];
    return word >> (16 * (k % 2)) & 0xffff;
  };
  for (int row = 0; row < 16; ++row)
    for (int column = 0; column < 8; ++column) {
      std::vector<uint32_t> x, y;
      for (int j = 0; j < 16; ++j) {
        x.push_back(half(a, 2, row, j));
        y.push_back(half(b, 1, column, j / 2 * 4 + j % 2));
      }
      const auto [r, lane] = place_of(row, column);
      EXPECT_EQ(d[r][lane], arith::block_sum(arith::kF16, x, arith::kF16, y, c[r][lane],
                                             {25, -133, arith::BlockRules::Result::kF32Cut}));
    }
}

TEST(MmaSparse, WhatIsNotModelledIsNotFound) {
  using T = arith::MmaType;
  EXPECT_FALSE(arith::find_sparse_mma({{16, 8, 32}, T::kF16, T::kF16, T::kF32}, 2, {90}));
  EXPECT_FALSE(arith::find_sparse_mma({{16, 8, 64}, T::kS8, T::kS8, T::kS32}, 1, {90}));
  EXPECT_FALSE(arith::find_sparse_mma({{16, 8, 64}, T::kE4m3, T::kE4m3, T::kF32}, 0, {80}));
  EXPECT_FALSE(arith::find_sparse_mma({{16, 8, 8}, T::kF16, T::kF16, T::kF32}, 0, {90}));
}

}  // namespace
}  // namespace lw::machine
