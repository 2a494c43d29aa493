#pragma once
// What the notation of forms.def cannot say about an opcode: how two of its types go together, how
// wide a vector may be in all, and which of its words have a fixed place.

#include "ptx/module.h"
#include "ptx/verify/report.h"

namespace lw::ptx {

// Reports what is wrong with the opcode of `instruction`, the first one that has it.
void check_opcode(const Module& module, const Function& function, const Instruction& instruction,
                  VerifyReport& report);

}  // namespace lw::ptx
