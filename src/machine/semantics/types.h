#pragma once
// From PTX types to C++ ones: `with_integer(type, [](auto zero) { using Int = decltype(zero); ...
// })`.

#include <cstdint>

#include "base/check.h"
#include "ptx/tokens.h"

namespace lw::machine {

inline bool is_signed(ptx::Type type) { return ptx::kind_of(type) == ptx::TypeKind::signed_int; }

// uint16_t ... int64_t; bit types are unsigned, eight bits stand for sixteen.
template <class Visit>
auto with_integer(ptx::Type type, Visit visit) {
  bool negative = is_signed(type);
  switch (ptx::bits_of(type)) {
    case 8:
    case 16:
      return negative ? visit(int16_t{}) : visit(uint16_t{});
    case 32:
      return negative ? visit(int32_t{}) : visit(uint32_t{});
    default:
      return negative ? visit(int64_t{}) : visit(uint64_t{});
  }
}

// uint16_t, uint32_t or uint64_t, by width only.
template <class Visit>
auto with_bits(ptx::Type type, Visit visit) {
  switch (ptx::bits_of(type)) {
    case 8:
    case 16:
      return visit(uint16_t{});
    case 32:
      return visit(uint32_t{});
    default:
      return visit(uint64_t{});
  }
}

}  // namespace lw::machine
