#include "ptx/parse/function_parser.h"

#include <fmt/format.h>

#include "ptx/numbers.h"
#include "ptx/parse/declarations.h"
#include "ptx/parse/recovery.h"

namespace lw::ptx {
namespace {

// Nearly always a key of its own; who finds an entry by it compares the place too.
uint64_t key_of(const Location& place) {
  return uint64_t{place.file.value} << 48 ^ uint64_t { place.line } << 16 ^ place.column;
}

}  // namespace

bool FunctionParser::parse(bool entry, Linkage linkage) {
  context_.locals.clear();
  context_.locals.open();
  context_.ranges.clear();
  context_.register_names.clear();
  context_.doubtful_prefixes.clear();
  context_.lost_local = false;
  function_.linkage = linkage;
  const bool valid = header(entry) && body_or_end();
  context_.locals.clear();
  if (valid) context_.module.functions[id_.value] = std::move(function_);
  return valid;
}

bool FunctionParser::body_or_end() {
  if (begins_body(cursor_) && cursor_.first_on_line()) {
    cursor_.fail_expected("`{` before the body of a function", "write `{` in front of it");
  } else if (!cursor_.accept('{')) {
    return cursor_.expect_end("or a body in braces after the head of a function");
  }
  function_.defined = true;
  return body();
}

// Header -----------------------------------------------------------------------------------------

bool FunctionParser::header(bool entry) {
  function_.entry = entry;
  if (!entry && cursor_.accept_word("attribute") &&
      !parse_attributes(cursor_, function_.attributes)) {
    return false;
  }
  if (!entry && cursor_.at('(') && !parse_parameters(context_, &function_, function_.returns)) {
    return false;
  }
  const Token name = cursor_.token();
  function_.name = cursor_.expect_name("the name of the function");
  function_.line = name.line;
  if (function_.name.empty() || !declare_function(name)) return false;
  if (cursor_.at('(') && !parse_parameters(context_, &function_, function_.params)) return false;
  return directives();
}

// A function may be declared before it is defined; it then has one entry for each.
bool FunctionParser::declare_function(const Token& name) {
  const Symbol before = context_.globals.find(name.text);
  id_ = next_id<FunctionId>(context_.module.functions);
  if (before.kind == SymbolKind::function) {
    const Function& first = context_.module.functions[before.id];
    if (first.entry != function_.entry || first.defined) {
      return cursor_.fail(name, fmt::format("`{}` is defined already", name.text),
                          "give one of them another name");
    }
    context_.redeclared.emplace_back(FunctionId(before.id), id_);
  } else if (before.kind != SymbolKind::none && before.kind != SymbolKind::doubtful) {
    return cursor_.fail(name, fmt::format("`{}` is declared twice", name.text),
                        "give one of them another name");
  }
  context_.globals.bind(name.text, SymbolKind::function, id_.value);
  context_.module.order.push_back({Module::TopLevel::Kind::function, id_.value});
  Function placeholder;  // calls inside the body find the name; the rest comes at the end
  placeholder.name = function_.name;
  placeholder.entry = function_.entry;
  context_.module.functions.push_back(std::move(placeholder));
  return true;
}

bool FunctionParser::directives() {
  while (cursor_.at_word() && !begins_body(cursor_) && !begins_declaration(cursor_)) {
    const Token word = cursor_.token();
    cursor_.advance();
    if (!directive(word)) return false;
  }
  return true;
}

bool FunctionParser::directive(const Token& where) {
  Function& f = function_;
  const std::string_view word = where.text;
  if (word == "maxntid") return numbers(f.max_threads, 3);
  if (word == "reqntid") return numbers(f.required_threads, 3);
  if (word == "reqnctapercluster") return numbers(f.required_cluster, 3);
  if (word == "minnctapersm") return number(f.min_ctas);
  if (word == "maxnreg") return number(f.max_registers);
  if (word == "maxclusterrank") return number(f.max_cluster_rank);
  if (word == "explicitcluster") return f.explicit_cluster = true;
  if (word == "blocksareclusters") return f.blocks_are_clusters = true;
  if (word == "noreturn") return f.no_return = true;
  if (word == "pragma") {
    if (cursor_.token().kind != TokenKind::string) return cursor_.fail_expected("a string");
    f.pragmas.emplace_back(cursor_.token().text);
    cursor_.advance();
    return cursor_.expect_end("after a pragma");
  }
  if (word == "language") return languages();
  if (word == "abi_preserve" || word == "abi_preserve_control" || word == "maxnctapersm" ||
      word == "minperctamemory") {
    uint32_t count = 0;
    if (!number(count)) return false;
    f.other_directives.push_back(fmt::format(".{} {}", word, count));
    return true;
  }
  return cursor_.fail(where, fmt::format("`.{}` is not a directive of functions", word),
                      "directives such as `.maxntid 128` stand between the parameters and `{`");
}

// `.language "cuda c++", 7`
bool FunctionParser::languages() {
  std::string text = ".language ";
  do {
    const Token& name = cursor_.token();
    const bool quoted = name.kind == TokenKind::string;
    if (!quoted && name.kind != TokenKind::number) return cursor_.fail_expected("a language");
    if (text.back() != ' ') text += ", ";
    text += quoted ? fmt::format("\"{}\"", name.text) : std::string(name.text);
    cursor_.advance();
  } while (cursor_.accept(','));
  function_.other_directives.push_back(std::move(text));
  return true;
}

bool FunctionParser::number(uint32_t& value) {
  const auto parsed =
      cursor_.token().kind == TokenKind::number ? parse_number(cursor_.token().text) : std::nullopt;
  if (!parsed || parsed->bits > UINT32_MAX) {
    return cursor_.fail_expected("a number", "write an integer of at most 32 bits");
  }
  value = static_cast<uint32_t>(parsed->bits);
  cursor_.advance();
  return true;
}

bool FunctionParser::numbers(std::vector<uint32_t>& values, size_t most) {
  values.clear();
  do {
    if (values.size() == most) {
      return cursor_.fail(fmt::format("at most {} numbers stand here", most),
                          "leave the others out");
    }
    if (!number(values.emplace_back())) return false;
  } while (cursor_.accept(','));
  return true;
}

// Body -------------------------------------------------------------------------------------------

bool FunctionParser::body() {
  scopes_.emplace_back();
  while (!scopes_.empty()) {
    if (cursor_.gave_up()) return false;
    if (cursor_.at_end() || at_declaration()) {
      never_closed();
      return true;
    }
    statement();
  }
  return true;
}

void FunctionParser::never_closed() {
  cursor_.fail(fmt::format("`{}` has no closing brace", function_.name),
               cursor_.at_end() ? "close its body with `}`"
                                : "close its body with `}` before this declaration");
  context_.lost_local = true;  // labels may stand in the missing part, or in another scope
  while (!scopes_.empty()) leave_scope();
}

// A declaration of the module: the body it stands in has lost its end.
bool FunctionParser::at_declaration() {
  if (begins_declaration(cursor_)) return true;
  if (!cursor_.at_word("extern")) return false;
  const Cursor::Mark here = cursor_.mark();
  cursor_.advance();
  const bool is_function = cursor_.at_word("func") || cursor_.at_word("entry");
  cursor_.reset(here);
  return is_function;
}

void FunctionParser::statement() {
  if (cursor_.at('{')) return open_scope();
  if (cursor_.at('}')) return closes_too_early() ? cursor_.advance() : close_scope();
  const Cursor::Mark start = cursor_.mark();
  const size_t operands = function_.operands.size();
  bool valid = false;
  if (cursor_.at_name()) {
    const Token first = cursor_.token();
    Instruction plain;
    const bool is_opcode = cursor_.lexer().touches('.') || !cursor_.lexer().comes(':');
    valid = is_opcode ? instruction(plain, first) : label(first);
  } else if (cursor_.at('@')) {
    valid = guarded();
  } else if (cursor_.at_word()) {
    valid = directive_in_body();
  } else {
    cursor_.fail_expected("an instruction, a label or a directive",
                          "a statement begins with a name, `@` or `.`, and ends with `;`");
  }
  if (valid) return;
  function_.operands.resize(std::min(operands, function_.operands.size()));
  while (!pending_.empty() && pending_.back().operand >= operands) pending_.pop_back();
  skip_statement(context_, start);
}

// Whether statements follow the brace that closes the body: then it is one too many, and is passed.
bool FunctionParser::closes_too_early() {
  if (scopes_.size() > 1) return false;
  const Cursor::Mark brace = cursor_.mark();
  cursor_.advance();
  const bool goes_on = begins_body(cursor_);
  cursor_.reset(brace);
  if (!goes_on) return false;
  cursor_.fail(fmt::format("a brace closes `{}`, and instructions follow it", function_.name),
               "leave it out, or open a scope for it");
  return true;
}

bool FunctionParser::guarded() {
  cursor_.advance();
  Instruction result;
  OperandParser operands(context_, function_, pending_);
  if (!operands.parse_guard(result)) return false;
  const Token first = cursor_.token();
  if (first.kind != TokenKind::name) {
    return cursor_.fail_expected("an instruction behind its guard", "write `@p bra DONE;`");
  }
  return instruction(result, first);
}

// With the opcode's first name as the current token, and nothing behind it read yet.
bool FunctionParser::instruction(Instruction& result, const Token& first) {
  const Lexer::Opcode opcode = cursor_.take_opcode();
  OpcodeTable::Entry& entry = context_.opcodes.intern(opcode.text, opcode.has_blanks);
  if (entry.candidates.empty()) {
    if (forms_of_base(entry.base).empty()) {  // a label without its colon?
      context_.locals.bind(first.text, SymbolKind::doubtful, 0);
    }
    Mismatch mismatch = explain_mismatch(split_opcode(entry.text));
    return cursor_.fail(first, std::move(mismatch.message), std::move(mismatch.hint));
  }
  result.first_operand = static_cast<uint32_t>(function_.operands.size());
  OperandParser operands(context_, function_, pending_);
  const size_t errors = cursor_.errors();
  const bool valid = operands.parse_all(entry.base) &&
                     (cursor_.at(';') || cursor_.fail_no_end("after an instruction"));
  if (!valid) {
    if (cursor_.errors() != errors) cursor_.add_hint(hint_of(entry));
    return false;
  }
  result.operand_count = static_cast<uint16_t>(function_.operands.size() - result.first_operand);
  if (!choose_form(result, first, entry)) return false;
  cursor_.advance();
  result.line = first.line;
  result.column = first.column;
  result.location = location_;
  const auto index = static_cast<uint32_t>(function_.instructions.size());
  function_.items.push_back({Item::Kind::instruction, index});
  function_.instructions.push_back(result);
  return true;
}

bool FunctionParser::choose_form(Instruction& result, const Token& first,
                                 OpcodeTable::Entry& entry) {
  const auto opcode = context_.opcodes.choose(entry, function_, function_.operands_of(result));
  if (opcode) {
    result.opcode = *opcode;
    return true;
  }
  return cursor_.fail(first, fmt::format("no form of `{}` takes these operands", entry.text),
                      hint_of(entry));
}

std::string FunctionParser::hint_of(const OpcodeTable::Entry& entry) {
  std::string forms;
  for (FormId form : entry.candidates) {
    forms += fmt::format("{}`{}`", forms.empty() ? "" : " and ", syntax_of(form));
  }
  return fmt::format("the form{} {}", entry.candidates.size() == 1 ? " is" : "s are", forms);
}

bool FunctionParser::directive_in_body() {
  const Token where = cursor_.token();
  const std::string_view word = where.text;
  if (word == "reg") {
    cursor_.advance();
    return parse_registers(context_, function_);
  }
  if (word == "loc" || word == "loc_intermediate") return location(word != "loc");
  if (word == "pragma") return pragma();
  if (space_named(word)) return local_variables(Linkage::internal);
  if (cursor_.accept_word("extern")) return local_variables(Linkage::external);
  return cursor_.fail(fmt::format("`.{}` is not a directive of function bodies", word),
                      "declare registers by `.reg` and variables by their state space");
}

bool FunctionParser::local_variables(Linkage linkage) {
  std::vector<VariableId> declared;
  const bool valid = parse_variables(context_, linkage, context_.locals, declared);
  for (VariableId id : declared) function_.items.push_back({Item::Kind::variable, id.value});
  return valid;
}

bool FunctionParser::pragma() {
  do {
    cursor_.advance();
    if (cursor_.token().kind != TokenKind::string) return cursor_.fail_expected("a string");
    const auto index = static_cast<uint32_t>(function_.body_pragmas.size());
    function_.items.push_back({Item::Kind::pragma, index});
    function_.body_pragmas.emplace_back(cursor_.token().text);
    cursor_.advance();
  } while (cursor_.at(','));
  return cursor_.expect_end("after a pragma");
}

// `.loc 1 20 5, function_name $L__info_string0 + 3, inlined_at 1 40 9`, without a semicolon.
// `.loc_intermediate` says where an instruction stands in a second source, an IR's: it is kept, and
// does not become the location of what follows.
bool FunctionParser::location(bool intermediate) {
  cursor_.advance();
  Location place;
  place.intermediate = intermediate;
  uint32_t file = 0;
  if (!number(file) || !number(place.line) || !number(place.column)) return false;
  place.file = FileId(file);
  while (cursor_.accept(',')) {
    const Token what = cursor_.token();
    cursor_.advance();
    const bool valid = what.text == "function_name" ? name_offset(place)
                       : what.text == "inlined_at"
                           ? inlined_at(place)
                           : cursor_.fail(what,
                                          "expected `function_name` "
                                          "or `inlined_at`",
                                          "write `.loc 1 20 5`, without a comma behind");
    if (!valid) return false;
  }
  const LocationId id = add_location(std::move(place));
  if (!intermediate) location_ = id;
  function_.items.push_back({Item::Kind::location, id.value});
  return true;
}

bool FunctionParser::name_offset(Location& location) {
  location.function = cursor_.expect_name("the label of a function's name");
  if (location.function.empty()) return false;
  return cursor_.accept('+') ? number(location.function_offset) : true;
}

// The place of the call is itself a `.loc` seen before; if not, it gets an entry of its own.
bool FunctionParser::inlined_at(Location& location) {
  Location call;
  uint32_t file = 0;
  if (!number(file) || !number(call.line) || !number(call.column)) return false;
  call.file = FileId(file);
  location.inlined_at = find_location(call);
  return true;
}

LocationId FunctionParser::find_location(const Location& place) {
  std::vector<Location>& all = context_.module.locations;
  const auto found = context_.location_at.find(key_of(place));
  if (found != context_.location_at.end()) {
    const Location& seen = all[found->second.value];
    if (seen.file == place.file && seen.line == place.line && seen.column == place.column) {
      return found->second;
    }
  }
  return add_location(place);
}

LocationId FunctionParser::add_location(Location place) {
  const auto id = next_id<LocationId>(context_.module.locations);
  context_.location_at.insert_or_assign(key_of(place), id);
  context_.module.locations.push_back(std::move(place));
  return id;
}

}  // namespace lw::ptx
