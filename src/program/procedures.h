#pragma once
// Passes and invocations (flat.h) with the slots of their registers.

#include "program/bind_context.h"

namespace lw::program {

void emit_pass(BindContext& context, SlotMap& slots, const CoreHandlers& core, const FlatCode& code,
               const Pass& pass);

// The registers that an invocation keeps are those of the frames that may run again before it is
// over: from the frame that invokes to that of the procedure that this one is part of. The kernel
// runs once, so its registers are left alone.
ProcedureCall procedure_call(const FlatCode& code, const SlotMap& slots, uint32_t index);

}  // namespace lw::program
