#pragma once
// A PTX module as typed data: what the parser makes, the printer prints, `program/` decodes and
// `rewrite/` changes. Everything is held by value in flat vectors and named by distinct ids, so
// that a Module copies, compares and hashes plainly; text -> Module -> text -> Module is the
// identity.
//
// Full opcodes (`ld.global.nc.v4.f32`) are interned: a module has few distinct ones (2,337 over all
// code ever measured), so modifiers, types and the form are worked out once per distinct text.

#include <array>
#include <bitset>
#include <compare>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/ids.h"
#include "ptx/tokens.h"  // Type, Mod, FormId, SpecialRegister: enums made from the .def tables

namespace lw::ptx {

using OpcodeId = base::Id<struct OpcodeTag>;      // index into Module::opcodes
using LocationId = base::Id<struct LocationTag>;  // index into Module::locations; 0 = no location
using FileId = base::Id<struct FileTag>;          // number given by `.file`
using VariableId = base::Id<struct VariableTag>;  // index into Module::variables
using FunctionId = base::Id<struct FunctionTag>;  // index into Module::functions
using RegisterId = base::Id<struct RegisterTag>;  // index into Function::registers
using LabelId = base::Id<struct LabelTag>;        // index into Function::labels

// A line or column of the text, from 1. Modules that differ only in these are equal.
struct TextPlace {
  uint32_t value = 0;

  constexpr TextPlace() = default;
  constexpr TextPlace(uint32_t number) : value(number) {}
  constexpr operator uint32_t() const { return value; }
  friend constexpr bool operator==(TextPlace, TextPlace) { return true; }
};

enum class Space : uint8_t { none, reg, sreg, constant, global, local, param, shared, tex };

// A full opcode, worked out: modifiers are a set (their order is free in PTX), types a sequence.
struct Opcode {
  std::string text;         // as first written, blanks removed: `ld.global.nc.v4.f32`
  FormId form{};            // the row of forms.def that it matches
  std::vector<Mod> mods;    // in the order written, types left out
  ModSet set;               // the same as a set
  std::vector<Type> types;  // in the order written

  bool has(Mod mod) const { return set.test(static_cast<size_t>(mod)); }
  Type type(size_t index = 0) const { return index < types.size() ? types[index] : Type::none; }
  friend bool operator==(const Opcode&, const Opcode&) = default;
};

enum class OperandKind : uint8_t {
  reg,        // id: RegisterId. `negated`: written `!p`
  special,    // id: SpecialRegister (with its component: `%tid.x` is one of its own)
  immediate,  // value: the bits (integers sign-extended to 64; 0f.. and 0d.. and decimals by
              // `literal`)
  symbol,     // address of a variable: id: VariableId, value: byte offset
  function,   // id: FunctionId
  label,      // id: LabelId
  list,       // id: index into Function::targets (.branchtargets, .calltargets, .callprototype)
  address,    // [base + value]: `base` says what id is; component 1: written `[a].unified`
  tensor,  // [base + value, {elements}] and [base, {..}, {..}]: first element is the address, then
           // vectors
  vector,  // {elements}
  pair,    // d|p: two elements
  sink,    // _
  arguments,  // (elements): parameters of a call
};

// Video operands pick bytes or halves: `a.b3`, `a.h1`, `a.b7654`, `a.h32`. `component` is kSelector
// and `value` holds the digits as nibbles, the first one highest, above them their number, and in
// bit 24 whether they count halves.
inline constexpr uint8_t kSelector = 5;

enum class AddressBase : uint8_t { none, reg, variable };
enum class Literal : uint8_t { none, integer, unsigned_integer, f32_bits, f64_bits, decimal };

struct Operand {
  OperandKind kind = OperandKind::sink;
  AddressBase base = AddressBase::none;
  Literal literal = Literal::none;
  bool negated = false;
  uint8_t component = 0;  // of a vector register: 0 none, 1 .x/.r, 2 .y/.g, 3 .z/.b, 4 .w/.a;
                          // kSelector: bytes or halves of a video operand, digits in `value`
  uint32_t id = 0;
  uint32_t count = 0;  // elements of vector, pair, tensor, arguments
  uint32_t first = 0;  // their first index in Function::elements
  int64_t value = 0;   // immediate bits (a `decimal` float as f64 bits), byte offset

  RegisterId reg() const { return RegisterId(id); }
  VariableId variable() const { return VariableId(id); }
  LabelId label() const { return LabelId(id); }
  FunctionId function() const { return FunctionId(id); }
  SpecialRegister special() const { return static_cast<SpecialRegister>(id); }
  friend bool operator==(const Operand&, const Operand&) = default;
};

struct Instruction {
  OpcodeId opcode;
  uint32_t first_operand = 0;  // index into Function::operands
  uint16_t operand_count = 0;
  bool guarded = false;  // @p or @!p
  bool guard_negated = false;
  RegisterId guard;
  LocationId location;
  TextPlace line;  // of the PTX text
  TextPlace column;
  friend bool operator==(const Instruction&, const Instruction&) = default;
};

struct Register {
  std::string name;
  Type type = Type::none;
  uint8_t vector = 1;  // .v2, .v4 registers
  friend bool operator==(const Register&, const Register&) = default;
};

struct Label {
  std::string name;
  uint32_t target =
      0;  // index of the instruction it stands before; Function::instructions.size() at the end
  friend bool operator==(const Label&, const Label&) = default;
};

// One element of an initialiser: a number, or the address of a symbol (generic or in its space).
struct Initial {
  enum class Kind : uint8_t { number, variable, function } kind = Kind::number;
  bool generic = false;  // written generic(symbol)
  uint64_t bits = 0;     // number, or byte offset added to the symbol
  uint32_t id = 0;       // VariableId or FunctionId
  uint64_t mask = 0;     // mask(symbol) forms, 0: none
  friend bool operator==(const Initial&, const Initial&) = default;
};

enum class Linkage : uint8_t { internal, visible, weak, external, common };

struct Variable {
  std::string name;
  Space space = Space::none;
  Linkage linkage = Linkage::internal;
  Type type = Type::none;
  uint8_t vector = 1;
  uint32_t align = 0;          // 0: natural
  std::vector<uint64_t> dims;  // empty: scalar; a leading 0: unsized `[]`
  bool pointer = false;        // .ptr on a kernel parameter
  Space pointer_space = Space::none;
  uint32_t pointer_align = 0;
  bool has_initial = false;
  std::vector<Initial> initial;         // trailing zeros may be left out
  std::vector<std::string> attributes;  // as written, e.g. `.managed`
  std::string opaque_initial;           // of a .samplerref, .texref or .surfref, as written
  TextPlace line;

  uint64_t size_bytes() const;   // 0 for unsized
  uint32_t align_bytes() const;  // stated or natural
  friend bool operator==(const Variable&, const Variable&) = default;
};

// Where source code stands, from `.loc`; 0 entries mean unknown.
struct Location {
  FileId file;
  uint32_t line = 0;
  uint32_t column = 0;
  std::string function;  // label named by function_name, empty if none
  uint32_t function_offset = 0;
  LocationId inlined_at;      // 0: not inlined
  bool intermediate = false;  // `.loc_intermediate`: in the source of an intermediate language
  friend bool operator==(const Location&, const Location&) = default;
};

struct File {
  FileId id;
  std::string name;
  uint64_t timestamp = 0;
  uint64_t size = 0;
  friend bool operator==(const File&, const File&) = default;
};

// The order of everything in a body, so that it prints back as it was read.
struct Item {
  enum class Kind : uint8_t {
    instruction,
    label,
    registers,
    variable,
    open_scope,
    close_scope,
    location,
    pragma,
    branch_targets,
    call_targets,
    call_prototype
  } kind;
  uint32_t index =
      0;  // into instructions, labels, Function::register_groups, Module::variables, ...
  friend bool operator==(const Item&, const Item&) = default;
};

// `.reg .b32 %r<41>;` or `.reg .pred p, q;`
struct RegisterGroup {
  Type type = Type::none;
  uint8_t vector = 1;
  std::string prefix;  // `%r` with count, or empty
  uint32_t count = 0;
  std::vector<std::string> names;  // without `<n>`
  friend bool operator==(const RegisterGroup&, const RegisterGroup&) = default;
};

struct TargetList {               // .branchtargets, .calltargets, .callprototype
  std::string name;               // of the label in front
  std::vector<uint32_t> ids;      // LabelId or FunctionId
  std::vector<Variable> returns;  // prototype
  std::vector<Variable> params;
  bool no_return = false;
  std::vector<std::string> directives;  // others behind a prototype, as written
  friend bool operator==(const TargetList&, const TargetList&) = default;
};

struct Function {
  std::string name;
  bool entry = false;
  bool defined = false;  // has a body
  bool no_return = false;
  Linkage linkage = Linkage::internal;
  std::vector<VariableId> returns;
  std::vector<VariableId> params;
  std::vector<uint32_t> max_threads;       // .maxntid
  std::vector<uint32_t> required_threads;  // .reqntid
  std::vector<uint32_t> required_cluster;  // .reqnctapercluster
  uint32_t min_ctas = 0;                   // .minnctapersm
  uint32_t max_registers = 0;              // .maxnreg
  uint32_t max_cluster_rank = 0;
  bool explicit_cluster = false;
  bool blocks_are_clusters = false;
  std::vector<std::string> pragmas;  // before the body
  std::vector<std::string> other_directives;
  std::vector<std::string> attributes;  // as written, e.g. `.unified(1, 2)`

  std::vector<Item> items;
  std::vector<Instruction> instructions;
  std::vector<Operand> operands;
  std::vector<Operand> elements;    // of vectors, pairs, tensor addresses, argument lists
  std::vector<Register> registers;  // declared by name, or first used from a range
  std::vector<RegisterGroup> register_groups;
  std::vector<Label> labels;
  std::vector<TargetList> targets;
  std::vector<std::string> body_pragmas;
  TextPlace line;

  std::span<const Operand> operands_of(const Instruction& instruction) const {
    return {operands.data() + instruction.first_operand, instruction.operand_count};
  }
  std::span<const Operand> elements_of(const Operand& operand) const {
    return {elements.data() + operand.first, operand.count};
  }
  friend bool operator==(const Function&, const Function&) = default;
};

// `.section .debug_str { ... }`, kept as text.
struct Section {
  std::string name;
  bool directive = false;  // the name is a directive of its own: no `.section` in front
  std::string body;
  friend bool operator==(const Section&, const Section&) = default;
};

struct Module {
  std::string file;  // name of the text it came from, for messages
  uint32_t version_major = 0;
  uint32_t version_minor = 0;
  std::vector<std::string> target;  // `sm_90a`, `debug`, ...
  uint32_t address_size = 64;

  std::vector<Opcode> opcodes;
  std::vector<Variable> variables;  // of the module and of all functions; parameters too
  std::vector<Function> functions;
  std::vector<Location> locations;  // [0] is the unknown one
  std::vector<File> files;
  std::vector<Section> sections;
  struct TopLevel {  // order of printing
    enum class Kind : uint8_t { variable, function, section, pragma, alias, file } kind;
    uint32_t index = 0;
    friend bool operator==(const TopLevel&, const TopLevel&) = default;
  };
  std::vector<TopLevel> order;
  std::vector<std::string> pragmas;
  struct Alias {
    FunctionId name;
    FunctionId target;
    friend bool operator==(const Alias&, const Alias&) = default;
  };
  std::vector<Alias> aliases;

  const Opcode& opcode_of(const Instruction& instruction) const {
    return opcodes[instruction.opcode.value];
  }
  std::optional<FunctionId> find_function(std::string_view name) const;
  const File* find_file(FileId id) const;
  friend bool operator==(const Module&, const Module&) = default;
};

}  // namespace lw::ptx
