#pragma once
// A call against the function, or the prototype, that it names.

#include "ptx/module.h"
#include "ptx/verify/report.h"

namespace lw::ptx {

void check_call(const Module& module, const Function& function, const Instruction& call,
                VerifyReport& report);

}  // namespace lw::ptx
