#pragma once
// The Ops of procedures and of passed values (program/flat.h), and the stack of a thread.
//
// A thread's stack follows its variables in local memory and grows upwards. A record lies there
// behind what was kept when its procedure was invoked:
//
//   registers of the invoking frames | header | record
//                                              ^ frame pointer              ^ stack pointer
//
// The header says where the invocation stands and what both pointers were. Lanes are at depths of
// their own; those that leave to different places part.

#include "machine/warp.h"

namespace lw::machine::procedures {

// The bodies of the handlers of those names (program/decode.h).
const Op* invoke(const Op& op, Warp& warp);
const Op* leave(const Op& op, Warp& warp);
void fetch(const Op& op, Warp& warp);
void put(const Op& op, Warp& warp);
void move(const Op& op, Warp& warp);
void add_base(const Op& op, Warp& warp);

}  // namespace lw::machine::procedures
