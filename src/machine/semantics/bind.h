#pragma once
// Every row of forms.def that is marked `modelled` has a function `bind_<row>`: without one the
// program does not link.

#include "program/decoder.h"

namespace lw::machine {

using program::Decoder;

#define LW_BIND_modelled(name) void bind_##name(Decoder& decoder);
#define LW_BIND_unmodelled(name)
#define LW_FORM(name, effect, modelled, version, target, section, pattern) LW_BIND_##modelled(name)
#include "ptx/forms.def"
#undef LW_BIND_modelled
#undef LW_BIND_unmodelled

// By FormId; null where the form is not modelled.
program::Bind bind_of(ptx::FormId form);

}  // namespace lw::machine
