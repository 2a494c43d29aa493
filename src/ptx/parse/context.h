#pragma once
// What the parts of the parser share while a module is read.

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ptx/module.h"
#include "ptx/parse/cursor.h"
#include "ptx/parse/opcode_table.h"
#include "ptx/parse/symbols.h"

namespace lw::ptx {

// `%r<41>` of the function being read.
struct RegisterRange {
  std::string_view prefix;
  uint32_t count = 0;
  Type type = Type::none;
  uint8_t vector = 1;
  uint32_t scope = 0;
};

struct Context {
  Context(Module& result, std::string_view text)
      : module(result), cursor(text, result.file), opcodes(result) {}

  // Innermost scope first: names of the function, then of the module.
  Symbol find(std::string_view name) const {
    const Symbol local = locals.find(name);
    return local.kind != SymbolKind::none ? local : globals.find(name);
  }

  // Complains about a name that has not the meaning it should have, once for each name, and not at
  // all where a declaration could not be read.
  bool fail_name(const Token& name, std::string message, std::string hint = "");

  Module& module;
  Cursor cursor;
  bool lost_global = false;  // a declaration of the module could not be read
  bool lost_local = false;   // one of the current function
  SymbolTable globals;       // variables and functions of the module
  SymbolTable locals;        // registers, variables, parameters and lists of the current function
  std::vector<RegisterRange> ranges;                // those in scope, innermost last
  std::vector<std::string_view> register_names;     // of Function::registers, in the text
  std::vector<std::string_view> doubtful_prefixes;  // of numbered registers, see SymbolKind
  OpcodeTable opcodes;
  std::unordered_map<uint64_t, LocationId> location_at;  // the last `.loc` of each place
  // A function declared before and defined later has two entries: (first, last).
  std::vector<std::pair<FunctionId, FunctionId>> redeclared;
  std::vector<std::pair<VariableId, VariableId>> redeclared_variables;
};

// The id of the next element of a vector.
template <class IdType, class Vector>
IdType next_id(const Vector& vector) {
  return IdType(static_cast<uint32_t>(vector.size()));
}

}  // namespace lw::ptx
