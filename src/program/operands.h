#pragma once
// Which registers an instruction reads and which it overwrites: what liveness needs of a form.
//
// Only overwriting must be sure. A register called *read* although it is written lives longer than
// needed; one called *overwritten* although it is read would lose its value. So a result counts as
// overwritten only in forms whose first operand is known to be nothing but a result, in unguarded
// instructions; everything else is read.

#include <cstdint>

#include "ptx/module.h"

namespace lw::program {

// The first operand of an instruction with this opcode is a result and nothing else.
bool has_only_result_first(const ptx::Opcode& opcode);

// The base mnemonic: `ld` of `ld.global.u32`.
std::string_view mnemonic(const ptx::Opcode& opcode);

// How many slots a register of this type takes, and of which size.
enum class SlotClass : uint8_t { predicate, word, wide };
SlotClass slot_class(ptx::Type type);
uint32_t slots_of(const ptx::Register& reg);  // b128: 2 wide; .v4: 4

// Calls `visit(element, operand)` for every register operand inside `operand`: itself, elements of
// vectors, the base of an address.
template <class Visit>
void for_each_register(const ptx::Function& function, const ptx::Operand& operand, Visit&& visit) {
  using Kind = ptx::OperandKind;
  if (operand.kind == Kind::reg ||
      (operand.kind == Kind::address && operand.base == ptx::AddressBase::reg)) {
    visit(operand);
    return;
  }
  if (operand.kind == Kind::vector || operand.kind == Kind::pair || operand.kind == Kind::tensor ||
      operand.kind == Kind::arguments) {
    for (const ptx::Operand& element : function.elements_of(operand))
      for_each_register(function, element, visit);
  }
}

// Calls `visit(operand)` for every variable that `operand` names: a symbol, the base of an address.
template <class Visit>
void for_each_symbol(const ptx::Function& function, const ptx::Operand& operand, Visit&& visit) {
  using Kind = ptx::OperandKind;
  if (operand.kind == Kind::symbol ||
      (operand.kind == Kind::address && operand.base == ptx::AddressBase::variable)) {
    visit(operand);
    return;
  }
  if (operand.kind == Kind::vector || operand.kind == Kind::pair || operand.kind == Kind::tensor ||
      operand.kind == Kind::arguments) {
    for (const ptx::Operand& element : function.elements_of(operand))
      for_each_symbol(function, element, visit);
  }
}

}  // namespace lw::program
