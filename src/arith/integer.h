#pragma once
// Integer and bit instructions with the corner cases of PTX: shifts that are not masked, division
// by zero, field extraction beyond the register, byte permutation.
//
// Everything is inline and branch-light, for lane loops. Names are the manual's; where two types
// share a name, the template parameter is the PTX type (uint32_t for .u32, int64_t for .s64). PTX
// ISA "Integer Arithmetic Instructions", "Logic and Shift Instructions"; corners by the H200
// (division, shifts, bfe, bfi, prmt). Tested in integer_test.cpp against bit-by-bit formulations.

#include <limits>
#include <type_traits>

#include "arith/bits.h"

namespace lw::arith {

template <class Int>
inline constexpr int kBits = static_cast<int>(sizeof(Int)) * 8;

// Twice as wide, same sign.
template <class Int>
using Wide = std::conditional_t<
    sizeof(Int) == 2, std::conditional_t<std::is_signed_v<Int>, int32_t, uint32_t>,
    std::conditional_t<sizeof(Int) == 4,
                       std::conditional_t<std::is_signed_v<Int>, int64_t, uint64_t>,
                       std::conditional_t<std::is_signed_v<Int>, __int128, unsigned __int128>>>;

// --- add, mul, mad, sad ---

// add.sat.s32, sub.sat.s32
LW_INLINE constexpr int32_t clamp_s32(int64_t x) {
  return static_cast<int32_t>(x > INT32_MAX ? INT32_MAX : x < INT32_MIN ? INT32_MIN : x);
}
LW_INLINE constexpr int32_t add_sat(int32_t a, int32_t b) { return clamp_s32(int64_t{a} + b); }
LW_INLINE constexpr int32_t sub_sat(int32_t a, int32_t b) { return clamp_s32(int64_t{a} - b); }

template <class Int>
LW_INLINE constexpr Wide<Int> mul_wide(Int a, Int b) {
  return static_cast<Wide<Int>>(a) * static_cast<Wide<Int>>(b);
}
template <class Int>
LW_INLINE constexpr Int mul_lo(Int a, Int b) {
  using Bits = std::make_unsigned_t<Int>;
  return static_cast<Int>(uint64_t{static_cast<Bits>(a)} * uint64_t{static_cast<Bits>(b)});
}
template <class Int>
LW_INLINE constexpr Int mul_hi(Int a, Int b) {
  return static_cast<Int>(mul_wide(a, b) >> kBits<Int>);
}
// mad.hi.sat.s32: the high half of the product plus c, clamped.
LW_INLINE constexpr int32_t mad_hi_sat(int32_t a, int32_t b, int32_t c) {
  return clamp_s32(int64_t{mul_hi(a, b)} + c);
}

// mul24, mad24: the operands' low 24 bits; .lo the low 32 bits of the 48-bit product, .hi bits
// 47-16.
LW_INLINE constexpr int64_t low24(int32_t x) {
  return static_cast<int32_t>(static_cast<uint32_t>(x) << 8) >> 8;
}
LW_INLINE constexpr uint64_t low24(uint32_t x) { return x & 0xffffffu; }
template <class Int>
LW_INLINE constexpr Int mul24_lo(Int a, Int b) {
  return static_cast<Int>(low24(a) * low24(b));
}
template <class Int>
LW_INLINE constexpr Int mul24_hi(Int a, Int b) {
  return static_cast<Int>((low24(a) * low24(b)) >> 16);
}
LW_INLINE constexpr int32_t mad24_hi_sat(int32_t a, int32_t b, int32_t c) {
  return clamp_s32(int64_t{mul24_hi(a, b)} + c);
}

// clmad: the product of polynomials over GF(2), its low or high half, plus (that is, xor) c.
LW_INLINE constexpr unsigned __int128 carryless_product(uint64_t a, uint64_t b) {
  unsigned __int128 product = 0;
  for (int bit = 0; bit < 64; ++bit)
    product ^=
        (static_cast<unsigned __int128>(a) << bit) & -static_cast<unsigned __int128>(b >> bit & 1);
  return product;
}
LW_INLINE constexpr uint64_t clmad_lo(uint64_t a, uint64_t b, uint64_t c) {
  return static_cast<uint64_t>(carryless_product(a, b)) ^ c;
}
LW_INLINE constexpr uint64_t clmad_hi(uint64_t a, uint64_t b, uint64_t c) {
  return static_cast<uint64_t>(carryless_product(a, b) >> 64) ^ c;
}

// sad: c + |a - b|, wrapping.
template <class Int>
LW_INLINE constexpr Int sad(Int a, Int b, Int c) {
  using Bits = std::make_unsigned_t<Int>;
  Bits difference = a < b ? static_cast<Bits>(b) - static_cast<Bits>(a)
                          : static_cast<Bits>(a) - static_cast<Bits>(b);
  return static_cast<Int>(static_cast<Bits>(static_cast<Bits>(c) + difference));
}

template <class Int>
LW_INLINE constexpr Int abs_int(Int a) {
  using Bits = std::make_unsigned_t<Int>;
  return static_cast<Int>(a < 0 ? static_cast<Bits>(Bits{0} - static_cast<Bits>(a))
                                : static_cast<Bits>(a));
}

// div, rem: by zero both are all ones; smallest / -1 is the dividend, remainder 0. [H200]
template <class Int>
LW_INLINE constexpr Int div_int(Int a, Int b) {
  if (b == 0) return static_cast<Int>(-1);
  if constexpr (std::is_signed_v<Int>) {
    if (b == -1)
      return static_cast<Int>(std::make_unsigned_t<Int>(0) - std::make_unsigned_t<Int>(a));
  }
  return static_cast<Int>(a / b);
}
template <class Int>
LW_INLINE constexpr Int rem_int(Int a, Int b) {
  if (b == 0) return static_cast<Int>(-1);
  if constexpr (std::is_signed_v<Int>) {
    if (b == -1) return 0;
  }
  return static_cast<Int>(a % b);
}

// cvt.sat between integer types: clamp to the destination.
template <class To, class From>
LW_INLINE constexpr To clamp_int(From x) {
  using Limits = std::numeric_limits<To>;
  if (std::is_signed_v<From> && x < 0) {
    if constexpr (!std::is_signed_v<To>) return 0;
    return static_cast<int64_t>(x) < static_cast<int64_t>(Limits::min()) ? Limits::min()
                                                                         : static_cast<To>(x);
  }
  return static_cast<uint64_t>(x) > static_cast<uint64_t>(Limits::max()) ? Limits::max()
                                                                         : static_cast<To>(x);
}

// --- dot products ---

// Byte i of a register, read as .s32 or .u32 operand type says.
LW_INLINE constexpr int32_t byte_of(uint32_t x, int i, bool is_signed) {
  uint32_t byte = (x >> (8 * i)) & 0xff;
  return is_signed ? static_cast<int8_t>(byte) : static_cast<int32_t>(byte);
}
LW_INLINE constexpr int32_t short_of(uint32_t x, int i, bool is_signed) {
  uint32_t part = (x >> (16 * i)) & 0xffff;
  return is_signed ? static_cast<int16_t>(part) : static_cast<int32_t>(part);
}
// dp4a.atype.btype d, a, b, c: wraps modulo 2^32.
LW_INLINE constexpr uint32_t dp4a(uint32_t a, uint32_t b, uint32_t c, bool a_signed,
                                  bool b_signed) {
  for (int i = 0; i < 4; ++i)
    c += static_cast<uint32_t>(byte_of(a, i, a_signed) * byte_of(b, i, b_signed));
  return c;
}
// dp2a: the shorts of a with bytes 0, 1 of b (.lo) or 2, 3 (.hi).
LW_INLINE constexpr uint32_t dp2a(uint32_t a, uint32_t b, uint32_t c, bool a_signed, bool b_signed,
                                  bool high) {
  for (int i = 0; i < 2; ++i)
    c += static_cast<uint32_t>(short_of(a, i, a_signed) * byte_of(b, i + (high ? 2 : 0), b_signed));
  return c;
}

// --- shifts ---

// shl, shr: the count is not masked; at the width and beyond, 0 or copies of the sign.
template <class Int>
LW_INLINE constexpr Int shl(Int a, uint32_t count) {
  using Bits = std::make_unsigned_t<Int>;
  constexpr uint32_t kLast = kBits<Int> - 1;
  Bits shifted = static_cast<Bits>(uint64_t{static_cast<Bits>(a)} << (count & 63));
  return static_cast<Int>(count > kLast ? Bits{0} : shifted);
}
template <class Int>
LW_INLINE constexpr Int shr(Int a, uint32_t count) {
  constexpr uint32_t kLast = kBits<Int> - 1;
  if constexpr (std::is_signed_v<Int>)
    return static_cast<Int>(a >> (count > kLast ? kLast : count));
  else
    return count > kLast ? Int{0} : static_cast<Int>(a >> (count & kLast));
}

// shf.{l,r}.{clamp,wrap}.b32 d, a, b, c: the pair b:a, its high word (l) or low word (r).
LW_INLINE constexpr uint32_t shf_l(uint32_t a, uint32_t b, uint32_t count, bool wrap) {
  uint32_t n = wrap ? count & 31 : (count < 32 ? count : 32);
  uint64_t pair = uint64_t{b} << 32 | a;
  return static_cast<uint32_t>((pair << n) >> 32);
}
LW_INLINE constexpr uint32_t shf_r(uint32_t a, uint32_t b, uint32_t count, bool wrap) {
  uint32_t n = wrap ? count & 31 : (count < 32 ? count : 32);
  uint64_t pair = uint64_t{b} << 32 | a;
  return static_cast<uint32_t>(pair >> n);
}

// --- bit fields ---

// bfe: `length` bits from `position` (low eight bits of both count), sign-filled for signed types.
template <class Int>
LW_INLINE constexpr Int bfe(Int a, uint32_t position, uint32_t length) {
  using Bits = std::make_unsigned_t<Int>;
  constexpr uint32_t kWidth = kBits<Int>;
  uint32_t p = position & 0xff;
  uint32_t n = length & 0xff;
  if (n == 0) return 0;
  uint32_t last = p + n - 1 < kWidth - 1 ? p + n - 1 : kWidth - 1;
  Bits sign = std::is_signed_v<Int> ? (static_cast<Bits>(a) >> last) & 1 : 0;
  Bits fill = static_cast<Bits>(Bits{0} - sign);
  if (p >= kWidth) return static_cast<Int>(fill);
  Bits mask = static_cast<Bits>((Bits{2} << (last - p)) - 1);
  return static_cast<Int>(((static_cast<Bits>(a) >> p) & mask) | (fill & ~mask));
}

// bfi d, a, b, position, length: the low bits of a into b; nothing beyond the register.
template <class Bits>
LW_INLINE constexpr Bits bfi(Bits a, Bits b, uint32_t position, uint32_t length) {
  constexpr uint32_t kWidth = kBits<Bits>;
  uint32_t p = position & 0xff;
  uint32_t n = length & 0xff;
  if (n == 0 || p >= kWidth) return b;
  Bits ones = n >= kWidth ? static_cast<Bits>(-1) : static_cast<Bits>((Bits{1} << n) - 1);
  Bits mask = static_cast<Bits>(ones << p);
  return static_cast<Bits>((b & ~mask) | ((a << p) & mask));
}

// bmsk{.clamp,.wrap}.b32 d, position, length: a mask of `length` ones from `position`.
LW_INLINE constexpr uint32_t bmsk(uint32_t position, uint32_t length, bool wrap) {
  uint32_t p = wrap ? position & 31 : (position < 32 ? position : 32);
  uint32_t n = wrap ? length & 31 : (length < 32 ? length : 32);
  return static_cast<uint32_t>(((uint64_t{1} << n) - 1) << p);
}

// szext{.clamp,.wrap}.{u32,s32} d, a, n: extend from the low n bits; n = 0 gives 0.
template <class Int>
LW_INLINE constexpr Int szext(Int a, uint32_t length, bool wrap) {
  uint32_t n = wrap ? length & 31 : (length < 32 ? length : 32);
  if (n == 0) return 0;
  return static_cast<Int>(static_cast<Int>(static_cast<uint32_t>(a) << (32 - n)) >> (32 - n));
}

// --- counting and searching ---

LW_INLINE constexpr uint32_t popc(uint64_t a) { return static_cast<uint32_t>(std::popcount(a)); }
template <class Bits>
LW_INLINE constexpr uint32_t clz(Bits a) {
  return static_cast<uint32_t>(std::countl_zero(a));
}
template <class Bits>
LW_INLINE constexpr Bits brev(Bits a) {
  uint64_t x = a;
  x = ((x >> 1) & 0x5555555555555555u) | ((x & 0x5555555555555555u) << 1);
  x = ((x >> 2) & 0x3333333333333333u) | ((x & 0x3333333333333333u) << 2);
  x = ((x >> 4) & 0x0f0f0f0f0f0f0f0fu) | ((x & 0x0f0f0f0f0f0f0f0fu) << 4);
  return static_cast<Bits>(__builtin_bswap64(x) >> (64 - kBits<Bits>));
}

// bfind: position of the highest bit that differs from the sign, ffffffff if none; shiftamt: how
// far to shift it left to the top (ffffffff stays).
template <class Int>
LW_INLINE constexpr uint32_t bfind(Int a, bool shiftamt) {
  using Bits = std::make_unsigned_t<Int>;
  Bits x =
      static_cast<Bits>(a < 0 ? static_cast<Bits>(~static_cast<Bits>(a)) : static_cast<Bits>(a));
  if (x == 0) return 0xffffffffu;
  uint32_t leading = clz(x);
  return shiftamt ? leading : kBits<Int> - 1 - leading;
}

// fns.b32 d, mask, base, offset: the offset-th set bit counted from base (up for positive, down for
// negative, base itself for 0); ffffffff if there is none.
LW_INLINE constexpr uint32_t fns(uint32_t mask, uint32_t base, int32_t offset) {
  if (offset == INT32_MIN) return 0;  // [H200]
  int step = offset < 0 ? -1 : 1;
  int64_t wanted = offset == 0 ? 1 : offset < 0 ? -int64_t{offset} : offset;
  if (base > 31 || (offset == 0 && ((mask >> base) & 1) == 0)) return 0xffffffffu;
  for (int i = static_cast<int>(base); i >= 0 && i < 32; i += step)
    if (((mask >> i) & 1) != 0 && --wanted == 0) return static_cast<uint32_t>(i);
  return 0xffffffffu;
}

// --- logic ---

// lop3.b32: bit of the result = bit (a << 2 | b << 1 | c) of the table.
LW_INLINE constexpr uint32_t lop3(uint32_t a, uint32_t b, uint32_t c, uint8_t table) {
  uint32_t r = 0;
  for (int i = 0; i < 8; ++i)
    if ((table >> i) & 1) r |= (i & 4 ? a : ~a) & (i & 2 ? b : ~b) & (i & 1 ? c : ~c);
  return r;
}
LW_INLINE constexpr uint32_t cnot(uint32_t a) { return a == 0 ? 1 : 0; }

// prmt: bytes 0-3 of a and 4-7 of b.
enum class PrmtMode : uint8_t { kDefault, kF4e, kB4e, kRc8, kEcl, kEcr, kRc16 };

// Selector nibbles of the special modes, by the low two bits of c (PTX ISA "prmt").
LW_INLINE constexpr uint32_t prmt_selector(uint32_t c, PrmtMode mode) {
  constexpr uint16_t kSelectors[6][4] = {
      {0x3210, 0x4321, 0x5432, 0x6543},  // f4e
      {0x5670, 0x6701, 0x7012, 0x0123},  // b4e
      {0x0000, 0x1111, 0x2222, 0x3333},  // rc8
      {0x3210, 0x3211, 0x3222, 0x3333},  // ecl
      {0x0000, 0x1110, 0x2210, 0x3210},  // ecr
      {0x1010, 0x3232, 0x1010, 0x3232},  // rc16
  };
  if (mode == PrmtMode::kDefault) return c & 0xffff;
  return kSelectors[static_cast<int>(mode) - 1][c & 3];
}
LW_INLINE constexpr uint32_t prmt(uint32_t a, uint32_t b, uint32_t c, PrmtMode mode) {
  uint64_t pair = uint64_t{b} << 32 | a;
  uint32_t selector = prmt_selector(c, mode);
  uint32_t r = 0;
  for (int i = 0; i < 4; ++i) {
    uint32_t nibble = (selector >> (4 * i)) & 15;
    uint32_t byte = static_cast<uint32_t>(pair >> (8 * (nibble & 7))) & 0xff;
    uint32_t spread = (byte & 0x80) != 0 ? 0xff : 0;
    r |= ((nibble & 8) != 0 ? spread : byte) << (8 * i);
  }
  return r;
}

}  // namespace lw::arith
