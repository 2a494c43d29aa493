// Integer instructions against formulations bit by bit, as the manual's pseudo-code reads.

#include "arith/integer.h"

#include <gtest/gtest.h>

#include <bitset>

#include "arith/random_bits.h"

namespace lw::arith {
namespace {

// Random words, small numbers, edges.
class Words {
 public:
  uint64_t next() {
    switch (random_.below(4)) {
      case 0:
        return random_.next();
      case 1:
        return random_.below(80) - 8ull;
      case 2:
        return uint64_t{1} << random_.below(64);
      default:
        return ~uint64_t{0} << random_.below(64);
    }
  }
  template <class Int>
  Int as() {
    return static_cast<Int>(next());
  }

 private:
  RandomBits random_{31};
};

constexpr int kRounds = 20000;

template <class Int>
void check_shifts(Words& words) {
  for (int i = 0; i < kRounds; ++i) {
    Int a = words.as<Int>();
    uint32_t count = words.as<uint32_t>();
    Int left = a, right = a;
    for (uint32_t n = 0; n < std::min<uint32_t>(count, 70); ++n) {  // one place at a time
      left = static_cast<Int>(static_cast<std::make_unsigned_t<Int>>(left) * 2u);
      right = static_cast<Int>(right >> 1);
    }
    ASSERT_EQ(shl(a, count), left) << +a << ' ' << count;
    ASSERT_EQ(shr(a, count), right) << +a << ' ' << count;
  }
}

TEST(Integer, ShiftsDoNotMaskTheCount) {
  Words words;
  check_shifts<uint16_t>(words);
  check_shifts<int16_t>(words);
  check_shifts<uint32_t>(words);
  check_shifts<int32_t>(words);
  check_shifts<uint64_t>(words);
  check_shifts<int64_t>(words);
}

TEST(Integer, FunnelShifts) {
  Words words;
  for (int i = 0; i < kRounds; ++i) {
    uint32_t a = words.as<uint32_t>(), b = words.as<uint32_t>(), c = words.as<uint32_t>();
    for (bool wrap : {false, true}) {
      uint32_t n = wrap ? c & 31 : std::min(c, 32u);
      uint32_t left = n == 0 ? b : n == 32 ? a : b << n | a >> (32 - n);
      uint32_t right = n == 0 ? a : n == 32 ? b : b << (32 - n) | a >> n;
      ASSERT_EQ(shf_l(a, b, c, wrap), left);
      ASSERT_EQ(shf_r(a, b, c, wrap), right);
    }
  }
}

template <class Int>
void check_fields(Words& words) {
  using Bits = std::make_unsigned_t<Int>;
  constexpr uint32_t kWidth = kBits<Int>;
  for (int i = 0; i < kRounds; ++i) {
    Int a = words.as<Int>(), b = words.as<Int>();
    uint32_t position = words.as<uint32_t>(), length = words.as<uint32_t>();
    uint32_t p = position & 255, n = length & 255;
    std::bitset<kWidth> source(static_cast<Bits>(a)), extracted, inserted(static_cast<Bits>(b));
    bool sign = std::is_signed_v<Int> && n != 0 && source[std::min(p + n - 1, kWidth - 1)];
    for (uint32_t bit = 0; bit < kWidth; ++bit)
      extracted[bit] = bit < n && p + bit < kWidth ? source[p + bit] : sign;
    for (uint32_t bit = 0; bit < n && p + bit < kWidth; ++bit) inserted[p + bit] = source[bit];
    ASSERT_EQ(static_cast<Bits>(bfe(a, position, length)), extracted.to_ullong()) << p << ' ' << n;
    ASSERT_EQ(bfi(static_cast<Bits>(a), static_cast<Bits>(b), position, length),
              inserted.to_ullong());
  }
}

TEST(Integer, BitFields) {
  Words words;
  check_fields<uint32_t>(words);
  check_fields<int32_t>(words);
  check_fields<uint64_t>(words);
  check_fields<int64_t>(words);
}

TEST(Integer, MasksAndExtension) {
  Words words;
  for (int i = 0; i < kRounds; ++i) {
    uint32_t a = words.as<uint32_t>(), p = words.as<uint32_t>(), n = words.as<uint32_t>();
    for (bool wrap : {false, true}) {
      uint32_t first = wrap ? p & 31 : std::min(p, 32u), count = wrap ? n & 31 : std::min(n, 32u);
      uint32_t mask = 0;
      for (uint32_t bit = first; bit < std::min(first + count, 32u); ++bit) mask |= 1u << bit;
      ASSERT_EQ(bmsk(p, n, wrap), mask);
      uint32_t kept = 0;
      for (uint32_t bit = 0; bit < count; ++bit) kept |= a & (1u << bit);
      ASSERT_EQ(szext<uint32_t>(a, n, wrap), kept);
      bool negative = count != 0 && (a >> (count - 1) & 1) != 0;
      for (uint32_t bit = count; negative && bit < 32; ++bit) kept |= 1u << bit;
      ASSERT_EQ(static_cast<uint32_t>(szext<int32_t>(static_cast<int32_t>(a), n, wrap)), kept);
    }
  }
}

template <class Int>
void check_products(Words& words) {
  using Big = __int128;
  for (int i = 0; i < kRounds; ++i) {
    Int a = words.as<Int>(), b = words.as<Int>(), c = words.as<Int>();
    unsigned __int128 product = static_cast<unsigned __int128>(static_cast<Big>(a)) *
                                static_cast<unsigned __int128>(static_cast<Big>(b));
    ASSERT_EQ(mul_lo(a, b), static_cast<Int>(product));
    ASSERT_EQ(mul_hi(a, b), static_cast<Int>(product >> kBits<Int>));
    ASSERT_TRUE(mul_wide(a, b) == static_cast<Wide<Int>>(product));
    Big difference = static_cast<Big>(a) - b;
    ASSERT_EQ(sad(a, b, c), static_cast<Int>((difference < 0 ? -difference : difference) + c));
  }
}

TEST(Integer, Products) {
  Words words;
  check_products<int16_t>(words);
  check_products<uint16_t>(words);
  check_products<int32_t>(words);
  check_products<uint32_t>(words);
  check_products<int64_t>(words);
  check_products<uint64_t>(words);
  EXPECT_EQ(mad_hi_sat(INT32_MAX, INT32_MAX, INT32_MAX), INT32_MAX);
  EXPECT_EQ(add_sat(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(sub_sat(INT32_MAX, -1), INT32_MAX);
  EXPECT_EQ(abs_int<int32_t>(INT32_MIN), INT32_MIN);
}

TEST(Integer, ProductsOf24Bits) {
  Words words;
  for (int i = 0; i < kRounds; ++i) {
    uint32_t a = words.as<uint32_t>(), b = words.as<uint32_t>();
    uint64_t product = uint64_t{a & 0xffffff} * (b & 0xffffff);
    ASSERT_EQ(mul24_lo(a, b), static_cast<uint32_t>(product));
    ASSERT_EQ(mul24_hi(a, b), static_cast<uint32_t>(product >> 16));
    auto extended = [](uint32_t x) { return int64_t{x & 0xffffff} - ((x >> 23 & 1) << 24); };
    int64_t signed_product = extended(a) * extended(b);
    ASSERT_EQ(mul24_lo(static_cast<int32_t>(a), static_cast<int32_t>(b)),
              static_cast<int32_t>(signed_product));
    ASSERT_EQ(mul24_hi(static_cast<int32_t>(a), static_cast<int32_t>(b)),
              static_cast<int32_t>(signed_product >> 16));
  }
}

TEST(Integer, DivisionByZeroAndOverflow) {
  EXPECT_EQ(div_int(7u, 0u), 0xffffffffu);
  EXPECT_EQ(rem_int(7u, 0u), 0xffffffffu);
  EXPECT_EQ(div_int(-1, 0), -1);
  EXPECT_EQ(rem_int(int64_t{5}, int64_t{0}), -1);
  EXPECT_EQ(div_int(INT32_MIN, -1), INT32_MIN);
  EXPECT_EQ(rem_int(INT32_MIN, -1), 0);
  EXPECT_EQ(div_int(INT64_MIN, int64_t{-1}), INT64_MIN);
  EXPECT_EQ(div_int<int16_t>(INT16_MIN, -1), INT16_MIN);
  EXPECT_EQ(div_int(-7, 2), -3);
  EXPECT_EQ(rem_int(-7, 2), -1);
}

TEST(Integer, ClampBetweenTypes) {
  EXPECT_EQ(clamp_int<uint8_t>(int32_t{-5}), 0);
  EXPECT_EQ(clamp_int<int8_t>(int64_t{-500}), -128);
  EXPECT_EQ(clamp_int<int8_t>(uint64_t{500}), 127);
  EXPECT_EQ(clamp_int<int64_t>(UINT64_MAX), INT64_MAX);
  EXPECT_EQ(clamp_int<uint64_t>(int64_t{-1}), 0u);
  EXPECT_EQ(clamp_int<int32_t>(int64_t{-7}), -7);
}

TEST(Integer, DotProducts) {
  EXPECT_EQ(dp4a(0xff010203u, 0x01010101u, 10, true, true), 10u - 1 + 1 + 2 + 3);
  EXPECT_EQ(dp4a(0xff010203u, 0x01010101u, 10, false, true), 10u + 255 + 1 + 2 + 3);
  EXPECT_EQ(dp4a(0x00000080u, 0x00000080u, 0, true, false), static_cast<uint32_t>(-128 * 128));
  EXPECT_EQ(dp2a(0xffff0002u, 0x04030201u, 1, true, false, false), 1u - 2 + 2);
  EXPECT_EQ(dp2a(0xffff0002u, 0x04030201u, 1, false, false, true), 1u + 65535 * 4 + 6);
}

TEST(Integer, Counting) {
  Words words;
  for (int i = 0; i < kRounds; ++i) {
    uint64_t a = words.next();
    std::bitset<64> bits(a), mirrored;
    for (int bit = 0; bit < 64; ++bit) mirrored[bit] = bits[63 - bit];
    ASSERT_EQ(brev(a), mirrored.to_ullong());
    ASSERT_EQ(brev(static_cast<uint32_t>(a)), mirrored.to_ullong() >> 32);
    ASSERT_EQ(popc(a), bits.count());
    int32_t word = static_cast<int32_t>(a);
    uint32_t position = 0xffffffffu;
    for (uint32_t bit = 0; bit < 32; ++bit)
      if ((static_cast<uint32_t>(word) >> bit & 1) != (word < 0 ? 0 : 1))
        continue;
      else
        position = bit;
    ASSERT_EQ(bfind(word, false), position) << word;
    ASSERT_EQ(bfind(word, true), position == 0xffffffffu ? position : 31 - position);
  }
  EXPECT_EQ(clz(0u), 32u);
  EXPECT_EQ(clz(uint64_t{0}), 64u);
  EXPECT_EQ(bfind(0u, true), 0xffffffffu);
  EXPECT_EQ(bfind(uint64_t{1} << 40, false), 40u);
}

TEST(Integer, FindNthSet) {
  EXPECT_EQ(fns(0xaaaaaaaau, 3, 1), 3u);
  EXPECT_EQ(fns(0xaaaaaaaau, 3, -1), 3u);
  EXPECT_EQ(fns(0xaaaaaaaau, 3, 2), 5u);
  EXPECT_EQ(fns(0xaaaaaaaau, 3, -2), 1u);
  EXPECT_EQ(fns(0xaaaaaaaau, 3, -3), 0xffffffffu);
  EXPECT_EQ(fns(0xaaaaaaaau, 2, 0), 0xffffffffu);
  EXPECT_EQ(fns(0xaaaaaaaau, 1, 0), 1u);
  EXPECT_EQ(fns(0xffffffffu, 32, 1), 0xffffffffu);
  EXPECT_EQ(fns(0xffffffffu, 31, INT32_MIN), 0u);
}

TEST(Integer, Logic) {
  Words words;
  for (int i = 0; i < kRounds; ++i) {
    uint32_t a = words.as<uint32_t>(), b = words.as<uint32_t>(), c = words.as<uint32_t>();
    ASSERT_EQ(lop3(a, b, c, 0xf0), a);
    ASSERT_EQ(lop3(a, b, c, 0xcc), b);
    ASSERT_EQ(lop3(a, b, c, 0xaa), c);
    ASSERT_EQ(lop3(a, b, c, 0x96), a ^ b ^ c);
    ASSERT_EQ(lop3(a, b, c, 0xe8), (a & b) | (b & c) | (a & c));
    ASSERT_EQ(lop3(a, b, c, 0x40), a & b & ~c);
  }
  EXPECT_EQ(cnot(0), 1u);
  EXPECT_EQ(cnot(5), 0u);
}

TEST(Integer, BytePermutation) {
  uint32_t a = 0x83020100u, b = 0x07060584u;
  EXPECT_EQ(prmt(a, b, 0x3210, PrmtMode::kDefault), a);
  EXPECT_EQ(prmt(a, b, 0x7654, PrmtMode::kDefault), b);
  EXPECT_EQ(prmt(a, b, 0xffffc0b4u, PrmtMode::kDefault), 0xff00ff84u);  // signs of bytes 4 and 3
  EXPECT_EQ(prmt(a, b, 1, PrmtMode::kF4e), 0x84830201u);
  EXPECT_EQ(prmt(a, b, 1, PrmtMode::kB4e), 0x06070001u);
  EXPECT_EQ(prmt(a, b, 6, PrmtMode::kRc8), 0x02020202u);  // low bits of the selector
  EXPECT_EQ(prmt(a, b, 1, PrmtMode::kEcl), 0x83020101u);
  EXPECT_EQ(prmt(a, b, 2, PrmtMode::kEcr), 0x02020100u);
  EXPECT_EQ(prmt(a, b, 1, PrmtMode::kRc16), 0x83028302u);
}

}  // namespace
}  // namespace lw::arith
