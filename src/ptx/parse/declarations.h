#pragma once
// Declarations: registers, variables of every state space, parameters, initialisers.
// PTX ISA, chapter State Spaces, Types, and Variables.

#include "ptx/parse/context.h"

namespace lw::ptx {

// `.reg .b32 %r<41>, a;` from behind `.reg` to behind the `;`. Each range and each run of plain
// names becomes a group of the function, and an item of its body.
bool parse_registers(Context& context, Function& function);

// `.global .align 4 .b8 table[4] = {1, 2};` from the state space on, to behind the `;`. Declared
// names get bound in `scope_table`; the ids are appended to `declared`.
bool parse_variables(Context& context, Linkage linkage, SymbolTable& scope_table,
                     std::vector<VariableId>& declared);

// `(.param .u64 a, .reg .b32 b)` with its parentheses. With `bind`, names enter the locals, and
// registers that function. The variables go to the module, or to `loose` for a prototype.
bool parse_parameters(Context& context, Function* bind, std::vector<VariableId>& ids,
                      std::vector<Variable>* loose = nullptr);

// A register of a range that has no id yet gets one here; nothing if no range has the name.
std::optional<RegisterId> find_register(Context& context, Function& function,
                                        std::string_view name);

// Binds a name at the current depth; an error if this scope has it already.
bool declare(Context& context, SymbolTable& table, const Token& name, SymbolKind kind, uint32_t id);

// `(.managed, .unified(1, 2))`, behind `.attribute`: each attribute as written.
bool parse_attributes(Cursor& cursor, std::vector<std::string>& attributes);

std::optional<Space> space_named(std::string_view word);

}  // namespace lw::ptx
