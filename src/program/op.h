#pragma once
// What a kernel is decoded to: a dense array of Ops, each a handler and its resolved operands.
//
// A warp's registers are one block of memory. A *slot* is a byte offset into it:
//   - 32-bit slot: 32 lanes of 4 bytes; also holds 16- and 8-bit registers, zero-extended;
//   - 64-bit slot: 32 lanes of 8 bytes; a b128 register is two of them, the low half first;
//   - predicate slot: one 32-bit mask, bit i for lane i.
// The two sizes live in separate regions, so a 64-bit result never overlaps a dying 32-bit source.
// Constants and special registers that never change in a warp (tid, ctaid, ...) have slots as well,
// filled when the warp starts: a handler reads slots and nothing else.
//
// Every Op has two handlers. `full` runs when the running lanes are all lanes of the warp that have
// not exited: plain lane loops may then write all 32 lanes, dead ones too (but memory and
// predicates must still look at the mask). `masked` runs otherwise and writes active lanes only.

#include <cstddef>
#include <cstdint>

#include "base/ids.h"

namespace lw::machine {
class Warp;
}

namespace lw::program {

struct Op;
using Handler = void (*)(const Op* op, std::byte* registers, machine::Warp& warp);

// The two faces of one operation.
struct Handlers {
  Handler full = nullptr;
  Handler masked = nullptr;
  bool control = false;  // may park or split the running lanes
};

struct Slot {
  uint32_t offset = 0;
  friend bool operator==(Slot, Slot) = default;
};

struct Op {
  Handler full = nullptr;
  Handler masked = nullptr;
  Slot d;                  // first result
  Slot a, b, c;            // sources
  uint64_t immediate = 0;  // what the handler says: byte offset of an address, modifier bits, ...
  base::OpId instruction;  // the PTX instruction it came from
  union {
    int32_t jump = 0;  // branches: target, in Ops from this one
    uint32_t more;     // first of further operands in Program::slots
  };
  uint32_t length = 0;  // block ends: PTX instructions since the block's start
  uint16_t detail = 0;  // small operand of the handler's choice (vector width, type, ...)
  uint16_t extra = 0;   // number of Slots at `more`
};
static_assert(sizeof(Op) <= 64);

}  // namespace lw::program
