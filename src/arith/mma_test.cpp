// mma.sync: the H200's results through fragments, and every vector kernel against block_sum.

#include "arith/mma.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <cmath>
#include <cstring>

#include "arith/fragments.h"
#include "arith/random_bits.h"
#include "arith/sample_file.h"

namespace lw::arith {

namespace v2 {
MmaFunction float_mma_function(const MmaForm& form, const MmaRules& rules);
}
namespace v3 {
MmaFunction float_mma_function(const MmaForm& form, const MmaRules& rules);
}
namespace v4 {
MmaFunction float_mma_function(const MmaForm& form, const MmaRules& rules);
}

namespace {

using T = MmaType;

// Fragments of one instruction, in registers of 32-bit lanes.
struct Fragments {
  std::array<std::array<uint32_t, 32>, 8> a{}, b{}, c{}, d{};

  template <class Array>
  static std::array<const void*, 8> pointers(const Array& registers) {
    std::array<const void*, 8> all;
    for (size_t r = 0; r < 8; ++r) all[r] = registers[r].data();
    return all;
  }
  void run(const Mma& mma) {
    std::array<void*, 8> results;
    for (size_t r = 0; r < 8; ++r) results[r] = d[r].data();
    mma.run(pointers(a).data(), pointers(b).data(), pointers(c).data(), results.data());
  }
};

void put(std::array<uint32_t, 32>& reg, int bits, int lane, int i, uint32_t code) {
  reg[lane] |= code << (bits == 32 ? 0 : bits * i);
}

// Every row of A, every column of B and every c alike: all 128 results must be the sample's.
Fragments uniform_fragments(const Mma& mma, const std::vector<uint32_t>& a,
                            const std::vector<uint32_t>& b, uint32_t c) {
  Fragments f;
  int bits = element_bits(mma.form.a);
  int count = 32 / bits;
  int c_count = mma.form.c == T::kF16 ? 2 : 1;
  for (int lane = 0; lane < 32; ++lane) {
    for (int r = 0; r < mma.a_registers; ++r)
      for (int i = 0; i < count; ++i)
        put(f.a[r], bits, lane, i, a[place_in_a(mma.form.shape.m, count, lane, r, i).column]);
    for (int r = 0; r < mma.b_registers; ++r)
      for (int i = 0; i < count; ++i)
        put(f.b[r], bits, lane, i, b[place_in_b(count, lane, r, i).row]);
    for (int r = 0; r < mma.c_registers; ++r)
      for (int i = 0; i < c_count; ++i) put(f.c[r], 32 / c_count, lane, i, c);
  }
  return f;
}

// "mma m16n8k32 f32.e4m3.e5m2"
MmaForm form_named(const std::string& name) {
  auto type = [](const std::string& text) {
    if (text == "f16") return T::kF16;
    if (text == "bf16") return T::kBf16;
    if (text == "tf32") return T::kTf32;
    return text == "e4m3" ? T::kE4m3 : T::kE5m2;
  };
  std::istringstream words(name);
  std::string mma, shape, types, accumulator, a, b;
  words >> mma >> shape >> types;
  std::istringstream parts(types);
  std::getline(parts, accumulator, '.');
  std::getline(parts, a, '.');
  if (!std::getline(parts, b, '.')) b = a;
  return {{16, 8, std::stoi(shape.substr(shape.find('k') + 1))},
          type(a),
          type(b),
          accumulator == "f16" ? T::kF16 : T::kF32};
}

std::vector<uint32_t> codes(const std::string& text) {
  std::vector<uint32_t> all;
  std::istringstream stream(text);
  for (std::string code; stream >> code;) all.push_back(hex(code));
  return all;
}

TEST(Mma, EverySampleOfTheH200ThroughFragments) {
  int rows = 0;
  for (const auto& row : read_samples("mma_samples.tsv")) {
    if (!row[0].starts_with("mma ")) continue;
    auto mma = find_mma(form_named(row[0]), {90});
    ASSERT_TRUE(mma) << row[0];
    Fragments f = uniform_fragments(*mma, codes(row[4]), codes(row[5]), hex(row[2]));
    f.run(*mma);
    uint32_t want = hex(row[3]);
    if (mma->form.c == T::kF16) want |= want << 16;
    for (int r = 0; r < mma->c_registers; ++r)
      for (uint32_t d : f.d[r]) ASSERT_EQ(d, want) << row[0] << ' ' << row[1] << " c " << row[2];
    ++rows;
  }
  EXPECT_EQ(rows, 720);
}

// --- random operands of many kinds, every kernel against block_sum ---

enum class Kind {
  kAnyBits,
  kOrdinary,
  kSpread,
  kTiny,
  kHuge,
  kZeros,
  kSprinkled,
  kCancelling,
  kLast
};

uint32_t random_code(RandomBits& random, T type, Kind kind) {
  int bits = element_bits(type);
  int exponent_bits = type == T::kF16 || type == T::kE5m2 ? 5 : type == T::kE4m3 ? 4 : 8;
  int fraction_bits = bits - 1 - exponent_bits;
  uint32_t any = random.word() >> (32 - bits);
  int top = (1 << exponent_bits) - 1;
  int centre = top / 2;
  int spread = 3;
  if (kind == Kind::kSpread) spread = top / 3;
  if (kind == Kind::kTiny) centre = 1 + top / 8, spread = 1 + top / 8;
  if (kind == Kind::kHuge) centre = top - 3, spread = 2;
  if (kind == Kind::kZeros && random.below(4) != 0) return any & (1u << (bits - 1));
  if (kind == Kind::kAnyBits || (kind == Kind::kSprinkled && random.below(100) == 0)) {
    if (random.below(3) == 0) any |= static_cast<uint32_t>(top) << fraction_bits;
    if (random.below(2) == 0) any &= ~((1u << fraction_bits) - 1);
    return any;
  }
  int field = centre + static_cast<int>(random.below(2 * spread + 1)) - spread;
  field = std::min(std::max(field, 0), top - 1);
  uint32_t kept = any & ((1u << (bits - 1)) | ((1u << fraction_bits) - 1));
  return kept | static_cast<uint32_t>(field) << fraction_bits;
}

Fragments random_fragments(const Mma& mma, RandomBits& random, Kind kind) {
  Fragments f;
  int bits = element_bits(mma.form.a);
  T c_type = mma.form.c == T::kF16 ? T::kF16 : T::kF32;
  int c_bits = c_type == T::kF16 ? 16 : 32;
  for (int lane = 0; lane < 32; ++lane) {
    for (int i = 0; i < 32 / bits; ++i) {
      for (int r = 0; r < mma.a_registers; ++r)
        put(f.a[r], bits, lane, i, random_code(random, mma.form.a, kind));
      for (int r = 0; r < mma.b_registers; ++r)
        put(f.b[r], bits, lane, i, random_code(random, mma.form.b, kind));
    }
    for (int i = 0; i < 32 / c_bits; ++i)
      for (int r = 0; r < mma.c_registers; ++r)
        put(f.c[r], c_bits, lane, i, random_code(random, c_type, kind));
  }
  if (kind == Kind::kCancelling)  // the second half of k repeats the first with the other sign
    for (int r = 0; r < mma.a_registers / 2; ++r)
      for (int lane = 0; lane < 32 && mma.b_registers > 1; ++lane) {
        int other = r + mma.a_registers / 2;
        uint32_t signs = bits == 32 ? 0x80000000u : bits == 16 ? 0x80008000u : 0x80808080u;
        f.a[other][lane] = f.a[r][lane] ^ signs;
        f.b[other / 2][lane] = f.b[r / 2][lane];
      }
  return f;
}

// The plain kernel of mma.cpp, reached through rules that no vector kernel has: none. It is what
// find_mma falls back to, so ask for it by a Mma whose function comes from a form without one.
MmaFunction plain_function() {
  return find_mma({{16, 8, 32}, T::kE4m3, T::kE4m3, T::kF32}, {120})->function;
}

void compare(MmaFunction kernel, Mma mma, RandomBits& random, const char* level) {
  for (int kind = 0; kind < static_cast<int>(Kind::kLast); ++kind)
    for (int round = 0; round < 6; ++round) {
      Fragments f = random_fragments(mma, random, static_cast<Kind>(kind));
      if (kind == static_cast<int>(Kind::kTiny) && round == 0) f.c = {};
      Fragments g = f;
      mma.function = kernel;
      f.run(mma);
      mma.function = plain_function();
      g.run(mma);
      for (int r = 0; r < mma.c_registers; ++r)
        for (int lane = 0; lane < 32; ++lane)
          ASSERT_EQ(f.d[r][lane], g.d[r][lane])
              << level << " k" << mma.form.shape.k << " types " << static_cast<int>(mma.form.a)
              << ' ' << static_cast<int>(mma.form.b) << ' ' << static_cast<int>(mma.form.c) << " F "
              << mma.rules.block.fraction_bits << " kind " << kind << " register " << r << " lane "
              << lane << std::hex << " c " << f.c[r][lane];
    }
}

TEST(Mma, VectorKernelsEqualTheDefinition) {
  RandomBits random(21);
  int kernels = 0;
  for (int sm : {80, 89, 90, 100, 120})
    for (int k : {4, 8, 16, 32})
      for (T a : {T::kF16, T::kBf16, T::kTf32, T::kE4m3, T::kE5m2})
        for (T b : {T::kF16, T::kBf16, T::kTf32, T::kE4m3, T::kE5m2})
          for (T c : {T::kF16, T::kF32}) {
            auto mma = find_mma({{16, 8, k}, a, b, c}, {sm});
            if (!mma) continue;
            MmaFunction kernel = v2::float_mma_function(mma->form, mma->rules);
            if (kernel == nullptr) continue;
            ++kernels;
            compare(kernel, *mma, random, "v2");
            if (__builtin_cpu_supports("x86-64-v3"))
              compare(v3::float_mma_function(mma->form, mma->rules), *mma, random, "v3");
            if (__builtin_cpu_supports("x86-64-v4"))
              compare(v4::float_mma_function(mma->form, mma->rules), *mma, random, "v4");
            if (HasFatalFailure()) return;
          }
  EXPECT_GT(kernels, 60);
}

TEST(Mma, ResultsMayOverwriteOperands) {
  RandomBits random(5);
  auto mma = find_mma({{16, 8, 16}, T::kBf16, T::kBf16, T::kF32}, {90});
  Fragments f = random_fragments(*mma, random, Kind::kOrdinary);
  Fragments g = f;
  f.run(*mma);
  std::array<void*, 4> results{g.a[0].data(), g.c[0].data(), g.b[1].data(), g.a[3].data()};
  mma->run(Fragments::pointers(g.a).data(), Fragments::pointers(g.b).data(),
           Fragments::pointers(g.c).data(), results.data());
  for (int r = 0; r < 4; ++r) EXPECT_EQ(std::memcmp(results[r], f.d[r].data(), 128), 0) << r;
}

// --- integers and f64 ---

int64_t integer_element(uint32_t word, T type, int i) {
  int bits = element_bits(type);
  uint32_t code = (word >> (bits * i)) & ((1u << bits) - 1);
  bool negative = (type == T::kS8 || type == T::kS4) && (code >> (bits - 1)) != 0;
  return static_cast<int64_t>(code) - (negative ? int64_t{1} << bits : 0);
}

// The sum as the manual's fragment tables read: every lane and element that holds the right k.
int64_t integer_sum(const Mma& mma, const Fragments& f, int row, int column) {
  int count = 32 / element_bits(mma.form.a);
  std::array<int64_t, 64> x{}, y{};
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < count; ++i) {
      for (int r = 0; r < mma.a_registers; ++r) {
        Place p = place_in_a(mma.form.shape.m, count, lane, r, i);
        if (p.row == row) x.at(p.column) = integer_element(f.a[r][lane], mma.form.a, i);
      }
      for (int r = 0; r < mma.b_registers; ++r) {
        Place p = place_in_b(count, lane, r, i);
        if (p.column == column) y.at(p.row) = integer_element(f.b[r][lane], mma.form.b, i);
      }
    }
  int64_t sum = 0;
  for (int k = 0; k < 64; ++k) sum += x[k] * y[k];
  return sum;
}

TEST(Mma, IntegersAreExactAndClampOnce) {
  RandomBits random(8);
  const MmaShape kShapes[] = {{8, 8, 16}, {16, 8, 16}, {16, 8, 32}, {8, 8, 32}, {16, 8, 64}};
  int forms = 0;
  for (MmaShape shape : kShapes)
    for (T a : {T::kS8, T::kU8, T::kS4, T::kU4})
      for (T b : {T::kS8, T::kU8, T::kS4, T::kU4})
        for (bool satfinite : {false, true}) {
          auto mma = find_mma({shape, a, b, T::kS32, satfinite}, {90});
          if (!mma) continue;
          ++forms;
          Fragments f;
          for (auto* registers : {&f.a, &f.b, &f.c})
            for (auto& lanes : *registers)
              for (uint32_t& lane : lanes) lane = random.word();
          for (uint32_t& lane : f.c[0]) lane = random.below(2) ? 0x7fffff00u : 0x80000080u;
          f.run(*mma);
          for (int lane = 0; lane < 32; ++lane)
            for (int r = 0; r < mma->c_registers; ++r) {
              Place p = place_in_c(1, lane, r, 0);
              int64_t sum =
                  integer_sum(*mma, f, p.row, p.column) + static_cast<int32_t>(f.c[r][lane]);
              if (satfinite) sum = std::min<int64_t>(std::max<int64_t>(sum, INT32_MIN), INT32_MAX);
              ASSERT_EQ(f.d[r][lane], static_cast<uint32_t>(sum));
            }
        }
  EXPECT_EQ(forms, 2 * 4 * 6);
}

TEST(Mma, BitsAreCounted) {
  RandomBits random(9);
  for (int k : {128, 256})
    for (BitOperation operation : {BitOperation::kXor, BitOperation::kAnd}) {
      auto mma = find_mma({{16, 8, k}, T::kB1, T::kB1, T::kS32, false, operation}, {90});
      ASSERT_TRUE(mma);
      Fragments f;
      for (auto* registers : {&f.a, &f.b, &f.c})
        for (auto& lanes : *registers)
          for (uint32_t& lane : lanes) lane = random.word();
      f.run(*mma);
      for (int lane = 0; lane < 32; ++lane)
        for (int r = 0; r < 4; ++r) {
          Place p = place_in_c(1, lane, r, 0);
          uint32_t sum = f.c[r][lane];
          for (int bit = 0; bit < k; ++bit) {
            int t = bit / 32 % 4;
            uint32_t x = f.a[bit / 128 * 2 + p.row / 8][p.row % 8 * 4 + t] >> (bit % 32) & 1;
            uint32_t y = f.b[bit / 128][p.column * 4 + t] >> (bit % 32) & 1;
            sum += operation == BitOperation::kXor ? x ^ y : x & y;
          }
          ASSERT_EQ(f.d[r][lane], sum);
        }
    }
}

TEST(Mma, DoublesAreChainsOfFma) {
  auto mma = find_mma({{8, 8, 4}, T::kF64, T::kF64, T::kF64}, {80});
  ASSERT_TRUE(mma);
  EXPECT_FALSE(find_mma({{16, 8, 8}, T::kF64, T::kF64, T::kF64}, {80}));
  EXPECT_TRUE(find_mma({{16, 8, 8}, T::kF64, T::kF64, T::kF64}, {90}));
  double a[32], b[32], c[2][32], d[2][32];
  for (int lane = 0; lane < 32; ++lane) {
    a[lane] = 1.0 / (lane + 1);
    b[lane] = 1.0 / (lane + 3);
    c[0][lane] = lane, c[1][lane] = -lane;
  }
  const void* as[] = {a};
  const void* bs[] = {b};
  const void* cs[] = {c[0], c[1]};
  void* ds[] = {d[0], d[1]};
  mma->run(as, bs, cs, ds);
  for (int lane = 0; lane < 32; ++lane)
    for (int i = 0; i < 2; ++i) {
      double sum = c[i][lane];
      for (int k = 0; k < 4; ++k)
        sum = std::fma(a[lane / 4 * 4 + k], b[(lane % 4 * 2 + i) * 4 + k], sum);
      EXPECT_EQ(d[i][lane], sum);
    }
}

TEST(Mma, WhatDoesNotExistIsNotFound) {
  EXPECT_FALSE(find_mma({{8, 8, 4}, T::kF16, T::kF16, T::kF32}, {90}));
  EXPECT_FALSE(find_mma({{16, 8, 16}, T::kTf32, T::kTf32, T::kF32}, {90}));
  EXPECT_FALSE(find_mma({{16, 8, 16}, T::kBf16, T::kBf16, T::kF16}, {90}));
  EXPECT_FALSE(find_mma({{16, 8, 32}, T::kE4m3, T::kE4m3, T::kF32}, {80}));
}

}  // namespace
}  // namespace lw::arith
