#pragma once
// The Ops that are no PTX instruction of their own: labels, branches, guards, exits, watches.

#include "program/decode.h"

namespace lw::machine {

const program::CoreHandlers& core_handlers();

}  // namespace lw::machine
