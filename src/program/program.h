#pragma once
// A kernel ready to run: Ops, the layout of its registers, variables and parameters.
//
// Device functions are inlined at every call, with registers of their own, so a Program is one flat
// array, a lane's position in it is one pointer, and liveness sees through calls. Functions that
// call themselves stand in it once (flat.h). A program that grows beyond kMaxOps is `not analysed`.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "program/op.h"
#include "ptx/module.h"

namespace lw::program {

inline constexpr uint32_t kMaxOps = 16u << 20;

// Of a thread that invokes procedures or takes memory by `alloca`. How much it is on a device is
// said at run time (1 KiB if nothing is); what needs more than this is `not analysed`.
inline constexpr uint32_t kStackBytes = 16u << 10;

// Where shared addresses start: the first KiB is reserved by the system on sm_90 and later. In a
// cluster the rank of the CTA stands above, from this bit on: the address of a variable is one in
// `.shared::cluster` already [H200].
inline constexpr uint32_t kSharedBase = 1024;
inline constexpr int kRankShift = 24;

// One PTX instruction of the run. OpId values are indices into the run's table of these.
struct Place {
  const ptx::Module* module = nullptr;
  ptx::FunctionId function;
  uint32_t instruction = 0;

  const ptx::Instruction& get() const {
    return module->functions[function.value].instructions[instruction];
  }
  uint32_t line() const { return get().line; }
};

// A named variable and its bytes in its window.
struct VariablePlace {
  ptx::VariableId variable;
  uint64_t offset =
      0;              // shared: an address (>= kSharedBase); local: offset in the thread's memory;
                      // constant: offset in the bank; param: offset in the parameter block
  uint64_t size = 0;  // 0: unsized, to the end of the window
};

// A slot filled when a warp starts.
struct ConstantSlot {
  Slot slot;
  uint8_t bytes = 4;  // 4, 8: lanes; 1: predicate mask of all or no lanes
  uint64_t value = 0;
  bool is_shared_address = false;  // the rank of the CTA goes on top
};
struct SpecialSlot {
  Slot slot;
  uint8_t bytes = 4;
  ptx::SpecialRegister special{};
};

struct Parameter {
  std::string name;
  uint32_t offset = 0;
  uint32_t size = 0;
  uint32_t align = 0;
  ptx::Type type{};
  bool pointer = false;
};

// Where a procedure is invoked (flat.h). Offsets are in the record of the procedure, and on the
// other side in the invoking one's memory: its record, or that of the thread itself.
struct ProcedureCall {
  struct Copied {
    uint32_t outside = 0;
    uint32_t inside = 0;
    uint32_t bytes = 0;
  };
  struct Saved {
    Slot slot;
    uint8_t bytes = 4;  // 4, 8: lanes; 1: predicate
  };
  int32_t start = 0;   // index of the Op
  int32_t behind = 0;  // where it goes on
  uint32_t procedure = 0;
  uint32_t record_bytes = 0;
  bool from_record = false;
  std::vector<Saved> saved;
  uint32_t saved_bytes = 0;
  std::vector<Copied> params;
  std::vector<Copied> returns;
};

class Program {
 public:
  const ptx::Module* module = nullptr;
  ptx::FunctionId kernel;
  std::vector<Op> ops;
  std::vector<Slot> slots;          // operands beyond d, a, b, c
  std::vector<int32_t> jump_table;  // of brx.idx: indices of Ops
  std::vector<ProcedureCall> procedure_calls;
  std::vector<std::string> texts;                 // what a handler may want to say
  std::vector<std::shared_ptr<const void>> kept;  // objects that Ops point at
  uint32_t register_bytes = 0;                    // of a warp, a multiple of 64
  std::vector<ConstantSlot> constants;
  std::vector<SpecialSlot> specials;

  std::vector<Parameter> parameters;
  uint32_t parameter_bytes = 0;
  std::vector<VariablePlace>
      shared;  // static first, in order of declaration, then the dynamic block
  uint32_t static_shared_bytes = 0;    // without the reserved KiB
  uint32_t dynamic_shared_offset = 0;  // from kSharedBase; where unsized `.extern .shared` start
  std::vector<VariablePlace> local;
  uint32_t local_bytes = 0;  // of a thread, a multiple of 16

  const Slot* more(const Op& op) const { return slots.data() + op.more; }
};

}  // namespace lw::program
