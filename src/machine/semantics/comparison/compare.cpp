#include "machine/semantics/comparison/compare.h"

#include "base/check.h"

namespace lw::machine {
namespace {

using ptx::Mod;

Comparison of_integers(Mod op) {
  switch (op) {
    case Mod::eq:
      return {Test::equal};
    case Mod::ne:
      return {Test::equal, false, true};
    case Mod::lt:
    case Mod::lo:
      return {Test::less};
    case Mod::le:
    case Mod::ls:
      return {Test::less_or_equal};
    case Mod::gt:
    case Mod::hi:
      return {Test::less, true};
    default:  // ge, hs
      return {Test::less_or_equal, true};
  }
}

Comparison of_floats(Mod op) {
  switch (op) {
    case Mod::eq:
      return {Test::equal};
    case Mod::ne:
      return {Test::not_equal};
    case Mod::lt:
      return {Test::less};
    case Mod::le:
      return {Test::less_or_equal};
    case Mod::gt:
      return {Test::less, true};
    case Mod::ge:
      return {Test::less_or_equal, true};
    case Mod::equ:
      return {Test::not_equal, false, true};
    case Mod::neu:
      return {Test::equal, false, true};
    case Mod::ltu:
      return {Test::less_or_equal, true, true};
    case Mod::leu:
      return {Test::less, true, true};
    case Mod::gtu:
      return {Test::less_or_equal, false, true};
    case Mod::geu:
      return {Test::less, false, true};
    case Mod::num:
      return {Test::ordered};
    default:  // nan
      return {Test::ordered, false, true};
  }
}

bool is_comparison(Mod mod) { return mod >= Mod::eq && mod <= Mod::nan; }

}  // namespace

Comparison comparison_of(Mod op, bool is_float) {
  return is_float ? of_floats(op) : of_integers(op);
}

Comparison comparison_of(const ptx::Opcode& opcode, ptx::Type type) {
  bool is_float = ptx::kind_of(type) == ptx::TypeKind::floating ||
                  ptx::kind_of(ptx::element_of(type)) == ptx::TypeKind::floating;
  for (Mod mod : opcode.mods)
    if (is_comparison(mod)) return comparison_of(mod, is_float);
  LW_CHECK(false, opcode.text);
  return {};
}

}  // namespace lw::machine
