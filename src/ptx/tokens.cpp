#include "ptx/tokens.h"

#include <unordered_map>

#include "ptx/token_tables.h"

namespace lw::ptx {
namespace {

using tables::kMods;
using tables::kTypes;

constexpr std::string_view kForms[] = {
    "",
#define LW_FORM(name, effect, modelled, version, target, section, pattern) #name,
#include "ptx/forms.def"
};

struct SpecialType {
  Type type;
  bool vector;
};

// `u32`, `v4_u32`.
consteval SpecialType special_type(std::string_view name) {
  const bool vector = name.starts_with("v4_");
  return {tables::type_named(vector ? name.substr(3) : name), vector};
}

struct SpecialRow {
  std::string_view token;
  SpecialType type;
  int version;
  int target;
};

constexpr SpecialRow kSpecials[] = {
#define LW_SPECIAL(name, token, type, version, target) \
  {token, special_type(#type), version, target},
#include "ptx/special_registers.def"
};

using Names = std::unordered_map<std::string_view, size_t>;

// The names of a table by token; row 0 of those with a `none` is left out.
template <class Rows, class Token>
Names index_names(const Rows& rows, size_t first, Token token) {
  Names names;
  for (size_t i = first; i < std::size(rows); ++i) names.emplace(token(rows[i]), i);
  return names;
}

template <class Enum>
std::optional<Enum> find_in(const Names& names, std::string_view token) {
  const auto found = names.find(token);
  if (found == names.end()) return std::nullopt;
  return static_cast<Enum>(found->second);
}

constexpr auto kSelf = [](std::string_view token) { return token; };
constexpr auto kToken = [](const auto& row) { return row.token; };

const tables::TypeRow& row_of(Type type) { return kTypes[static_cast<size_t>(type)]; }
const SpecialRow& row_of(SpecialRegister special) {
  return kSpecials[static_cast<size_t>(special)];
}

}  // namespace

std::optional<Type> find_type(std::string_view token) {
  const Type type = tables::type_named(token);
  return type == Type::none ? std::nullopt : std::optional(type);
}

std::optional<Mod> find_mod(std::string_view token) {
  const Mod mod = tables::mod_named(token);
  return mod == Mod::none ? std::nullopt : std::optional(mod);
}

std::optional<SpecialRegister> find_special_register(std::string_view token) {
  static const Names names = index_names(kSpecials, 0, kToken);
  return find_in<SpecialRegister>(names, token);
}

std::optional<FormId> find_form(std::string_view name) {
  static const Names names = index_names(kForms, 1, kSelf);
  return find_in<FormId>(names, name);
}

std::string_view name_of(Type type) { return row_of(type).token; }
std::string_view name_of(Mod mod) { return kMods[static_cast<size_t>(mod)]; }
std::string_view name_of(SpecialRegister special) { return row_of(special).token; }
std::string_view name_of(FormId form) { return kForms[static_cast<size_t>(form)]; }

int bits_of(Type type) { return row_of(type).bits; }
TypeKind kind_of(Type type) { return row_of(type).kind; }
Type element_of(Type type) { return row_of(type).element; }
int elements_of(Type type) { return row_of(type).count; }

Type type_of(SpecialRegister special) { return row_of(special).type.type; }
bool is_vector(SpecialRegister special) { return row_of(special).type.vector; }
int version_of(SpecialRegister special) { return row_of(special).version; }
int target_of(SpecialRegister special) { return row_of(special).target; }

}  // namespace lw::ptx
