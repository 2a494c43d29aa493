#pragma once
// Whose contents decide what a kernel does (rule book 17.2, D-5; design 3.3).
//
// A verdict from one run is about the data of that run, unless no data can change an event: no
// branch, address, mask, count or barrier operand depends on what memory holds. This is a forward
// slice over registers and memory: a value loaded from an object depends on the object's contents
// and on all that was ever stored there. It ignores the order of instructions, takes each variable
// in shared memory, the dynamic block, and all of local and tensor memory for one object, and a
// whole parameter for one pointer, so it names too much, never too little. Where an address comes
// from nowhere known, it says where, and unless that is never reached nothing else holds.
//
// A pointer stays in its object, whatever is added to it: a number of fewer than 64 bits that was
// loaded is an offset beside a pointer, and a piece of one only where no pointer is there.
//
// Objects are bits: those that the caller numbers (buffers), two of its own, and below these as
// many variables in shared memory as there is room for; the others are on-chip memory as such.

#include <cstdint>
#include <vector>

#include "program/flat.h"

namespace lw::program {

using Sources = uint64_t;  // a set of objects
inline constexpr int kMostObjects = 62;
inline constexpr Sources kOnChip = Sources{1} << 62;      // not there when the kernel starts
inline constexpr Sources kModuleData = Sources{1} << 63;  // `.global` variables, and what else

// What memory may hold, by object: whose contents, and pointers to which objects. Kept from launch
// to launch of a case.
struct HeldContents {
  std::vector<Sources> contents;  // by bit
  std::vector<Sources> pointers;
  int objects = 0;  // that the caller numbers

  explicit HeldContents(int objects);
};

// An instruction whose events depend on the contents of these objects.
struct Decided {
  Sources by = 0;
  base::OpId at;
};

struct ContentsSlice {
  std::vector<Decided> decided;
  std::vector<base::OpId> lost;  // their addresses come from nowhere known
};

// What the parameters of a kernel point to, each; and all those that a plain pointer leads to,
// where an object may hold anything, a tensor map too.
struct PointedTo {
  std::vector<Sources> parameters;
  Sources plainly = 0;
};

ContentsSlice slice_contents(const ptx::Module& module, const FlatCode& code,
                             const PointedTo& pointed, HeldContents& held);

}  // namespace lw::program
