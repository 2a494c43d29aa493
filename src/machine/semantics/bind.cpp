#include "machine/semantics/bind.h"

namespace lw::machine {

#define LW_BIND_modelled(name) &bind_##name,
#define LW_BIND_unmodelled(name) nullptr,
#define LW_FORM(name, effect, modelled, version, target, section, pattern) LW_BIND_##modelled(name)
program::Bind bind_of(ptx::FormId form) {
  static constexpr program::Bind kBinds[] = {
      nullptr,  // FormId::none
#include "ptx/forms.def"
  };
  return kBinds[static_cast<size_t>(form)];
}
#undef LW_BIND_modelled
#undef LW_BIND_unmodelled

}  // namespace lw::machine
