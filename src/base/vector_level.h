#pragma once
// Which of the three builds of a *.simd.cpp file this machine runs: x86-64-v2, v3 (AVX2) or v4
// (AVX-512).

#include <cstdint>

namespace lw::base {

enum class VectorLevel : uint8_t { kV2, kV3, kV4 };

VectorLevel vector_level();

template <class Function>
Function* choose_level(Function* v2, Function* v3, Function* v4) {
  switch (vector_level()) {
    case VectorLevel::kV4:
      return v4;
    case VectorLevel::kV3:
      return v3;
    default:
      return v2;
  }
}

}  // namespace lw::base
