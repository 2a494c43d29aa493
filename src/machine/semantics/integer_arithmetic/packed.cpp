// PTX: Integer Arithmetic Instructions on words of two halves or four bytes, and `.sat` of add and
// sub. Elements do not touch each other: each is computed as an int, then wraps or is clamped to
// its type. Tested in packed_test.cpp.

#include <algorithm>
#include <limits>

#include "machine/semantics/emit.h"
#include "machine/semantics/lanes.h"
#include "machine/semantics/types.h"

namespace lw::machine {
namespace {

using once::elementwise;
using ptx::Mod;
using ptx::Type;

struct Add {
  constexpr int64_t operator()(int64_t a, int64_t b) const { return a + b; }
};
struct Sub {
  constexpr int64_t operator()(int64_t a, int64_t b) const { return a - b; }
};
struct Min {
  constexpr int64_t operator()(int64_t a, int64_t b) const { return std::min(a, b); }
};
struct Max {
  constexpr int64_t operator()(int64_t a, int64_t b) const { return std::max(a, b); }
};
struct Negate {
  constexpr int64_t operator()(int64_t a) const { return -a; }
};

enum class Finish : uint8_t { wrap, saturate, relu };

template <class Element, Finish finish>
LW_ALWAYS_INLINE Element finished(int64_t value) {
  using Limits = std::numeric_limits<Element>;
  if constexpr (finish == Finish::saturate)
    value = std::clamp<int64_t>(value, Limits::min(), Limits::max());
  if constexpr (finish == Finish::relu) value = std::max<int64_t>(value, 0);
  return static_cast<Element>(value);
}

// `Function` of each element of the words.
template <class Element, class Function, Finish finish>
struct Each {
  template <class... Words>
  LW_ALWAYS_INLINE uint32_t operator()(Words... words) const {
    constexpr int kBits = static_cast<int>(sizeof(Element)) * 8;
    uint32_t result = 0;
    for (int at = 0; at < 32; at += kBits) {
      const auto element =
          finished<Element, finish>(Function()(static_cast<Element>(words >> at)...));
      result |= uint32_t{static_cast<std::make_unsigned_t<Element>>(element)} << at;
    }
    return result;
  }
};

template <class Function, Finish finish, class... Words>
Handlers each_element(Type type) {
  switch (type) {
    case Type::u8x4:
      return elementwise<Each<uint8_t, Function, finish>, uint32_t, Words...>;
    case Type::s8x4:
      return elementwise<Each<int8_t, Function, finish>, uint32_t, Words...>;
    case Type::u16x2:
      return elementwise<Each<uint16_t, Function, finish>, uint32_t, Words...>;
    case Type::s16x2:
      return elementwise<Each<int16_t, Function, finish>, uint32_t, Words...>;
    default:  // .u32
      return elementwise<Each<uint32_t, Function, finish>, uint32_t, Words...>;
  }
}

template <class Function, Finish finish>
void emit(Decoder& decoder) {
  emit_3(decoder, each_element<Function, finish, uint32_t, uint32_t>(decoder.type()));
}

template <class Function>
void bind_sum(Decoder& decoder) {
  return decoder.has(Mod::sat) ? emit<Function, Finish::saturate>(decoder)
                               : emit<Function, Finish::wrap>(decoder);
}
template <class Function>
void bind_choice(Decoder& decoder) {
  return decoder.has(Mod::relu) ? emit<Function, Finish::relu>(decoder)
                                : emit<Function, Finish::wrap>(decoder);
}

}  // namespace

void bind_add_packed_int(Decoder& decoder) { bind_sum<Add>(decoder); }
void bind_add_sat_packed(Decoder& decoder) { bind_sum<Add>(decoder); }
void bind_add_u8x4(Decoder& decoder) { bind_sum<Add>(decoder); }
void bind_sub_packed_int(Decoder& decoder) { bind_sum<Sub>(decoder); }
void bind_sub_sat_packed(Decoder& decoder) { bind_sum<Sub>(decoder); }
void bind_sub_u8x4(Decoder& decoder) { bind_sum<Sub>(decoder); }
void bind_neg_packed_int(Decoder& decoder) {
  emit_2(decoder, each_element<Negate, Finish::wrap, uint32_t>(decoder.type()));
}

void bind_min_packed_int(Decoder& decoder) { bind_choice<Min>(decoder); }
void bind_min_relu_s16x2(Decoder& decoder) { bind_choice<Min>(decoder); }
void bind_min_u8x4(Decoder& decoder) { bind_choice<Min>(decoder); }
void bind_min_s8x4(Decoder& decoder) { bind_choice<Min>(decoder); }
void bind_max_packed_int(Decoder& decoder) { bind_choice<Max>(decoder); }
void bind_max_relu_s16x2(Decoder& decoder) { bind_choice<Max>(decoder); }
void bind_max_u8x4(Decoder& decoder) { bind_choice<Max>(decoder); }
void bind_max_s8x4(Decoder& decoder) { bind_choice<Max>(decoder); }

}  // namespace lw::machine
