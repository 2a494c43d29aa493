#pragma once
// A kernel and every function it calls as one list of instructions.
//
// A *frame* is one inlined instance of a function: the kernel, and one per call site that reaches a
// defined function. Registers of a frame are *virtual registers* of the program, numbered densely
// over all frames; each part of a vector or b128 register is one of its own. A call becomes: the
// arguments are stored to their `.param` areas (they already are, by st.param), the body follows,
// `ret` jumps behind it. The `.param` areas of calls and of functions lie in local memory, and a
// formal parameter is the same area as the actual one. Parameters in registers, on either side, are
// moved (`Pass`).
//
// A function that may come to call itself is a *procedure*: its body stands in the code once, and
// what lies in its memory lies in a *record* on the thread's stack, one for each of its
// activations. To invoke it is to keep the registers of the calling frames, to open a record and to
// copy the arguments into it; to leave it is all that backwards. Procedures stand before the
// kernel, so that lanes that have come back wait for those that have not (warp.h).
//
// A call through a pointer becomes a choice among the functions that it may mean, each of them
// inlined behind the other: those of `.calltargets`, else those whose address the module takes, of
// them those with parameters of the same sizes.

#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "program/operands.h"
#include "ptx/module.h"

namespace lw::program {

using VirtualId = base::Id<struct VirtualTag>;

struct Frame {
  ptx::FunctionId function;
  std::vector<uint32_t> first_virtual;           // by RegisterId
  uint32_t end_virtual = 0;                      // behind the last one
  std::unordered_map<uint32_t, uint64_t> local;  // VariableId -> offset in the thread's memory
  uint32_t first_place = 0;                      // OpId of its first instruction
  uint32_t end_label = 0;                        // flat label behind the body
  std::optional<uint32_t> outer;                 // the frame that this one is inlined into
  std::optional<uint32_t> procedure;  // `local` are offsets in the record of this procedure
};

// A value goes between registers, or between registers and memory of a frame. Parts of a vector or
// of a b128 follow each other.
struct Pass {
  enum class Kind : uint8_t { move, load, store, keep_stack, take_back_stack } kind = Kind::move;
  uint32_t frame = 0;          // whose memory
  uint64_t area = 0;           // there
  uint32_t bytes = 0;          // of a part, there
  std::vector<uint32_t> into;  // virtual registers
  std::vector<uint32_t> from;
  std::vector<uint64_t> immediates;  // instead of `from`
};

// A stretch of a record, or of a thread's own memory.
struct Area {
  uint64_t offset = 0;
  uint64_t bytes = 0;
};

struct Procedure {
  uint32_t frame = 0;
  uint32_t start_label = 0;
  uint64_t record_bytes = 0;
  std::vector<Area> params;
  std::vector<Area> returns;
};

// Where a procedure is invoked. Its areas are of memory of the invoking frame.
struct Invocation {
  uint32_t frame = 0;
  uint32_t procedure = 0;
  uint32_t behind_label = 0;
  std::vector<Area> params;
  std::vector<Area> returns;
};

struct FlatInstruction {
  enum class Kind : uint8_t {
    plain,  // `source`, bound by its form
    jump,   // to flat label `label`, by all lanes or by those of its guard (bra, ret of a function)
    select,   // brx.idx: flat labels `targets`, by operand 0
    choose,   // call through a pointer: flat labels `targets`, by FunctionId, then that for others
    pass,     // `passes[index]`
    invoke,   // `invocations[index]`: by all, to the start of the procedure
    leave,    // `procedures[index]`: to behind the invocations, `targets` are those
    exit,     // of the thread
    builtin,  // a call to a function without a body
    refused,  // cannot be run: `text` says why
  };
  Kind kind = Kind::plain;
  uint32_t frame = 0;
  uint32_t place = 0;  // OpId value
  const ptx::Instruction* source = nullptr;
  uint32_t label = 0;
  uint32_t index = 0;
  bool inverted = false;       // jump: by the lanes whose guard is false
  bool unconditional = false;  // jump: by all, though `source` has a guard
  std::vector<uint32_t> targets;
  std::string text;
};

struct FlatCode {
  std::vector<Frame> frames;
  std::vector<FlatInstruction> instructions;
  std::vector<uint32_t> labels;      // flat label -> index of the instruction it stands before
  std::vector<SlotClass> registers;  // by VirtualId
  uint64_t local_bytes = 0;          // depots and parameter areas of all frames but records
  std::vector<Pass> passes;
  std::vector<Procedure> procedures;
  std::vector<Invocation> invocations;
  bool uses_stack = false;  // records, or `alloca`

  uint32_t virtual_of(uint32_t frame, ptx::RegisterId reg) const {
    return frames[frame].first_virtual[reg.value];
  }
};

// Gives the OpId of a function's first instruction.
class PlaceSource {
 public:
  virtual ~PlaceSource() = default;
  virtual uint32_t first_place(ptx::FunctionId function) = 0;
};

FlatCode flatten(const ptx::Module& module, ptx::FunctionId kernel, PlaceSource& places);

}  // namespace lw::program
