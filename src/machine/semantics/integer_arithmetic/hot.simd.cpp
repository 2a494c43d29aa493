#include "machine/semantics/integer_arithmetic/hot.h"

#include "arith/integer.h"
#include "machine/semantics/lanes.h"
#include "machine/semantics/types.h"

namespace lw::machine::LW_SIMD_NAMESPACE {
namespace {

struct Add {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b) const {
    return static_cast<T>(a + b);
  }
};
struct Sub {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b) const {
    return static_cast<T>(a - b);
  }
};
struct MulLo {
  LW_ALWAYS_INLINE uint16_t operator()(uint16_t a, uint16_t b) const {
    return static_cast<uint16_t>(uint32_t{a} * b);
  }
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b) const {
    return a * b;
  }
};
struct MulWide {
  template <class T>
  LW_ALWAYS_INLINE arith::Wide<T> operator()(T a, T b) const {
    return arith::mul_wide(a, b);
  }
};
struct MadLo {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b, T c) const {
    return static_cast<T>(MulLo()(a, b) + c);
  }
};
struct MadWide {
  template <class T>
  LW_ALWAYS_INLINE arith::Wide<T> operator()(T a, T b, arith::Wide<T> c) const {
    using Bits = std::make_unsigned_t<arith::Wide<T>>;
    return static_cast<arith::Wide<T>>(static_cast<Bits>(arith::mul_wide(a, b)) +
                                       static_cast<Bits>(c));
  }
};
struct Min {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b) const {
    return a < b ? a : b;
  }
};
struct Max {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};
struct And {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b) const {
    return a & b;
  }
};
struct Or {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b) const {
    return a | b;
  }
};
struct Xor {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, T b) const {
    return a ^ b;
  }
};
struct Not {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a) const {
    return static_cast<T>(~a);
  }
};
struct Shl {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, uint32_t count) const {
    return arith::shl(a, count);
  }
};
struct Shr {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a, uint32_t count) const {
    return arith::shr(a, count);
  }
};
struct Move {
  template <class T>
  LW_ALWAYS_INLINE T operator()(T a) const {
    return a;
  }
};

template <Mode mode, class T>
void select(const Op* op, std::byte* registers, Warp& warp) {
  Storage<T>* d = lanes_at<T>(registers, op->d);
  const Storage<T>* a = lanes_at<T>(registers, op->a);
  const Storage<T>* b = lanes_at<T>(registers, op->b);
  LaneMask first = warp.predicate(op->c);
  write_lanes<mode, T>(d, warp.active, [&](int lane) LW_LAMBDA_INLINE {
    return static_cast<T>(has<Storage<T>>(first, lane) ? a[lane] : b[lane]);
  });
  return next<mode>(op, registers, warp);
}

// By width: the sign does not matter.
template <class Function>
Handlers unary(ptx::Type type) {
  return with_bits(type, [](auto zero) {
    using T = decltype(zero);
    return elementwise<Function, T, T>;
  });
}
template <class Function>
Handlers binary(ptx::Type type) {
  return with_bits(type, [](auto zero) {
    using T = decltype(zero);
    return elementwise<Function, T, T, T>;
  });
}
template <class Function>
Handlers signed_binary(ptx::Type type) {
  return with_integer(type, [](auto zero) {
    using T = decltype(zero);
    return elementwise<Function, T, T, T>;
  });
}
template <class Function>
Handlers shift(ptx::Type type) {
  return with_integer(type, [](auto zero) {
    using T = decltype(zero);
    return elementwise<Function, T, T, uint32_t>;
  });
}

template <class Visit>
Handlers with_narrow(ptx::Type type, Visit visit) {
  if (ptx::bits_of(type) == 16) return is_signed(type) ? visit(int16_t{}) : visit(uint16_t{});
  return is_signed(type) ? visit(int32_t{}) : visit(uint32_t{});
}

}  // namespace

Handlers hot_integer(HotInteger what, ptx::Type type) {
  switch (what) {
    case HotInteger::add:
      return binary<Add>(type);
    case HotInteger::sub:
      return binary<Sub>(type);
    case HotInteger::mul_lo:
      return binary<MulLo>(type);
    case HotInteger::mul_wide:
      return with_narrow(type, [](auto zero) {
        using T = decltype(zero);
        return elementwise<MulWide, arith::Wide<T>, T, T>;
      });
    case HotInteger::mad_lo:
      return with_bits(type, [](auto zero) {
        using T = decltype(zero);
        return elementwise<MadLo, T, T, T, T>;
      });
    case HotInteger::mad_wide:
      return with_narrow(type, [](auto zero) {
        using T = decltype(zero);
        return elementwise<MadWide, arith::Wide<T>, T, T, arith::Wide<T>>;
      });
    case HotInteger::min:
      return signed_binary<Min>(type);
    case HotInteger::max:
      return signed_binary<Max>(type);
    case HotInteger::bit_and:
      return binary<And>(type);
    case HotInteger::bit_or:
      return binary<Or>(type);
    case HotInteger::bit_xor:
      return binary<Xor>(type);
    case HotInteger::bit_not:
      return unary<Not>(type);
    case HotInteger::shl:
      return shift<Shl>(type);
    case HotInteger::shr:
      return shift<Shr>(type);
    case HotInteger::mov:
      return unary<Move>(type);
    case HotInteger::selp:
      return with_bits(type, [](auto zero) {
        using T = decltype(zero);
        return Handlers{&select<Mode::full, T>, &select<Mode::masked, T>};
      });
  }
  return {};
}

}  // namespace lw::machine::LW_SIMD_NAMESPACE
