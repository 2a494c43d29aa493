#include "ptx/parse/context.h"

#include <algorithm>

namespace lw::ptx {

bool Context::fail_name(const Token& name, std::string message, std::string hint) {
  const Symbol known = find(name.text);
  if (lost_global || lost_local || known.kind == SymbolKind::doubtful) return false;
  SymbolTable& table = locals.depth() == 0 ? globals : locals;
  if (known.kind == SymbolKind::none) {
    table.bind(name.text, SymbolKind::doubtful, 0, std::min(table.depth(), 1u));
  }
  return cursor.fail(name, std::move(message), std::move(hint));
}

}  // namespace lw::ptx
