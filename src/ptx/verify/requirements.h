#pragma once
// Version and target that a form and its modifiers need.

#include "ptx/module.h"
#include "ptx/verify/report.h"
#include "ptx/verify/targets.h"

namespace lw::ptx {

// Whether a target has the form and all modifiers of an opcode.
bool meets_requirements(const Opcode& opcode, const Target& target);

// Whether a form that was there once is not supported any more.
bool is_gone(FormId form, int version, const Target& target);

// The first version that has them, times ten.
int needed_version(const Opcode& opcode);

// Reports what is missing at `instruction`, the first one with its opcode.
void check_requirements(const Module& module, const Function& function,
                        const Instruction& instruction, VerifyReport& report);

}  // namespace lw::ptx
