#pragma once
// Functions without a body that the driver provides: vprintf, __assertfail, malloc, free.

#include <string_view>

#include "program/decoder.h"

namespace lw::machine {

program::Bind builtin_of(std::string_view name);  // null: not known

}  // namespace lw::machine
