#include "machine/semantics/comparison/compare.h"

#include "arith/bits.h"
#include "machine/semantics/lanes.h"
#include "machine/semantics/types.h"

namespace lw::machine::LW_SIMD_NAMESPACE {
namespace {

struct Equal {
  template <class T>
  LW_ALWAYS_INLINE bool operator()(T a, T b) const {
    return a == b;
  }
};
struct Less {
  template <class T>
  LW_ALWAYS_INLINE bool operator()(T a, T b) const {
    return a < b;
  }
};
struct LessOrEqual {
  template <class T>
  LW_ALWAYS_INLINE bool operator()(T a, T b) const {
    return a <= b;
  }
};
struct Ordered {
  template <class T>
  LW_ALWAYS_INLINE bool operator()(T a, T b) const {
    return (a == a) & (b == b);
  }
};
struct NotEqual {
  template <class T>
  LW_ALWAYS_INLINE bool operator()(T a, T b) const {
    return (a < b) | (b < a);
  }
};
template <class Function>
struct Flushed {
  LW_ALWAYS_INLINE bool operator()(float a, float b) const {
    return Function()(arith::flush(a), arith::flush(b));
  }
};

LW_ALWAYS_INLINE LaneMask combine(LaneMask test, LaneMask c, uint16_t how) {
  if (how & kAnd) return test & c;
  if (how & kOr) return test | c;
  if (how & kXor) return test ^ c;
  return test;
}

LW_ALWAYS_INLINE LaneMask* predicate_at(std::byte* registers, Slot slot) {
  return reinterpret_cast<LaneMask*>(registers + slot.offset);
}
LW_ALWAYS_INLINE void store_predicate(std::byte* registers, Slot slot, LaneMask active,
                                      LaneMask value) {
  LaneMask* bits = predicate_at(registers, slot);
  *bits = (*bits & ~active) | (value & active);
}

template <Mode mode, class Function, class T>
void setp(const Op* op, std::byte* registers, Warp& warp) {
  const Storage<T>* a = lanes_at<T>(registers, op->a);
  const Storage<T>* b = lanes_at<T>(registers, op->b);
  LaneMask test = lanes_where([&](int lane) LW_LAMBDA_INLINE {
    return Function()(unpack<T>(a[lane]), unpack<T>(b[lane]));
  });
  uint16_t how = op->detail;
  if (how & kTurned) test = ~test;
  if ((how & ~kTurned) == 0) [[likely]] {
    store_predicate(registers, op->d, warp.active, test);
  } else {
    LaneMask c = *predicate_at(registers, op->c);
    store_predicate(registers, op->d, warp.active, combine(test, c, how));
    if (how & kComplement)
      store_predicate(registers, Slot{static_cast<uint32_t>(op->immediate)}, warp.active,
                      combine(~test, c, how));
  }
  return next<mode>(op, registers, warp);
}

template <class Function, class T>
constexpr Handlers kSetp{&setp<Mode::full, Function, T>, &setp<Mode::masked, Function, T>};

template <class Function>
Handlers of_floats(ptx::Type type, bool flush) {
  if (type == ptx::Type::f64) return kSetp<Function, double>;
  return flush ? kSetp<Flushed<Function>, float> : kSetp<Function, float>;
}

template <class Function>
Handlers of_integers(ptx::Type type) {
  return with_integer(type, [](auto zero) { return kSetp<Function, decltype(zero)>; });
}

}  // namespace

Handlers hot_setp(Test test, ptx::Type type, bool flush) {
  bool is_float = ptx::kind_of(type) == ptx::TypeKind::floating;
  switch (test) {
    case Test::equal:
      return is_float ? of_floats<Equal>(type, flush) : of_integers<Equal>(type);
    case Test::less:
      return is_float ? of_floats<Less>(type, flush) : of_integers<Less>(type);
    case Test::less_or_equal:
      return is_float ? of_floats<LessOrEqual>(type, flush) : of_integers<LessOrEqual>(type);
    case Test::ordered:
      return of_floats<Ordered>(type, flush);
    case Test::not_equal:
      return of_floats<NotEqual>(type, flush);
  }
  return {};
}

}  // namespace lw::machine::LW_SIMD_NAMESPACE
