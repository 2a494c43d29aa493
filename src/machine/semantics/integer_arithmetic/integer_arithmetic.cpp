// PTX: Integer Arithmetic Instructions.

#include "arith/integer.h"
#include "machine/semantics/emit.h"
#include "machine/semantics/integer_arithmetic/hot.h"
#include "machine/semantics/lanes.h"
#include "machine/semantics/types.h"

namespace lw::machine {
namespace {

using once::elementwise;
using ptx::Mod;
using ptx::Type;

// A function template of arith as a function object for `elementwise`.
#define LW_FUNCTION(Name, call)                            \
  struct Name {                                            \
    template <class... Sources>                            \
    LW_ALWAYS_INLINE auto operator()(Sources... a) const { \
      return call;                                         \
    }                                                      \
  };
LW_FUNCTION(MulHi, arith::mul_hi(a...))
LW_FUNCTION(Sad, arith::sad(a...))
LW_FUNCTION(Div, arith::div_int(a...))
LW_FUNCTION(Rem, arith::rem_int(a...))
LW_FUNCTION(Abs, arith::abs_int(a...))
LW_FUNCTION(AddSat, arith::add_sat(a...))
LW_FUNCTION(SubSat, arith::sub_sat(a...))
LW_FUNCTION(MadHiSat, arith::mad_hi_sat(a...))
LW_FUNCTION(Mul24Lo, arith::mul24_lo(a...))
LW_FUNCTION(Mul24Hi, arith::mul24_hi(a...))
LW_FUNCTION(Mad24HiSat, arith::mad24_hi_sat(a...))
LW_FUNCTION(ClmadLo, arith::clmad_lo(a...))
LW_FUNCTION(ClmadHi, arith::clmad_hi(a...))
LW_FUNCTION(Popc, arith::popc(a...))
LW_FUNCTION(Clz, arith::clz(a...))
LW_FUNCTION(Brev, arith::brev(a...))
#undef LW_FUNCTION

// Sums that wrap.
template <class T>
LW_ALWAYS_INLINE T wrapping_add(T a, T b) {
  using Bits = std::make_unsigned_t<T>;
  return static_cast<T>(static_cast<Bits>(static_cast<Bits>(a) + static_cast<Bits>(b)));
}
struct MadHi {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b, T c) const {
    return wrapping_add(arith::mul_hi(a, b), c);
  }
};
struct Mad24Lo {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b, T c) const {
    return wrapping_add(arith::mul24_lo(a, b), c);
  }
};
struct Mad24Hi {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b, T c) const {
    return wrapping_add(arith::mul24_hi(a, b), c);
  }
};
struct Negate {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a) const {
    using Bits = std::make_unsigned_t<T>;
    return static_cast<T>(static_cast<Bits>(Bits{0} - static_cast<Bits>(a)));
  }
};

template <bool want_max>
struct SelectRelu {
  LW_ALWAYS_INLINE int32_t operator()(int32_t a, int32_t b) const {
    int32_t chosen = (a < b) == want_max ? b : a;
    return chosen < 0 ? 0 : chosen;
  }
};

template <class Function>
Handlers unary(Type type) {
  return with_integer(type, [](auto zero) {
    using T = decltype(zero);
    return elementwise<Function, T, T>;
  });
}
template <class Function>
Handlers binary(Type type) {
  return with_integer(type, [](auto zero) {
    using T = decltype(zero);
    return elementwise<Function, T, T, T>;
  });
}
template <class Function>
Handlers ternary(Type type) {
  return with_integer(type, [](auto zero) {
    using T = decltype(zero);
    return elementwise<Function, T, T, T, T>;
  });
}
// 32 bits only, signed or not.
template <class Function>
Handlers words_2(Type type) {
  return is_signed(type) ? elementwise<Function, int32_t, int32_t, int32_t>
                         : elementwise<Function, uint32_t, uint32_t, uint32_t>;
}
template <class Function>
Handlers words_3(Type type) {
  return is_signed(type) ? elementwise<Function, int32_t, int32_t, int32_t, int32_t>
                         : elementwise<Function, uint32_t, uint32_t, uint32_t, uint32_t>;
}
template <class Function>
Handlers count_bits(Type type) {
  return with_bits(type, [](auto zero) { return elementwise<Function, uint32_t, decltype(zero)>; });
}

Type twice(Type type) {
  if (ptx::bits_of(type) == 16) return is_signed(type) ? Type::s32 : Type::u32;
  return is_signed(type) ? Type::s64 : Type::u64;
}

}  // namespace

void bind_add_int(Decoder& decoder) {
  emit_3(decoder, hot_integer(HotInteger::add, decoder.type()));
}
void bind_sub_int(Decoder& decoder) {
  emit_3(decoder, hot_integer(HotInteger::sub, decoder.type()));
}
void bind_min_int(Decoder& decoder) {
  emit_3(decoder, hot_integer(HotInteger::min, decoder.type()));
}
void bind_max_int(Decoder& decoder) {
  emit_3(decoder, hot_integer(HotInteger::max, decoder.type()));
}
void bind_add_sat(Decoder& decoder) {
  emit_3(decoder, elementwise<AddSat, int32_t, int32_t, int32_t>);
}
void bind_sub_sat(Decoder& decoder) {
  emit_3(decoder, elementwise<SubSat, int32_t, int32_t, int32_t>);
}

void bind_mul_int(Decoder& decoder) {
  emit_3(decoder, decoder.has(Mod::lo) ? hot_integer(HotInteger::mul_lo, decoder.type())
                                       : binary<MulHi>(decoder.type()));
}
void bind_mul_wide(Decoder& decoder) {
  Slot d = decoder.result(decoder.operand(0), twice(decoder.type()));
  decoder.emit(hot_integer(HotInteger::mul_wide, decoder.type()), d, decoder.source(1),
               decoder.source(2));
}
void bind_mad_int(Decoder& decoder) {
  emit_4(decoder, decoder.has(Mod::lo) ? hot_integer(HotInteger::mad_lo, decoder.type())
                                       : ternary<MadHi>(decoder.type()));
}
void bind_mad_wide(Decoder& decoder) {
  Type wide = twice(decoder.type());
  decoder.emit(hot_integer(HotInteger::mad_wide, decoder.type()),
               decoder.result(decoder.operand(0), wide), decoder.source(1), decoder.source(2),
               decoder.source(decoder.operand(3), wide));
}
void bind_mad_sat(Decoder& decoder) {
  emit_4(decoder, elementwise<MadHiSat, int32_t, int32_t, int32_t, int32_t>);
}
void bind_clmad(Decoder& decoder) {
  emit_4(decoder, decoder.has(Mod::lo)
                      ? elementwise<ClmadLo, uint64_t, uint64_t, uint64_t, uint64_t>
                      : elementwise<ClmadHi, uint64_t, uint64_t, uint64_t, uint64_t>);
}
void bind_mul24(Decoder& decoder) {
  emit_3(decoder, decoder.has(Mod::lo) ? words_2<Mul24Lo>(decoder.type())
                                       : words_2<Mul24Hi>(decoder.type()));
}
void bind_mad24(Decoder& decoder) {
  emit_4(decoder, decoder.has(Mod::lo) ? words_3<Mad24Lo>(decoder.type())
                                       : words_3<Mad24Hi>(decoder.type()));
}
void bind_mad24_sat(Decoder& decoder) {
  emit_4(decoder, elementwise<Mad24HiSat, int32_t, int32_t, int32_t, int32_t>);
}

void bind_sad(Decoder& decoder) { emit_4(decoder, ternary<Sad>(decoder.type())); }
void bind_div_int(Decoder& decoder) { emit_3(decoder, binary<Div>(decoder.type())); }
void bind_rem(Decoder& decoder) { emit_3(decoder, binary<Rem>(decoder.type())); }
void bind_abs_int(Decoder& decoder) { emit_2(decoder, unary<Abs>(decoder.type())); }
void bind_neg_int(Decoder& decoder) { emit_2(decoder, unary<Negate>(decoder.type())); }

void bind_min_relu(Decoder& decoder) {
  emit_3(decoder, elementwise<SelectRelu<false>, int32_t, int32_t, int32_t>);
}
void bind_max_relu(Decoder& decoder) {
  emit_3(decoder, elementwise<SelectRelu<true>, int32_t, int32_t, int32_t>);
}

void bind_popc(Decoder& decoder) {
  decoder.emit(count_bits<Popc>(decoder.type()), decoder.result(decoder.operand(0), Type::u32),
               decoder.source(1));
}
void bind_clz(Decoder& decoder) {
  decoder.emit(count_bits<Clz>(decoder.type()), decoder.result(decoder.operand(0), Type::u32),
               decoder.source(1));
}
void bind_brev(Decoder& decoder) {
  emit_2(decoder, with_bits(decoder.type(), [](auto zero) {
           using T = decltype(zero);
           return elementwise<Brev, T, T>;
         }));
}

}  // namespace lw::machine
