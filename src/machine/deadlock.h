#pragma once
// Nothing can run any more: who waits for what, since when (rule book 15, E-21).

#include "machine/fault.h"

namespace lw::order {
class Engine;
}

namespace lw::machine {

class Machine;

Fault describe_deadlock(const Machine& machine);

// Tells the engine of the waits on mbarriers that nothing will end.
void tell_blocked(const Machine& machine, order::Engine& engine);

}  // namespace lw::machine
