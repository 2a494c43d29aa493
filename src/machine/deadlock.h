#pragma once
// Nothing can run any more: who waits for what, since when (rule book 15, E-21).

#include "machine/fault.h"

namespace lw::machine {

class Machine;

Fault describe_deadlock(const Machine& machine);

}  // namespace lw::machine
