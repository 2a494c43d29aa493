#pragma once
// Exact numbers for tests: what a floating-point operation would give without rounding, and the
// rounding of it by search among the format's codes. Slow, and shares nothing with the code under
// test but the description of a format.
//
// A finite number is a sign and a 768-bit integer times 2^-448. Quotients and roots, which do not
// end, carry 60 or more correct bits and a last bit that says "and something".

#include <algorithm>
#include <array>
#include <cmath>

#include "arith/formats.h"

namespace lw::arith {

class Big {
 public:
  static constexpr int kWords = 12;
  static constexpr int kLowest = -448;  // exponent of bit 0

  Big() = default;
  // value * 2^exponent
  Big(unsigned __int128 value, int exponent) {
    for (int shift = exponent - kLowest; value != 0; value >>= 1, ++shift) {
      if (shift % 64 == 0 && shift >= 0) {
        words_.at(shift / 64) = static_cast<uint64_t>(value);
        value >>= 63, shift += 63;
      } else if ((value & 1) != 0) {
        words_.at(shift / 64) |= uint64_t{1} << (shift % 64);
      }
    }
  }

  friend auto operator<=>(const Big& a, const Big& b) {
    return std::lexicographical_compare_three_way(a.words_.rbegin(), a.words_.rend(),
                                                  b.words_.rbegin(), b.words_.rend());
  }
  friend bool operator==(const Big&, const Big&) = default;

  friend Big operator+(const Big& a, const Big& b) {
    Big r;
    unsigned __int128 carry = 0;
    for (int i = 0; i < kWords; ++i) {
      carry += static_cast<unsigned __int128>(a.words_[i]) + b.words_[i];
      r.words_[i] = static_cast<uint64_t>(carry);
      carry >>= 64;
    }
    return r;
  }
  // a - b with a >= b
  friend Big operator-(const Big& a, const Big& b) {
    Big r;
    uint64_t borrow = 0;
    for (int i = 0; i < kWords; ++i) {
      unsigned __int128 d = static_cast<unsigned __int128>(a.words_[i]) - b.words_[i] - borrow;
      r.words_[i] = static_cast<uint64_t>(d);
      borrow = static_cast<uint64_t>(d >> 64) & 1;
    }
    return r;
  }

  bool is_zero() const { return *this == Big(); }

  // Exponent of the leading bit of a number but zero.
  int leading() const {
    int word = kWords - 1;
    while (words_[word] == 0) --word;
    return kLowest + word * 64 + 63 - std::countl_zero(words_[word]);
  }

  // Clears what lies below 2^exponent.
  Big cut(int exponent) const {
    Big r = *this;
    for (int i = 0; i < std::min(exponent - kLowest, kWords * 64); ++i)
      r.words_[i / 64] &= ~(uint64_t{1} << (i % 64));
    return r;
  }

 private:
  std::array<uint64_t, kWords> words_{};
};

struct Exact {
  enum class Kind { kFinite, kInfinite, kNan };
  Kind kind = Kind::kFinite;
  bool negative = false;
  Big magnitude;
  // Significand and exponent again, for quotients and roots of what came from an f32.
  uint64_t significand = 0;
  int exponent = 0;

  Exact() = default;
  explicit Exact(float x) : Exact(static_cast<double>(x)) {}
  explicit Exact(double x) : negative(std::signbit(x)) {
    if (std::isnan(x)) kind = Kind::kNan;
    if (std::isinf(x)) kind = Kind::kInfinite;
    if (!std::isfinite(x) || x == 0) return;
    significand = static_cast<uint64_t>(std::ldexp(std::frexp(std::fabs(x), &exponent), 53));
    exponent -= 53;
    int zeros = std::countr_zero(significand);
    significand >>= zeros;
    exponent += zeros;
    magnitude = Big(significand, exponent);
  }

  bool is_zero() const { return kind == Kind::kFinite && magnitude.is_zero(); }
  static Exact nan() {
    Exact r;
    r.kind = Kind::kNan;
    return r;
  }
  static Exact infinity(bool negative) {
    Exact r;
    r.kind = Kind::kInfinite;
    r.negative = negative;
    return r;
  }
  static Exact of(bool negative, Big magnitude) {
    Exact r;
    r.negative = negative;
    r.magnitude = magnitude;
    return r;
  }
};

inline Exact exact_add(const Exact& a, const Exact& b, Rounding rounding) {
  using Kind = Exact::Kind;
  if (a.kind == Kind::kNan || b.kind == Kind::kNan) return Exact::nan();
  if (a.kind == Kind::kInfinite && b.kind == Kind::kInfinite)
    return a.negative == b.negative ? a : Exact::nan();
  if (a.kind == Kind::kInfinite) return a;
  if (b.kind == Kind::kInfinite) return b;
  if (a.negative == b.negative) return Exact::of(a.negative, a.magnitude + b.magnitude);
  if (a.magnitude == b.magnitude) return Exact::of(rounding == Rounding::kDown, Big());
  return a.magnitude > b.magnitude ? Exact::of(a.negative, a.magnitude - b.magnitude)
                                   : Exact::of(b.negative, b.magnitude - a.magnitude);
}

inline Exact exact_mul(const Exact& a, const Exact& b) {
  using Kind = Exact::Kind;
  bool negative = a.negative != b.negative;
  if (a.kind == Kind::kNan || b.kind == Kind::kNan) return Exact::nan();
  if (a.kind == Kind::kInfinite || b.kind == Kind::kInfinite)
    return a.is_zero() || b.is_zero() ? Exact::nan() : Exact::infinity(negative);
  return Exact::of(negative, Big(static_cast<unsigned __int128>(a.significand) * b.significand,
                                 a.exponent + b.exponent));
}

inline Exact exact_div(const Exact& a, const Exact& b) {
  using Kind = Exact::Kind;
  bool negative = a.negative != b.negative;
  if (a.kind == Kind::kNan || b.kind == Kind::kNan) return Exact::nan();
  if (a.kind == Kind::kInfinite)
    return b.kind == Kind::kInfinite ? Exact::nan() : Exact::infinity(negative);
  if (b.kind == Kind::kInfinite) return Exact::of(negative, Big());
  if (b.is_zero()) return a.is_zero() ? Exact::nan() : Exact::infinity(negative);
  unsigned __int128 dividend = static_cast<unsigned __int128>(a.significand) << 90;
  unsigned __int128 quotient = dividend / b.significand;
  bool rest = dividend % b.significand != 0;
  return Exact::of(negative, Big(quotient << 1 | rest, a.exponent - b.exponent - 91));
}

inline Exact exact_sqrt(const Exact& a) {
  if (a.kind == Exact::Kind::kNan || (a.negative && !a.is_zero())) return Exact::nan();
  if (a.kind == Exact::Kind::kInfinite || a.is_zero()) return a;
  int odd = a.exponent & 1;
  unsigned __int128 square = static_cast<unsigned __int128>(a.significand) << (70 + odd);
  unsigned __int128 root = 0;
  for (int i = 63; i >= 0; --i) {
    unsigned __int128 tried = root | static_cast<unsigned __int128>(1) << i;
    if (tried * tried <= square) root = tried;
  }
  bool rest = root * root != square;
  return Exact::of(false, Big(root << 1 | rest, (a.exponent - odd - 70) / 2 - 1));
}

// The magnitude of a code below or at infinity's, infinity itself as the power of two that it
// stands for. code: without sign.
inline Big magnitude_of_code(const Format& format, uint64_t code) {
  uint64_t field = code >> format.fraction_bits;
  uint64_t fraction = code & ((uint64_t{1} << format.fraction_bits) - 1);
  if (field != 0) fraction |= uint64_t{1} << format.fraction_bits;
  int exponent =
      static_cast<int>(std::max<uint64_t>(field, 1)) - format.bias - format.fraction_bits;
  return Big(fraction, exponent);
}

// The largest code that is at most the number: bisection among the codes of its binade.
inline uint64_t code_below(const Format& format, uint64_t infinity, const Big& x) {
  if (x.is_zero()) return 0;
  int binade = std::max(x.leading(), 1 - format.bias);
  if (binade > format.bias) return infinity - 1;
  bool normal = x.leading() == binade;
  uint64_t low = normal ? static_cast<uint64_t>(binade + format.bias) << format.fraction_bits : 0;
  for (uint64_t high = low + (uint64_t{1} << format.fraction_bits); low + 1 < high;) {
    uint64_t middle = (low + high) / 2;
    (magnitude_of_code(format, middle) <= x ? low : high) = middle;
  }
  return low;
}

// Rounds to a format with infinities by the codes below and above the number. Returns the code with
// its sign; `nan` for NaN.
inline uint64_t round_exact_to(const Format& format, const Exact& x, Rounding rounding,
                               uint64_t nan) {
  uint64_t infinity = ((uint64_t{1} << format.exponent_bits) - 1) << format.fraction_bits;
  uint64_t sign = uint64_t{x.negative} << (format.exponent_bits + format.fraction_bits);
  if (x.kind == Exact::Kind::kNan) return nan;
  if (x.kind == Exact::Kind::kInfinite) return sign | infinity;
  uint64_t low = code_below(format, infinity, x.magnitude);
  Big below = magnitude_of_code(format, low);
  if (below == x.magnitude) return sign | low;
  Big twice = x.magnitude + x.magnitude;
  Big sum = below + magnitude_of_code(format, low + 1);
  bool away = false;
  if (rounding == Rounding::kNearestEven) away = twice > sum || (twice == sum && (low & 1) != 0);
  if (rounding == Rounding::kNearestAway) away = twice >= sum;
  if (rounding == Rounding::kDown) away = x.negative;
  if (rounding == Rounding::kUp) away = !x.negative;
  return sign | (low + (away ? 1 : 0));
}

// Whether a number is below a format's normal ones once rounded to its precision with a wider
// exponent.
inline bool is_tiny(const Format& format, const Exact& x, Rounding rounding) {
  if (x.kind != Exact::Kind::kFinite) return false;
  Format wide = format;
  wide.exponent_bits += 1;
  wide.bias = (1 << (wide.exponent_bits - 1)) - 1;
  uint64_t code = round_exact_to(wide, x, rounding, 0);
  code &= (uint64_t{1} << (wide.exponent_bits + wide.fraction_bits)) - 1;
  return magnitude_of_code(wide, code) < Big(1, 1 - format.bias);
}

// To f32, flushing if asked.
inline float round_exact(const Exact& x, Rounding rounding, bool ftz) {
  if (ftz && is_tiny(kF32, x, rounding)) return x.negative ? -0.0f : 0.0f;
  return f32_of(static_cast<uint32_t>(round_exact_to(kF32, x, rounding, kNanF32)));
}

}  // namespace lw::arith
