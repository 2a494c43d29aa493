#pragma once
// Module and kernel -> Program. The passes, in order:
//   flatten        one list of instructions, calls inlined              flat.h
//   assign_slots   registers to slots by liveness                       liveness.h
//   lay_out_*      parameters, shared and local variables               layout.h
//   bind           each instruction by its form's function, into Ops    decoder.h
//   link           labels to Ops, lengths of blocks

#include <optional>
#include <string_view>

#include "program/decoder.h"
#include "program/flat.h"
#include "program/program.h"

namespace lw::program {

// The Ops that the decoder itself emits, by the machine.
struct CoreHandlers {
  Handlers join;    // falls into a label; `length`
  Handlers jump;    // all lanes to `jump`; `length`; detail: 1 if the loop polls
  Handlers branch;  // lanes of predicate `a` (detail bit 1: not in it) to `jump`, the rest on;
                    // detail bit 0: the loop polls
  Handlers select;  // lane to entry `a` of the `extra` ones at `immediate` in jump_table
  Handlers number_of_function;  // word d = FunctionId at the address in wide slot a, or `immediate`
  // Of procedures (flat.h). `immediate` of `invoke` is an index into Program::procedure_calls, that
  // of `leave` the number of the procedure; a: stack pointer, b: frame pointer; `length`.
  Handlers invoke;
  Handlers leave;
  // Between a register (detail: its SlotClass) and the thread's memory at word b + `immediate`,
  // `extra` bytes: d = memory; memory = a. Between registers: d = a.
  Handlers fetch;
  Handlers put;
  Handlers move;
  Handlers add_base;  // d (detail: its SlotClass) = word a + `immediate`
  Handlers exit;      // `length`
  Handlers guard;  // narrows to predicate `a` (detail bit 1: its complement); none left: to `jump`
  Handlers unguard;  // back to the lanes before
  Handlers negate;   // predicate d = not a
  Handlers refuse;   // not analysed: text `immediate`
  Handlers watch;    // asks the policy before a watched instruction; predicate `a` guards (detail
                     // bit 1: negated, bit 2: there is a guard)
  Handlers watched;  // tells it after one
  Handlers read_special;  // d (detail: bytes) = special register `immediate`, of this moment
};
inline constexpr uint16_t kPolls = 1;
inline constexpr uint16_t kInverted = 2;
inline constexpr uint16_t kHasGuard = 4;
inline constexpr uint16_t kRetries = 8;  // closes a loop of influence.h's PollLoop: `immediate` is
                                         // the OpId value of the load that the lanes read again

class Environment : public PlaceSource {
 public:
  virtual Bind bind(ptx::FormId form) const = 0;          // null: not modelled
  virtual Bind builtin(std::string_view name) const = 0;  // functions without a body; null: unknown
  virtual const CoreHandlers& core() const = 0;
  // `.global`: device address. `.const`: offset in the module's bank.
  virtual uint64_t address(ptx::VariableId variable) const = 0;
  virtual bool is_watched(base::OpId) const { return false; }
};

// The value that the address of a function has: what `mov` of its name gives.
uint64_t address_of_function(ptx::FunctionId function);
// The function that would have this address.
std::optional<ptx::FunctionId> function_at(uint64_t address);

Program decode(const ptx::Module& module, ptx::FunctionId kernel, Environment& environment);

}  // namespace lw::program
