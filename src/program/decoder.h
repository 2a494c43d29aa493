#pragma once
// What a `bind_<form>` function of machine/semantics uses to turn one PTX instruction into Ops.
//
// `bind` is called once per instruction, in program order. It asks for the slots of its operands
// and emits one Op or several; nothing is executed. Guards (`@p`) are not its business: the decoder
// wraps what was emitted. A bind function looks like
//
//   void bind_add_int(Decoder& decoder) {
//     decoder.emit(integer_handlers(Kind::add, decoder.type()), decoder.result(0),
//                  decoder.source(1), decoder.source(2));
//   }

#include <memory>
#include <span>
#include <string>

#include "program/op.h"
#include "program/program.h"
#include "ptx/module.h"

namespace lw::program {

// [base + offset], with what is known about it at decode time.
struct Address {
  Slot base;  // 32-bit slot, or 64-bit slot if `wide`; a constant slot if there is no register
  bool wide = false;
  bool constant = false;  // no register: the address is `offset`
  int64_t offset = 0;     // added to `base`, or, if constant, in it already: see `constant`
  ptx::Space window =
      ptx::Space::none;  // space of the variable that it names, none if it names none
  std::optional<ptx::VariableId> variable;

  // What is added to `base` at run time.
  uint64_t displacement() const { return constant ? 0 : static_cast<uint64_t>(offset); }
};

class Decoder {
 public:
  virtual ~Decoder() = default;

  // The instruction.
  virtual const ptx::Module& module() const = 0;
  virtual const ptx::Opcode& opcode() const = 0;
  virtual std::span<const ptx::Operand> operands() const = 0;
  virtual std::span<const ptx::Operand> elements(const ptx::Operand& operand) const = 0;
  // Declared type of a register operand (Type::none: not a register). PTX of newer compilers
  // declares floats as .b32: only the width is to be trusted.
  virtual ptx::Type declared(const ptx::Operand& operand) const = 0;
  // A register (or an element of a vector) is named by something besides this operand: if not, a
  // result in it is never used.
  virtual bool is_named_elsewhere(const ptx::Operand& operand) = 0;
  // A load that is read again and again until its value is the one waited for (influence.h).
  virtual bool is_poll() const = 0;
  virtual base::OpId id() const = 0;

  const ptx::Operand& operand(size_t index) const { return operands()[index]; }
  bool has(ptx::Mod mod) const { return opcode().has(mod); }
  ptx::Type type(size_t index = 0) const { return opcode().type(index); }
  // The register stands in a 64-bit slot.
  bool is_wide(const ptx::Operand& operand) const;

  // Slots. A source that is no register gets a slot that holds the value in every lane, read as
  // `type` (immediates; addresses of variables; special registers). `!p` becomes an Op of its own.
  // A result `_` gets a slot that nobody reads. Results never share a slot with a source.
  virtual Slot source(const ptx::Operand& operand, ptx::Type type) = 0;
  virtual Slot result(const ptx::Operand& operand, ptx::Type type) = 0;
  Slot source(size_t index) { return source(operand(index), type()); }
  Slot result(size_t index) { return result(operand(index), type()); }
  // The same of every element of a vector operand, or of the operand itself if it is none; b128
  // gives two 64-bit slots.
  std::vector<Slot> sources(const ptx::Operand& operand, ptx::Type type);
  std::vector<Slot> results(const ptx::Operand& operand, ptx::Type type);

  virtual Slot constant(uint64_t bits, ptx::Type type) = 0;
  virtual Slot temporary(ptx::Type type) = 0;  // valid within this instruction
  virtual Slot carry() = 0;          // predicate: the condition code of add.cc and its kin
  virtual Slot stack_pointer() = 0;  // word: where the thread's stack ends in its local memory
  virtual Address address(const ptx::Operand& operand) = 0;
  // `.param` addresses in registers mean local memory here: the body of a device function.
  virtual bool in_function() const = 0;

  // Ops.
  virtual Op& emit(Handlers handlers) = 0;
  Op& emit(Handlers handlers, Slot d, Slot a = {}, Slot b = {}, Slot c = {});
  // Operands beyond four: stored in Program::slots, `op.more` and `op.extra` set.
  virtual void attach(Op& op, std::span<const Slot> slots) = 0;
  virtual uint32_t add_text(std::string text) = 0;  // index into Program::texts
  // An object that Ops point at; it lives as long as the Program.
  virtual void keep(std::shared_ptr<const void> object) = 0;

  // The instruction is one of its form that is not modelled: a run that reaches it ends as
  // `not analysed` with this reason.
  virtual void not_modelled(std::string reason) = 0;

 protected:
  // Appends the slots of one operand that is no vector.
  virtual void parts(const ptx::Operand& operand, ptx::Type type, bool result,
                     std::vector<Slot>& slots) = 0;
};

using Bind = void (*)(Decoder&);

}  // namespace lw::program
