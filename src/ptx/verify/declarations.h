#pragma once
// Declarations of a module: variables, parameters, and the directives of functions. PTX ISA,
// chapters State Spaces, Types, and Variables, and Directives.

#include "ptx/module.h"
#include "ptx/verify/report.h"

namespace lw::ptx {

// The variables that stand between functions.
void check_globals(const Module& module, VerifyReport& report);

// Parameters, directives and variables of one function.
void check_declarations(const Module& module, const Function& function, VerifyReport& report);

}  // namespace lw::ptx
