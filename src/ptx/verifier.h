#pragma once
// Holds a module against the forms table: operands and their types, target, version, state spaces,
// parameters, calls. The parser has settled names and forms; a module that a rewrite made is
// checked by the same rules. What ptxas rejects is to be rejected here. misses: alignment of
// vectors, limits that depend on the launch.

#include "diagnose/diagnostic.h"
#include "ptx/module.h"

namespace lw::ptx {

// Whether nothing is wrong; what is, is emitted.
bool verify(const Module& module, diagnose::Emitter& emitter);

}  // namespace lw::ptx
