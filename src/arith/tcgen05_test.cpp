// tcgen05.mma: whole tiles against the definition, and the definition against the H200 where its
// wgmma sums by the same rules (f16, bf16, tf32).

#include "arith/tcgen05.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <vector>

#include "arith/random_bits.h"
#include "arith/sample_file.h"

namespace lw::arith {

namespace v2 {
void tensor_mma(const TensorProduct&, const std::byte*, const std::byte*, const TensorCells&);
}
namespace v3 {
void tensor_mma(const TensorProduct&, const std::byte*, const std::byte*, const TensorCells&);
}
namespace v4 {
void tensor_mma(const TensorProduct&, const std::byte*, const std::byte*, const TensorCells&);
}

namespace {

using T = TensorType;
using R = TensorResult;
using Kernel = decltype(&tensor_mma);

constexpr uint32_t kColumnCells = 128;

// A tile of M x N whose D is spread over cells as M 64 is: 16 of every 32 lanes.
struct Tile {
  std::vector<std::byte> a, b;
  std::vector<uint32_t> cells, rows, columns;

  Tile(uint32_t m, uint32_t n) : a(m * kTensorRowBytes), b(n * kTensorRowBytes) {
    cells.resize(kColumnCells * n);
    for (uint32_t group = 0; group < m / 16; ++group) rows.push_back(group * (m == 64 ? 32 : 16));
    for (uint32_t column = 0; column < n; ++column)
      columns.push_back((n - 1 - column) * kColumnCells);
  }
  TensorCells where() { return {cells.data(), rows, columns, nullptr}; }
  uint32_t& at(uint32_t row, uint32_t column) {
    return cells[rows[row / 16] + row % 16 + columns[column]];
  }
  void run(Kernel kernel, const TensorProduct& product) {
    kernel(product, a.data(), b.data(), where());
  }
};

enum class Kind { kAnyBits, kOrdinary, kSpread, kTiny, kZeros, kSprinkled, kLast };

uint32_t random_code(RandomBits& random, const Format& format, int bits, Kind kind) {
  const int top = (1 << format.exponent_bits) - 1;
  const int code_bits = 1 + format.exponent_bits + format.fraction_bits;
  uint32_t any = random.word() >> (32 - bits);
  if (kind == Kind::kAnyBits) return any;
  if (kind == Kind::kZeros && random.below(4) != 0) return any & (1u << (code_bits - 1));
  if (kind == Kind::kSprinkled && random.below(200) == 0)
    return any | static_cast<uint32_t>(top) << (bits - 1 - format.exponent_bits);
  int centre = top / 2, spread = std::min(3, top / 3);
  if (kind == Kind::kSpread) spread = top / 3;
  if (kind == Kind::kTiny) centre = 1 + top / 8, spread = 1 + top / 8;
  const int field = std::clamp(centre + static_cast<int>(random.below(2 * spread + 1)) - spread, 0,
                               std::max(top - 1, 1));
  const int fraction = bits == 32 ? 23 : format.fraction_bits;
  const int sign = bits == 32 ? 31 : code_bits - 1;
  return (any & (1u << sign | ((1u << fraction) - 1))) | static_cast<uint32_t>(field) << fraction;
}

void fill(std::vector<std::byte>& to, RandomBits& random, T type, Kind kind) {
  const uint32_t bytes = element_bytes(type);
  for (size_t at = 0; at < to.size(); at += bytes) {
    const uint32_t code =
        is_integer(type) ? random.word()
                         : random_code(random, format_of(type), static_cast<int>(8 * bytes), kind);
    std::memcpy(to.data() + at, &code, bytes);
  }
}

Tile random_tile(RandomBits& random, const TensorProduct& product, Kind kind, uint32_t m,
                 uint32_t n) {
  Tile tile(m, n);
  fill(tile.a, random, product.a, kind);
  fill(tile.b, random, product.b, kind);
  for (uint32_t& cell : tile.cells) {
    cell = random.word();
    if (product.d == R::kF32) cell = random_code(random, kF32, 32, kind);
    if (product.d == R::kF16) cell = (cell & 0xffff0000) | random_code(random, kF16, 16, kind);
  }
  return tile;
}

void expect_definition(Kernel kernel, const TensorProduct& product, Tile tile, const char* level,
                       Kind kind) {
  const Tile before = tile;
  tile.run(kernel, product);
  const auto m = static_cast<uint32_t>(tile.a.size()) / kTensorRowBytes;
  const auto n = static_cast<uint32_t>(tile.b.size()) / kTensorRowBytes;
  Tile old = before;
  for (uint32_t row = 0; row < m; ++row)
    for (uint32_t column = 0; column < n; ++column) {
      const uint32_t want =
          tensor_element(product, tile.a.data(), tile.b.data(), row, column, old.at(row, column));
      ASSERT_EQ(tile.at(row, column), want)
          << level << " types " << static_cast<int>(product.a) << ' ' << static_cast<int>(product.b)
          << ' ' << static_cast<int>(product.d) << " kind " << static_cast<int>(kind) << " row "
          << row << " column " << column << std::hex << " c " << old.at(row, column);
      old.at(row, column) = tile.at(row, column);
    }
  EXPECT_EQ(old.cells, tile.cells);  // nothing else is written
}

std::vector<std::pair<Kernel, const char*>> kernels() {
  std::vector<std::pair<Kernel, const char*>> all{{&v2::tensor_mma, "v2"}};
  if (__builtin_cpu_supports("x86-64-v3")) all.emplace_back(&v3::tensor_mma, "v3");
  if (__builtin_cpu_supports("x86-64-v4")) all.emplace_back(&v4::tensor_mma, "v4");
  return all;
}

std::vector<TensorProduct> products() {
  std::vector<TensorProduct> all;
  for (T type : {T::kF16, T::kBf16, T::kTf32}) all.push_back({type, type, R::kF32});
  all.push_back({T::kF16, T::kF16, R::kF16});
  for (T a : {T::kE4m3, T::kE5m2, T::kE2m3, T::kE3m2, T::kE2m1})
    for (T b : {T::kE4m3, T::kE5m2, T::kE2m3, T::kE3m2, T::kE2m1})
      for (R d : {R::kF32, R::kF16}) all.push_back({a, b, d});
  for (T a : {T::kU8, T::kS8})
    for (T b : {T::kU8, T::kS8}) all.push_back({a, b, R::kS32});
  return all;
}

TEST(Tcgen05, TilesEqualTheDefinition) {
  RandomBits random(5);
  for (TensorProduct product : products())
    for (int kind = 0; kind < static_cast<int>(Kind::kLast); ++kind)
      for (auto [kernel, level] : kernels()) {
        product.negate_a = random.below(2) != 0 && !is_integer(product.a);
        product.negate_b = random.below(2) != 0 && !is_integer(product.a);
        product.accumulate = random.below(4) != 0;
        product.saturate = product.d == R::kS32 && random.below(2) != 0;
        const uint32_t m = random.below(2) != 0 ? 64 : 128;
        const auto which = static_cast<Kind>(kind);
        expect_definition(kernel, product, random_tile(random, product, which, m, 16), level,
                          which);
        if (HasFatalFailure()) return;
      }
}

TEST(Tcgen05, ScaledTilesEqualTheDefinition) {
  RandomBits random(7);
  for (T a : {T::kE4m3, T::kE5m2, T::kE2m3, T::kE3m2, T::kE2m1})
    for (Kind kind : {Kind::kAnyBits, Kind::kOrdinary, Kind::kZeros, Kind::kSprinkled})
      for (auto [kernel, level] : kernels()) {
        std::vector<uint8_t> rows(128), columns(16);
        // Near one, anywhere, and where results leave the range of f32.
        const uint32_t centre[] = {127, 20, 190}, span[] = {12, 235, 60};
        const uint32_t choice = random.below(3);
        for (auto* scales : {&rows, &columns})
          for (uint8_t& scale : *scales)
            scale = static_cast<uint8_t>(
                random.below(50) == 0 ? 255 : centre[choice] + random.below(span[choice]));
        const TensorProduct product{.a = a,
                                    .b = T::kE4m3,
                                    .d = R::kF32,
                                    .accumulate = random.below(3) != 0,
                                    .scales = {rows.data(), columns.data()}};
        expect_definition(kernel, product, random_tile(random, product, kind, 128, 16), level,
                          kind);
        if (HasFatalFailure()) return;
      }
}

// 1.0 * 1.0 * 2^3 * 2^-5, 32 times.
TEST(Tcgen05, ScalesMultiply) {
  const uint8_t row = 130, column = 122, nan = 255;
  std::vector<std::byte> a(kTensorRowBytes, std::byte{0x38}), b = a;
  TensorProduct product{.a = T::kE4m3, .b = T::kE4m3, .d = R::kF32, .scales = {&row, &column}};
  EXPECT_EQ(tensor_element(product, a.data(), b.data(), 0, 0, 0), bits_of(8.0f));
  product.scales.columns = &nan;
  EXPECT_EQ(tensor_element(product, a.data(), b.data(), 0, 0, 0), kNanF32);
}

TEST(Tcgen05, ShiftsOnlyWhatStaysExact) {
  uint32_t cell = bits_of(-3.0f);
  EXPECT_TRUE(shift_f32(cell, 4));
  EXPECT_EQ(cell, bits_of(-0.1875f));
  cell = 0x00800001;  // the last bit falls off the subnormals
  EXPECT_FALSE(shift_f32(cell, 1));
  cell = kNanF32;
  EXPECT_TRUE(shift_f32(cell, 15));
  EXPECT_EQ(cell, kNanF32);
  cell = 0xdead3c00;  // 1.0 below what does not count
  EXPECT_TRUE(shift_f16(cell, 15));
  EXPECT_EQ(cell, 0x0200u);
  cell = 0x3c01;
  EXPECT_FALSE(shift_f16(cell, 15));
}

TEST(Tcgen05, KeptRowsAreNotWritten) {
  RandomBits random(6);
  for (const TensorProduct& product :
       {TensorProduct{T::kF16, T::kF16, R::kF32}, TensorProduct{T::kS8, T::kS8, R::kS32}}) {
    Tile tile = random_tile(random, product, Kind::kOrdinary, 128, 8);
    Tile all = tile;
    std::vector<uint32_t> kept(128);
    for (uint32_t row : {0u, 5u, 100u}) kept[row] = ~0u;
    const Tile before = tile;
    TensorCells where = tile.where();
    where.kept = kept.data();
    tensor_mma(product, tile.a.data(), tile.b.data(), where);
    all.run(&tensor_mma, product);
    for (uint32_t row = 0; row < 128; ++row)
      for (uint32_t column = 0; column < 8; ++column)
        EXPECT_EQ(tile.at(row, column),
                  kept[row] ? Tile(before).at(row, column) : all.at(row, column));
  }
}

// Hopper's wgmma sums f16, bf16 and tf32 by the rules of tcgen05.
TEST(Tcgen05, SamplesOfTheH200) {
  int rows = 0;
  for (const auto& row : read_samples("mma_samples.tsv")) {
    if (!row[0].starts_with("wgmma") || row[0].find("e4m3") != std::string::npos ||
        row[0].find("e5m2") != std::string::npos)
      continue;
    TensorProduct product{T::kF16, T::kF16, R::kF32};
    if (row[0].find("bf16") != std::string::npos) product.a = product.b = T::kBf16;
    if (row[0].find("tf32") != std::string::npos) product.a = product.b = T::kTf32;
    if (row[0].find("f16.f16") != std::string::npos) product.d = R::kF16;
    product.negate_a = row[0].find("negated") != std::string::npos;
    Tile tile(64, 8);
    const uint32_t bytes = element_bytes(product.a);
    const auto put = [&](const std::string& codes, std::vector<std::byte>& to) {
      std::istringstream stream(codes);
      std::vector<std::byte> one;
      for (std::string text; stream >> text;) {
        uint32_t code = hex(text);
        // The samples have the negated A itself.
        if (&to == &tile.a && product.negate_a) code ^= 0x8000;
        const auto* from = reinterpret_cast<const std::byte*>(&code);
        one.insert(one.end(), from, from + bytes);
      }
      ASSERT_EQ(one.size(), kTensorRowBytes) << row[0];
      for (size_t at = 0; at < to.size(); at += one.size())
        std::memcpy(to.data() + at, one.data(), one.size());
    };
    put(row[4], tile.a);
    put(row[5], tile.b);
    std::fill(tile.cells.begin(), tile.cells.end(), hex(row[2]));
    tile.run(&tensor_mma, product);
    for (uint32_t i = 0; i < 64; ++i)
      ASSERT_EQ(tile.at(i, i % 8), hex(row[3])) << row[0] << ' ' << row[1];
    ++rows;
  }
  EXPECT_EQ(rows, 420);
}

// Worked out by hand: fp8 sums keep what a sum in f32 would, and drop what 25 bits below the
// largest term do not hold.
TEST(Tcgen05, FullAccumulatorOfFp8) {
  const auto sum = [](std::vector<uint8_t> a, float c) {
    std::vector<std::byte> x(kTensorRowBytes), y(kTensorRowBytes);
    for (size_t k = 0; k < a.size(); ++k) {
      x[k] = static_cast<std::byte>(a[k]);
      y[k] = std::byte{0x38};  // 1.0
    }
    return f32_of(
        tensor_element({T::kE4m3, T::kE4m3, R::kF32}, x.data(), y.data(), 0, 0, bits_of(c)));
  };
  EXPECT_EQ(sum({0x38, 0x38}, 0.0f), 2.0f);
  EXPECT_EQ(sum({0x7e, 0x01}, 0.0f), 448.0f + std::ldexp(1.0f, -9));
  // 2^-9 is below 2^(17-25): it is gone, though the sum without it could hold it.
  EXPECT_EQ(sum({0x01}, -std::ldexp(1.0f, 17)), -std::ldexp(1.0f, 17));
  EXPECT_EQ(sum({0x01, 0x7e}, -std::ldexp(1.0f, 17)), -std::ldexp(1.0f, 17) + 448);
}

TEST(Tcgen05, IntegersWrapOrClamp) {
  std::vector<std::byte> a(kTensorRowBytes, std::byte{255}), b(kTensorRowBytes, std::byte{127});
  TensorProduct product{T::kU8, T::kS8, R::kS32};
  EXPECT_EQ(tensor_element(product, a.data(), b.data(), 0, 0, 5), 32u * 255 * 127 + 5);
  EXPECT_EQ(tensor_element(product, a.data(), b.data(), 0, 0, 0x7fffffff),
            0x7fffffffu + 32u * 255 * 127);
  product.saturate = true;
  EXPECT_EQ(tensor_element(product, a.data(), b.data(), 0, 0, 0x7fffffff), 0x7fffffffu);
  product.b = T::kU8;
  EXPECT_EQ(tensor_element(product, a.data(), b.data(), 0, 0, 0x80000000),
            0x80000000 + 32u * 255 * 127);
}

}  // namespace
}  // namespace lw::arith
