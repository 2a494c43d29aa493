#pragma once
// The words of opcodes and operands as enums, made from tables: types, modifiers, forms, special
// registers. The tables are the only place where such a word is spelled.
//
// Modifiers are named after their tokens: `::` becomes `_`, and a token that starts with a digit or
// is a C++ keyword gets `_` in front (`.1d` is Mod::_1d, `.volatile` is Mod::_volatile).

#include <bitset>
#include <cstdint>
#include <optional>
#include <string_view>

namespace lw::ptx {

enum class Type : uint8_t {
  none,
#define LW_TYPE(name, token, bits, kind, element, count) name,
#include "ptx/types.def"
};

enum class TypeKind : uint8_t {
  none,
  predicate,
  bits,
  unsigned_int,
  signed_int,
  floating,
  packed,
  opaque
};

enum class Mod : uint16_t {
  none,
#define LW_MOD(name, token) name,
#include "ptx/modifiers.def"
  count,
};

using ModSet = std::bitset<static_cast<size_t>(Mod::count)>;

enum class FormId : uint16_t {
  none,
#define LW_FORM(name, effect, modelled, version, target, section, pattern) name,
#include "ptx/forms.def"
  count,
};

enum class SpecialRegister : uint16_t {
#define LW_SPECIAL(name, token, type, version, target) name,
#include "ptx/special_registers.def"
  count,
};

// Lookups by token without its dot (special registers with their `%`).
std::optional<Type> find_type(std::string_view token);
std::optional<Mod> find_mod(std::string_view token);
std::optional<SpecialRegister> find_special_register(std::string_view token);
std::optional<FormId> find_form(std::string_view name);

std::string_view name_of(Type type);  // the token without its dot
std::string_view name_of(Mod mod);
std::string_view name_of(SpecialRegister special);
std::string_view name_of(FormId form);  // the row's name

int bits_of(Type type);
TypeKind kind_of(Type type);
Type element_of(Type type);  // of a packed type; else the type itself
int elements_of(Type type);  // of a packed type; else 1

Type type_of(SpecialRegister special);    // `.u32` for each component of a vector one
bool is_vector(SpecialRegister special);  // `%tid` without component
int version_of(SpecialRegister special);  // PTX version introduced, 10 times
int target_of(SpecialRegister special);   // least sm

}  // namespace lw::ptx
