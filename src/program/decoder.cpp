#include "program/decoder.h"

#include "program/operands.h"

namespace lw::program {

bool Decoder::is_wide(const ptx::Operand& operand) const {
  return ptx::bits_of(declared(operand)) > 32;
}

Op& Decoder::emit(Handlers handlers, Slot d, Slot a, Slot b, Slot c) {
  Op& op = emit(handlers);
  op.d = d;
  op.a = a;
  op.b = b;
  op.c = c;
  return op;
}

std::vector<Slot> Decoder::sources(const ptx::Operand& operand, ptx::Type type) {
  std::vector<Slot> slots;
  if (operand.kind != ptx::OperandKind::vector) {
    parts(operand, type, false, slots);
  } else {
    for (const ptx::Operand& element : elements(operand)) parts(element, type, false, slots);
  }
  return slots;
}

std::vector<Slot> Decoder::results(const ptx::Operand& operand, ptx::Type type) {
  std::vector<Slot> slots;
  if (operand.kind != ptx::OperandKind::vector) {
    parts(operand, type, true, slots);
  } else {
    for (const ptx::Operand& element : elements(operand)) parts(element, type, true, slots);
  }
  return slots;
}

}  // namespace lw::program
