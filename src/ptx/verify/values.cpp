#include "ptx/verify/values.h"

namespace lw::ptx {
namespace {

bool is_integer(TypeKind kind) {
  return kind == TypeKind::unsigned_int || kind == TypeKind::signed_int;
}

bool width_fits(int bits, int wanted, Width width) {
  switch (width) {
    case Width::exact:
      return bits == wanted;
    case Width::at_least:
      return bits >= wanted;
    case Width::twice:
      return bits == 2 * wanted;
  }
  return false;
}

}  // namespace

bool register_fits(Type reg, Type wanted, Width width) {
  const TypeKind kind = kind_of(reg);
  if (wanted == Type::pred || reg == Type::pred) return wanted == reg;
  if (kind_of(wanted) == TypeKind::packed) width = Width::exact;
  if (!width_fits(bits_of(reg), bits_of(wanted), width)) return false;
  if (kind == TypeKind::bits || kind_of(wanted) == TypeKind::bits) return true;
  if (is_integer(kind_of(wanted))) return is_integer(kind);
  return reg == wanted;
}

bool immediate_fits(Literal literal, Type wanted) {
  const bool is_int = literal == Literal::integer || literal == Literal::unsigned_integer;
  switch (kind_of(wanted)) {
    case TypeKind::floating:
      return !is_int && (wanted == Type::f32 || wanted == Type::f64);
    case TypeKind::packed:
      return false;
    case TypeKind::bits:
      return is_int || literal != Literal::decimal;
    default:
      return is_int;
  }
}

}  // namespace lw::ptx
