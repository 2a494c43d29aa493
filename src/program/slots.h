#pragma once
// The register block of a warp: allocated slots first (predicates, 32-bit, 64-bit), then constants,
// special registers and temporaries, which grow while instructions are bound.

#include <map>
#include <vector>

#include "program/liveness.h"
#include "program/program.h"

namespace lw::program {

class SlotMap {
 public:
  SlotMap(const FlatCode& code, SlotAssignment assignment);

  Slot of(uint32_t virtual_register) const;
  Slot constant(uint64_t bits, SlotClass kind) { return constant({bits, kind, false}); }
  Slot shared_address(uint64_t address, SlotClass kind) { return constant({address, kind, true}); }
  Slot special(ptx::SpecialRegister special, SlotClass kind);
  Slot temporary(SlotClass kind);  // until the next `end_instruction`
  void end_instruction();
  Slot carry();  // the condition code of add.cc and its kin
  // Offsets in the thread's memory: where its stack ends, and where the record of the procedure
  // that it runs lies.
  Slot stack_pointer();
  Slot frame_pointer();
  bool is_live(uint32_t virtual_register, uint32_t instruction) const {
    return assignment_.is_live(virtual_register, instruction);
  }

  void finish(Program& program) const;  // sizes, constants, specials

 private:
  struct Constant {
    uint64_t bits;
    SlotClass kind;
    bool is_shared_address;
    friend auto operator<=>(const Constant&, const Constant&) = default;
  };
  Slot constant(const Constant& constant);
  Slot grow(SlotClass kind);

  const FlatCode& code_;
  SlotAssignment assignment_;
  uint32_t words_at_ = 0;
  uint32_t wides_at_ = 0;
  uint32_t end_ = 0;
  std::map<Constant, Slot> constants_;
  std::map<std::pair<ptx::SpecialRegister, SlotClass>, Slot> specials_;
  std::vector<Slot> temporaries_[3];
  size_t temporaries_used_[3] = {};
  std::optional<Slot> carry_;
  std::optional<Slot> stack_pointer_;
  std::optional<Slot> frame_pointer_;
};

}  // namespace lw::program
