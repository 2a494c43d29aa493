#pragma once
// The token tables as constant data with a search that also runs at compile time. For tokens.cpp
// and the pattern parser; others include tokens.h.

#include <algorithm>
#include <array>
#include <cstddef>
#include <iterator>
#include <string_view>
#include <utility>

#include "ptx/tokens.h"

namespace lw::ptx::tables {

struct TypeRow {
  std::string_view token;
  int bits;
  TypeKind kind;
  Type element;
  int count;
};

inline constexpr TypeRow kTypes[] = {
    {"", 0, TypeKind::none, Type::none, 1},
#define LW_TYPE(name, token, bits, kind, element, count) \
  {token, bits, TypeKind::kind, Type::element, count},
#include "ptx/types.def"
};

inline constexpr std::string_view kMods[] = {
    "",
#define LW_MOD(name, token) token,
#include "ptx/modifiers.def"
};

using Entry = std::pair<std::string_view, size_t>;

// The tokens of a table in order, each with its row; `token` gets it from the row.
template <class Rows, class Token>
constexpr auto sorted_index(const Rows& rows, Token token) {
  std::array<Entry, std::extent_v<Rows>> index{};
  for (size_t i = 0; i < index.size(); ++i) index[i] = {token(rows[i]), i};
  std::sort(index.begin(), index.end());
  return index;
}

// The row of a token, 0 if there is none (row 0 is the empty token where this matters).
template <class Index>
constexpr size_t row_in(const Index& index, std::string_view token) {
  const auto found = std::lower_bound(index.begin(), index.end(), Entry{token, 0});
  return found != index.end() && found->first == token ? found->second : 0;
}

inline constexpr auto kTypeIndex =
    sorted_index(kTypes, [](const TypeRow& row) { return row.token; });
inline constexpr auto kModIndex = sorted_index(kMods, [](std::string_view token) { return token; });

constexpr Type type_named(std::string_view token) {
  return static_cast<Type>(row_in(kTypeIndex, token));
}
constexpr Mod mod_named(std::string_view token) {
  return static_cast<Mod>(row_in(kModIndex, token));
}

}  // namespace lw::ptx::tables
