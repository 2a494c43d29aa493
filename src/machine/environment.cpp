#include "machine/environment.h"

#include <algorithm>

#include "machine/core_ops.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/builtins.h"

namespace lw::machine {

program::Bind Environment::bind(ptx::FormId form) const { return bind_of(form); }

program::Bind Environment::builtin(std::string_view name) const { return builtin_of(name); }

const program::CoreHandlers& Environment::core() const { return core_handlers(); }

bool Environment::is_watched(base::OpId op) const {
  return std::ranges::find(watched_, op) != watched_.end();
}

}  // namespace lw::machine
