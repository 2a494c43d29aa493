#pragma once
// A Module as PTX text; parse(print(module)) gives the same module again.

#include <string>

#include "ptx/module.h"

namespace lw::ptx {

std::string print(const Module& module);

// One instruction without its semicolon, for reports: `@!%p1 bra $L__BB0_2`.
std::string print(const Module& module, const Function& function, const Instruction& instruction);

// One operand, for messages.
std::string print(const Module& module, const Function& function, const Operand& operand);

}  // namespace lw::ptx
