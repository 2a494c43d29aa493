#include "arith/float64.h"

#include <cfenv>
#include <cmath>

namespace lw::arith {

namespace {

int host_mode(Rounding rounding) {
  switch (rounding) {
    case Rounding::kTowardZero:
      return FE_TOWARDZERO;
    case Rounding::kDown:
      return FE_DOWNWARD;
    case Rounding::kUp:
      return FE_UPWARD;
    default:
      return FE_TONEAREST;
  }
}

// Keeps an operand or a result in place: the compiler does not know that the mode matters.
double pinned(double x) {
  __asm__ volatile("" : "+m"(x));
  return x;
}

template <class Operation, class... Operands>
double with_rounding(Rounding rounding, Operation operation, Operands... operands) {
  if (rounding == Rounding::kNearestEven) return operation(operands...);
  int before = std::fegetround();
  std::fesetround(host_mode(rounding));
  double result = pinned(operation(pinned(operands)...));
  std::fesetround(before);
  return result;
}

}  // namespace

double add_f64(double a, double b, Rounding rounding) {
  if (is_nan(b)) return quieted(b);
  if (is_nan(a)) return quieted(a);
  return with_rounding(
      rounding, [](double x, double y) { return x + y; }, a, b);
}

double sub_f64(double a, double b, Rounding rounding) {
  return add_f64(a, neg_f64(b), rounding);  // which leaves a NaN's sign alone
}

double mul_f64(double a, double b, Rounding rounding) {
  if (is_nan(b)) return quieted(b);
  if (is_nan(a)) return quieted(a);
  return with_rounding(
      rounding, [](double x, double y) { return x * y; }, a, b);
}

double fma_f64(double a, double b, double c, Rounding rounding) {
  if (is_nan(b)) return quieted(b);
  if (is_nan(c)) return quieted(c);
  if (is_nan(a)) return quieted(a);
  return with_rounding(
      rounding, [](double x, double y, double z) { return std::fma(x, y, z); }, a, b, c);
}

double div_f64(double a, double b, Rounding rounding) {
  if (is_nan(a)) return quieted(a);
  if (is_nan(b)) return quieted(b);
  return with_rounding(
      rounding, [](double x, double y) { return x / y; }, a, b);
}

double sqrt_f64(double a, Rounding rounding) {
  if (is_nan(a)) return quieted(a);
  return with_rounding(
      rounding, [](double x) { return std::sqrt(x); }, a);
}

// As f32: one NaN loses, -0 < +0. Of two NaNs the second.
static double min_max(double a, double b, bool want_max) {
  if (is_nan(a)) return is_nan(b) ? quieted(b) : b;
  if (is_nan(b)) return a;
  bool a_first = a < b || (a == b && std::signbit(a));
  return a_first == want_max ? b : a;
}
double min_f64(double a, double b) { return min_max(a, b, false); }
double max_f64(double a, double b) { return min_max(a, b, true); }

}  // namespace lw::arith
