#include "ptx/parse/declarations.h"

#include <fmt/format.h>

#include <bit>
#include <charconv>

#include "ptx/parse/constant.h"
#include "ptx/parse/initial.h"

namespace lw::ptx {
namespace {

constexpr uint64_t kMostElements = uint64_t{1} << 40;
constexpr uint32_t kMostRegisters = 1u << 24;

void add_register_group(Function& function, RegisterGroup group) {
  const auto index = static_cast<uint32_t>(function.register_groups.size());
  function.items.push_back({Item::Kind::registers, index});
  function.register_groups.push_back(std::move(group));
}

uint32_t add_register(Context& context, Function& function, std::string_view name, Type type,
                      uint8_t vector) {
  function.registers.push_back({std::string(name), type, vector});
  context.register_names.push_back(name);
  return static_cast<uint32_t>(function.registers.size() - 1);
}

// `%r17` in `%r<41>`: 17. Numbers have no leading zeros.
std::optional<uint32_t> number_in_range(const RegisterRange& range, std::string_view name) {
  if (!name.starts_with(range.prefix) || name.size() == range.prefix.size()) return std::nullopt;
  const std::string_view digits = name.substr(range.prefix.size());
  if (digits.size() > 1 && digits[0] == '0') return std::nullopt;
  uint32_t number = 0;
  const char* end = digits.data() + digits.size();
  const auto [stop, error] = std::from_chars(digits.data(), end, number);
  if (error != std::errc() || stop != end || number >= range.count) return std::nullopt;
  return number;
}

std::optional<uint32_t> vector_named(std::string_view word) {
  if (word == "v2") return 2;
  if (word == "v4") return 4;
  if (word == "v8") return 8;
  return std::nullopt;
}

std::optional<uint32_t> parse_small_number(Cursor& cursor, std::string_view what, uint32_t most) {
  if (cursor.token().kind != TokenKind::number) {
    cursor.fail_expected(what);
    return std::nullopt;
  }
  const auto number = parse_number(cursor.token().text);
  if (!number || number->bits > most) {
    cursor.fail(fmt::format("`{}` is too large for {}", cursor.token().text, what),
                fmt::format("write at most {}", most));
    return std::nullopt;
  }
  cursor.advance();
  return static_cast<uint32_t>(number->bits);
}

bool parse_align(Cursor& cursor, uint32_t& align) {
  const Token where = cursor.token();
  const auto number = parse_small_number(cursor, "an alignment", 1u << 30);
  if (!number) return false;
  if (!std::has_single_bit(*number)) {
    return cursor.fail(where, fmt::format("alignment {} is not a power of two", *number),
                       fmt::format("write {}", std::bit_ceil(*number)));
  }
  align = *number;
  return true;
}

// `.ptr .global .align 16` of a kernel parameter.
bool parse_pointer(Cursor& cursor, Variable& variable) {
  variable.pointer = true;
  while (cursor.at_word()) {
    if (cursor.accept_word("align")) {
      if (!parse_align(cursor, variable.pointer_align)) return false;
    } else if (const auto space = space_named(cursor.token().text)) {
      variable.pointer_space = *space;
      cursor.advance();
    } else {
      break;
    }
  }
  return true;
}

// The dot-words between the state space and the name.
bool parse_qualifiers(Cursor& cursor, Variable& variable) {
  while (cursor.at_word()) {
    const Token where = cursor.token();
    const std::string_view word = where.text;
    const auto type = find_type(word);
    const auto vector = vector_named(word);
    cursor.advance();
    if (word == "align") {
      if (!parse_align(cursor, variable.align)) return false;
    } else if (word == "attribute") {
      if (!parse_attributes(cursor, variable.attributes)) return false;
    } else if (word == "ptr") {
      if (!parse_pointer(cursor, variable)) return false;
    } else if (vector) {
      variable.vector = static_cast<uint8_t>(*vector);
    } else if (type) {
      variable.type = *type;
    } else {
      return cursor.fail(where, fmt::format("`.{}` has no meaning in a declaration", word),
                         "between the state space and the name stand `.align`, `.v2` or `.v4`, and "
                         "the type");
    }
  }
  return variable.type != Type::none ||
         cursor.fail_expected("a type such as `.b32`", "write the type in front of the name");
}

// `[4][8]`, `[]`.
bool parse_dimensions(Cursor& cursor, std::vector<uint64_t>& dims) {
  uint64_t elements = 1;
  while (cursor.accept('[')) {
    if (cursor.accept(']')) {
      if (!dims.empty()) {
        return cursor.fail("only the first dimension may be left open", "write its size");
      }
      dims.push_back(0);
      continue;
    }
    const Token where = cursor.token();
    const auto size = parse_constant_expression(cursor);
    if (!size || !cursor.expect(']', "after the size of an array")) return false;
    const bool is_integer =
        size->literal == Literal::integer || size->literal == Literal::unsigned_integer;
    if (!is_integer || size->bits == 0 || size->bits > kMostElements / elements) {
      return cursor.fail(where, "an array cannot have this size",
                         "write a number of elements, at least 1");
    }
    elements *= size->bits;
    dims.push_back(size->bits);
  }
  return true;
}

bool parse_initialiser(Context& context, Variable& variable) {
  if (!context.cursor.at('=')) return true;
  if (variable.space != Space::global && variable.space != Space::constant) {
    return context.cursor.fail(
        fmt::format("`{}` cannot have an initial value in its state space", variable.name),
        "only `.global` and `.const` variables have one; store it at the begin of the kernel");
  }
  context.cursor.advance();
  const bool opaque = kind_of(variable.type) == TypeKind::opaque;
  return opaque ? parse_opaque_initial(context.cursor, variable.opaque_initial)
                : parse_initial(context, variable);
}

// Hides the registers that an outer range of this prefix has given names.
void hide_registers(Context& context, const RegisterRange& range) {
  for (const RegisterRange& outer : context.ranges) {
    if (outer.prefix != range.prefix) continue;
    for (std::string_view name : context.register_names) {
      const auto number = number_in_range(range, name);
      if (number) context.locals.bind(name, SymbolKind::none, 0);
    }
    return;
  }
}

// `%r<41>` from the `<` on.
bool parse_range(Context& context, Function& function, const Token& name, RegisterGroup group) {
  Cursor& cursor = context.cursor;
  if (!cursor.expect('<', "after the prefix of registers")) return false;
  const auto count = parse_small_number(cursor, "a number of registers", kMostRegisters);
  if (!count || !cursor.expect('>', "after the number of registers")) return false;
  group.prefix = name.text;
  group.count = *count;
  const RegisterRange range{name.text, *count, group.type, group.vector, context.locals.depth()};
  for (const RegisterRange& other : context.ranges) {
    if (other.prefix != range.prefix || other.scope != range.scope) continue;
    return cursor.fail(name, fmt::format("`{}<{}>` is declared twice", name.text, *count),
                       "give one of the ranges another prefix");
  }
  hide_registers(context, range);
  context.ranges.push_back(range);
  add_register_group(function, std::move(group));
  return true;
}

// One `.reg` declares ranges and plain names in any order; runs of plain names stay together.
bool parse_register_names(Context& context, Function& function, const RegisterGroup& head) {
  Cursor& cursor = context.cursor;
  RegisterGroup names = head;
  do {
    const Token name = cursor.token();
    if (cursor.expect_name("the name of a register").empty()) return false;
    if (cursor.at('<')) {
      if (!names.names.empty()) add_register_group(function, std::exchange(names, head));
      if (!parse_range(context, function, name, head)) return false;
    } else {
      const uint32_t id = add_register(context, function, name.text, head.type, head.vector);
      if (!declare(context, context.locals, name, SymbolKind::reg, id)) return false;
      names.names.emplace_back(name.text);
    }
  } while (cursor.accept(','));
  if (!names.names.empty()) add_register_group(function, std::move(names));
  return true;
}

// An external variable may be declared again, and defined.
bool declare_variable(Context& context, SymbolTable& table, const Token& name, VariableId id) {
  const Symbol before = table.find(name.text);
  const bool external = before.kind == SymbolKind::variable && table.depth() == 0 &&
                        context.module.variables[before.id].linkage == Linkage::external;
  if (!external) return declare(context, table, name, SymbolKind::variable, id.value);
  context.redeclared_variables.emplace_back(VariableId(before.id), id);
  table.bind(name.text, SymbolKind::variable, id.value);
  return true;
}

// Names of one declaration: `a[4] = {1, 2}, b`.
bool parse_declarators(Context& context, const Variable& head, SymbolTable& scope_table,
                       std::vector<VariableId>& declared) {
  Cursor& cursor = context.cursor;
  do {
    const Token name = cursor.token();
    Variable variable = head;
    variable.name = cursor.expect_name("the name of a variable");
    variable.line = name.line;
    if (variable.name.empty() || !parse_dimensions(cursor, variable.dims)) return false;
    const auto id = next_id<VariableId>(context.module.variables);
    context.module.variables.push_back(variable);
    if (!declare_variable(context, scope_table, name, id)) return false;
    declared.push_back(id);
    if (!parse_initialiser(context, variable)) return false;
    context.module.variables[id.value] = std::move(variable);
  } while (cursor.accept(','));
  return true;
}

bool parse_parameter(Context& context, Function* bind, Variable& parameter) {
  Cursor& cursor = context.cursor;
  const bool is_register = cursor.accept_word("reg");
  if (!is_register && !cursor.accept_word("param")) {
    return cursor.fail_expected("`.param` or `.reg`");
  }
  parameter.space = is_register ? Space::reg : Space::param;
  if (!parse_qualifiers(cursor, parameter)) return false;
  const Token name = cursor.token();
  parameter.name = cursor.expect_name("the name of a parameter");
  parameter.line = name.line;
  if (parameter.name.empty() || !parse_dimensions(cursor, parameter.dims)) return false;
  if (bind == nullptr || parameter.name == "_") return true;
  if (!is_register) {
    const auto id = next_id<VariableId>(context.module.variables);
    return declare(context, context.locals, name, SymbolKind::variable, id.value);
  }
  const uint32_t id = add_register(context, *bind, name.text, parameter.type, parameter.vector);
  return declare(context, context.locals, name, SymbolKind::reg, id);
}

}  // namespace

std::optional<Space> space_named(std::string_view word) {
  if (word == "global") return Space::global;
  if (word == "const") return Space::constant;
  if (word == "shared" || word == "shared::cta" || word == "shared::cluster") return Space::shared;
  if (word == "local") return Space::local;
  if (word == "param") return Space::param;
  if (word == "reg") return Space::reg;
  if (word == "tex") return Space::tex;
  return std::nullopt;
}

// `.attribute(.managed, .unified(1, 2))`: each attribute as written.
bool parse_attributes(Cursor& cursor, std::vector<std::string>& attributes) {
  if (!cursor.expect('(', "after `.attribute`")) return false;
  do {
    if (!cursor.at_word()) return cursor.fail_expected("an attribute such as `.managed`");
    std::string text = fmt::format(".{}", cursor.token().text);
    cursor.advance();
    if (cursor.accept('(')) {
      text += '(';
      while (!cursor.at(')') && !cursor.at_end() && !cursor.at(';')) {
        text += cursor.token().text;
        cursor.advance();
      }
      text += ')';
      if (!cursor.expect(')', "at the end of an attribute")) return false;
    }
    attributes.push_back(text);
  } while (cursor.accept(','));
  return cursor.expect(')', "after the attributes");
}

bool declare(Context& context, SymbolTable& table, const Token& name, SymbolKind kind,
             uint32_t id) {
  const Symbol before = table.find(name.text);
  const bool taken = before.kind != SymbolKind::none && before.kind != SymbolKind::doubtful;
  if (taken && before.scope == table.depth()) {
    return context.cursor.fail(name, fmt::format("`{}` is declared twice", name.text),
                               "give one of them another name");
  }
  table.bind(name.text, kind, id);
  return true;
}

bool parse_registers(Context& context, Function& function) {
  Cursor& cursor = context.cursor;
  Variable head;
  if (!parse_qualifiers(cursor, head)) return false;
  RegisterGroup group;
  group.type = head.type;
  group.vector = head.vector;
  return parse_register_names(context, function, group) &&
         cursor.expect_end("after the declaration of registers");
}

bool parse_variables(Context& context, Linkage linkage, SymbolTable& scope_table,
                     std::vector<VariableId>& declared) {
  Cursor& cursor = context.cursor;
  Variable head;
  head.linkage = linkage;
  const auto space = cursor.at_word() ? space_named(cursor.token().text) : std::nullopt;
  if (!space) return cursor.fail_expected("a state space such as `.global`");
  head.space = *space;
  cursor.advance();
  return parse_qualifiers(cursor, head) &&
         parse_declarators(context, head, scope_table, declared) &&
         cursor.expect_end("after the declaration");
}

bool parse_parameters(Context& context, Function* bind, std::vector<VariableId>& ids,
                      std::vector<Variable>* loose) {
  Cursor& cursor = context.cursor;
  if (!cursor.expect('(', "before parameters")) return false;
  if (cursor.accept(')')) return true;
  do {
    Variable parameter;
    if (!parse_parameter(context, bind, parameter)) return false;
    if (loose != nullptr) {
      loose->push_back(std::move(parameter));
    } else {
      ids.push_back(next_id<VariableId>(context.module.variables));
      context.module.variables.push_back(std::move(parameter));
    }
  } while (cursor.accept(','));
  return cursor.expect(')', "after the parameters", "separate parameters with `,`");
}

std::optional<RegisterId> find_register(Context& context, Function& function,
                                        std::string_view name) {
  for (auto range = context.ranges.rbegin(); range != context.ranges.rend(); ++range) {
    if (!number_in_range(*range, name)) continue;
    const uint32_t id = add_register(context, function, name, range->type, range->vector);
    context.locals.bind(name, SymbolKind::reg, id, range->scope);
    return RegisterId(id);
  }
  return std::nullopt;
}

}  // namespace lw::ptx
