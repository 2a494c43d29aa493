#pragma once
// Which registers and immediates an operand of a type takes. PTX ISA, section Type Information for
// Instructions and Operands, as ptxas reads it: integers take integers and untyped bits of the same
// width, floats take floats and bits, bits take anything; loads, stores and conversions also take
// wider registers.

#include "ptx/forms/pattern.h"
#include "ptx/module.h"

namespace lw::ptx {

bool register_fits(Type reg, Type wanted, Width width);
bool immediate_fits(Literal literal, Type wanted);

}  // namespace lw::ptx
