#pragma once
// Lays the operands of an instruction on the operand list of a row: which operand is which, and
// whether their shapes fit. Shapes are kinds, vector lengths and whether a register is a predicate;
// widths and value types are the verifier's matter. Shapes also choose between rows that share an
// opcode: `mov.b64 {a, b}, c` is not the form of `mov.b64 a, c`.

#include <optional>
#include <span>
#include <vector>

#include "ptx/forms.h"
#include "ptx/module.h"

namespace lw::ptx {

// Elements that the operand has: nothing where the pattern leaves it open, 0 for no vector.
std::optional<int> expected_length(const OperandSpec& spec, const Pattern& pattern,
                                   const Opcode& opcode);

bool shape_fits(const OperandSpec& spec, const Pattern& pattern, const Opcode& opcode,
                const Function& function, const Operand& operand);

// The specification of each operand of an instruction, in order.
using Binding = std::vector<const OperandSpec*>;
std::optional<Binding> bind_operands(const Pattern& pattern, const Opcode& opcode,
                                     const Function& function, std::span<const Operand> operands);

// The specification of each element behind the address in `[a, {x, y}]`.
std::optional<Binding> lay_parts(const OperandSpec& spec, const Pattern& pattern,
                                 const Opcode& opcode, const Function& function,
                                 const Operand& operand);

// The type that the operand has in this opcode; none where it has no value type.
Type type_of_operand(const OperandSpec& spec, const Pattern& pattern, const Opcode& opcode);

}  // namespace lw::ptx
