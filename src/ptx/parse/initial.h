#pragma once
// Initialisers of variables: numbers, addresses of variables and functions, nested braces.
// PTX ISA, section Initializers.

#include <string>

#include "ptx/parse/context.h"

namespace lw::ptx {

// From behind the `=`. Elements that nested braces leave out are zero, trailing ones are not kept;
// an open first dimension gets its size.
bool parse_initial(Context& context, Variable& variable);

// `{ filter_mode = nearest }` of a sampler, as text.
bool parse_opaque_initial(Cursor& cursor, std::string& text);

}  // namespace lw::ptx
