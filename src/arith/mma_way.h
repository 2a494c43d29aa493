#pragma once
// Which of three ways a tile of mma.sync goes (mma.simd.cpp): by the largest and the smallest
// magnitude in its registers. Only for *.simd.cpp files.

#include "arith/mma_rules.h"
#include "arith/simd_vector.h"

namespace lw::arith::LW_SIMD_NAMESPACE {

using Registers = const void* const*;

enum class Way {
  kNarrow,   // exponents are moderate
  kWide,     // any finite operands
  kSpecial,  // a NaN or an infinity somewhere
};

LW_INLINE I load_lanes(Registers registers, int r, int lane) {
  return load(static_cast<const int32_t*>(registers[r]) + lane);
}

// The codes of a type without their sign: vectors of them, the first NaN or infinity, and the
// bounds between which it is narrow.
struct F16Codes {
  using Lanes = Shorts;
  using Lane = uint16_t;
  static constexpr Lane kMagnitude = 0x7fff;
  static constexpr Lane kSpecial = 0x7c00;
};
struct Bf16Codes {
  using Lanes = Shorts;
  using Lane = uint16_t;
  static constexpr Lane kMagnitude = 0x7fff;
  static constexpr Lane kSpecial = 0x7f80;
  static constexpr Lane kFirst = (127 - 32) << 7;
  static constexpr Lane kEnd = (127 + 32) << 7;
};
struct Tf32Codes {
  using Lanes = U;
  using Lane = uint32_t;
  static constexpr Lane kMagnitude = 0x7fffe000;
  static constexpr Lane kSpecial = 0x7f800000;
  static constexpr Lane kFirst = (127u - 32) << 23;
  static constexpr Lane kEnd = (127u + 32) << 23;
};
struct F32Codes {  // of an accumulator
  using Lanes = U;
  using Lane = uint32_t;
  static constexpr Lane kMagnitude = 0x7fffffff;
  static constexpr Lane kSpecial = 0x7f800000;
};
struct E5m2Codes {
  using Lanes = Bytes;
  using Lane = uint8_t;
  static constexpr Lane kMagnitude = 0x7f;
  static constexpr Lane kSpecial = 0x7c;
};
struct E4m3Codes {
  using Lanes = Bytes;
  using Lane = uint8_t;
  static constexpr Lane kMagnitude = 0x7f;
  static constexpr Lane kSpecial = 0x7f;
};

template <MmaType kType>
constexpr auto codes_of() {
  if constexpr (kType == MmaType::kF16) return F16Codes{};
  if constexpr (kType == MmaType::kBf16) return Bf16Codes{};
  if constexpr (kType == MmaType::kTf32) return Tf32Codes{};
  if constexpr (kType == MmaType::kF32) return F32Codes{};
  if constexpr (kType == MmaType::kE5m2) return E5m2Codes{};
  if constexpr (kType == MmaType::kE4m3) return E4m3Codes{};
}

template <class Mask>
LW_INLINE bool any(Mask mask) {
  uint64_t words[sizeof(Mask) / 8];
  std::memcpy(words, &mask, sizeof mask);
  uint64_t all = 0;
  for (uint64_t word : words) all |= word;
  return all != 0;
}

template <MmaType kType>
LW_INLINE Way way_of(Registers registers, int count) {
  using Codes = decltype(codes_of<kType>());
  using Lanes = typename Codes::Lanes;
  constexpr bool kHasBounds = requires { Codes::kFirst; };
  Lanes largest{};
  Lanes smallest = ~largest;  // of the codes less 1, so that zero is the top
  for (int r = 0; r < count; ++r)
    for (int lane = 0; lane < 32; lane += kWidth) {
      Lanes code = reinterpret_cast<Lanes>(load_lanes(registers, r, lane)) & Codes::kMagnitude;
      largest = code > largest ? code : largest;
      if constexpr (kHasBounds) {
        Lanes less_one = code - static_cast<typename Codes::Lane>(1);
        smallest = less_one < smallest ? less_one : smallest;
      }
    }
  if (any(largest >= Codes::kSpecial)) return Way::kSpecial;
  if constexpr (kHasBounds)
    if (any((largest >= Codes::kEnd) |
            (smallest < static_cast<typename Codes::Lane>(Codes::kFirst - 1))))
      return Way::kWide;
  return Way::kNarrow;
}

}  // namespace lw::arith::LW_SIMD_NAMESPACE
