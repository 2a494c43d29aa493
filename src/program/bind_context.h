#pragma once
// The Decoder that bind functions see: one object for a whole program, set to each instruction in
// turn.

#include <set>

#include "program/decode.h"
#include "program/decoder.h"
#include "program/slots.h"

namespace lw::program {

class BindContext final : public Decoder {
 public:
  BindContext(const ptx::Module& module, const FlatCode& code, SlotMap& slots,
              Environment& environment, Program& program);

  void begin(const FlatInstruction& flat) { flat_ = &flat; }
  void end() { slots_.end_instruction(); }
  Slot guard() const;
  // What offsets in the memory of a frame are added to.
  Slot base_of(const Frame& frame);
  bool saw_control = false;                // an Op that may park or split the lanes was emitted
  std::set<const FlatInstruction*> polls;  // loads of PollLoops

  const ptx::Module& module() const override { return module_; }
  const ptx::Opcode& opcode() const override { return module_.opcode_of(*flat_->source); }
  std::span<const ptx::Operand> operands() const override;
  std::span<const ptx::Operand> elements(const ptx::Operand& operand) const override;
  ptx::Type declared(const ptx::Operand& operand) const override;
  bool is_named_elsewhere(const ptx::Operand& operand) override;
  bool is_poll() const override { return polls.contains(flat_); }
  base::OpId id() const override { return base::OpId(flat_->place); }
  Slot source(const ptx::Operand& operand, ptx::Type type) override;
  Slot result(const ptx::Operand& operand, ptx::Type type) override;
  Slot constant(uint64_t bits, ptx::Type type) override;
  Slot temporary(ptx::Type type) override { return slots_.temporary(slot_class(type)); }
  Slot carry() override { return slots_.carry(); }
  Slot stack_pointer() override { return slots_.stack_pointer(); }
  Address address(const ptx::Operand& operand) override;
  bool in_function() const override { return flat_->frame != 0; }
  using Decoder::emit;
  Op& emit(Handlers handlers) override;
  void attach(Op& op, std::span<const Slot> slots) override;
  uint32_t add_text(std::string text) override;
  void keep(std::shared_ptr<const void> object) override;
  void not_modelled(std::string reason) override;

 private:
  void parts(const ptx::Operand& operand, ptx::Type type, bool result,
             std::vector<Slot>& slots) override;
  const ptx::Function& function() const;
  void count_names();
  Slot register_slot(const ptx::Operand& operand) const;
  Slot negated(Slot predicate);
  Slot special(ptx::SpecialRegister special, ptx::Type type);
  Slot constant_address(const Address& address, ptx::Type type);
  Address variable_address(ptx::VariableId id, int64_t offset);
  Slot address_of(const ptx::Operand& symbol, ptx::Type type);
  int64_t parameter_offset(ptx::VariableId id) const;

  const ptx::Module& module_;
  const FlatCode& code_;
  SlotMap& slots_;
  Environment& environment_;
  Program& program_;
  const FlatInstruction* flat_ = nullptr;
  std::vector<uint32_t> names_;  // by VirtualId: how often it is named; counted when first asked
};

}  // namespace lw::program
