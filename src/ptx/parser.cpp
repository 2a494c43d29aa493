#include "ptx/parser.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "diagnose/words.h"
#include "ptx/numbers.h"
#include "ptx/parse/context.h"
#include "ptx/parse/declarations.h"
#include "ptx/parse/function_parser.h"
#include "ptx/parse/recovery.h"
#include "ptx/verify/targets.h"

namespace lw::ptx {
namespace {

class ModuleParser {
 public:
  ModuleParser(Module& module, std::string_view text)
      : module_(module), context_(module, text), cursor_(context_.cursor) {}

  bool parse(diagnose::Emitter& emitter) {
    module_.locations.emplace_back();  // 0: unknown
    if (header()) {
      declarations();
      join_redeclared();
    }
    cursor_.report(emitter);
    return cursor_.errors() == 0;
  }

 private:
  void declarations() {
    while (!cursor_.at_end() && !cursor_.gave_up()) {
      const Cursor::Mark start = cursor_.mark();
      if (cursor_.at('}')) {
        cursor_.fail("a brace closes nothing", "leave it out");
        cursor_.advance();
      } else if (!statement()) {
        skip_declaration(context_, start);
      }
    }
  }

  // `.version 9.0` and `.target sm_90a, debug` come first.
  bool header() {
    if (!cursor_.accept_word("version")) {
      return cursor_.fail_expected("`.version`, with which every PTX text begins",
                                   "begin with `.version 9.0`, or the one that it was written for");
    }
    if (!version()) return false;
    if (!cursor_.accept_word("target")) {
      return cursor_.fail_expected("`.target`", "write `.target sm_90a` behind the version");
    }
    return target();
  }

  bool version() {
    const std::string_view text = cursor_.token().text;
    const std::string newest = fmt::format("{}.{}", kNewestMajor, kNewestMinor);
    const size_t dot = std::min(text.find('.'), text.size());
    const bool valid =
        version_part(text.substr(0, dot), module_.version_major) &&
        version_part(text.substr(std::min(dot + 1, text.size())), module_.version_minor);
    if (!valid) {
      return cursor_.fail_expected("a version such as `9.0`",
                                   fmt::format("the last one known here is {}", newest));
    }
    if (!is_version(module_.version_major, module_.version_minor)) {
      const bool newer =
          module_.version_major > kNewestMajor ||
          (module_.version_major == kNewestMajor && module_.version_minor > kNewestMinor);
      return cursor_.fail(
          newer ? fmt::format("PTX {} is newer than {}, the last version known here", text, newest)
                : fmt::format("there is no PTX {}", text),
          fmt::format("write the version that it was made for, up to `{}`", newest));
    }
    cursor_.advance();
    return true;
  }

  static bool version_part(std::string_view digits, uint32_t& value) {
    const char* end = digits.data() + digits.size();
    const auto [stop, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && stop == end && value < 100;
  }

  bool target() {
    const Token name = cursor_.token();
    if (cursor_.expect_name("a target such as `sm_90a`").empty()) return false;
    const auto target = parse_target(name.text);
    if (!target) {
      return cursor_.fail(name, fmt::format("there is no target `{}`", name.text),
                          "write an architecture such as `sm_80`, `sm_90a` or `sm_100f`");
    }
    const uint32_t version = module_.version_major * 10 + module_.version_minor;
    if (static_cast<uint32_t>(target->version) > version) {
      return cursor_.fail(
          name,
          fmt::format("PTX {}.{} has no target `{}`", module_.version_major, module_.version_minor,
                      name.text),
          fmt::format("it needs `.version {}.{}`", target->version / 10, target->version % 10));
    }
    module_.target.emplace_back(name.text);
    return target_options();
  }

  bool target_options() {
    while (cursor_.accept(',')) {
      const Token word = cursor_.token();
      if (cursor_.expect_name("an option of the target such as `debug`").empty()) return false;
      if (!is_target_option(word.text)) {
        return cursor_.fail(word, fmt::format("`{}` is no option of a target", word.text),
                            "write `debug`, or one architecture alone");
      }
      module_.target.emplace_back(word.text);
    }
    return true;
  }

  bool statement() {
    if (!cursor_.at_word()) return outside();
    const Linkage linkage = parse_linkage();
    const std::string_view word = cursor_.token().text;
    if (word == "entry" || word == "func") return function(linkage, word == "entry");
    if (cursor_.at_word() && space_named(word)) return variables(linkage);
    if (linkage != Linkage::internal) {
      return cursor_.fail_expected("a function or variable after its linkage",
                                   "write `.entry`, `.func` or a state space such as `.global`");
    }
    if (word == "file") return file();
    if (word == "section") return section();
    if (word == "nv_intermediate_source_section") return intermediate_source();
    if (word == "pragma") return pragma();
    if (word == "alias") return alias();
    if (word == "address_size") return address_size();
    return unknown_directive(word);
  }

  bool unknown_directive(std::string_view word) {
    static constexpr std::string_view kKnown[] = {
        "entry", "func", "visible", "extern", "weak",  "common",      "global",
        "const", "file", "section", "pragma", "alias", "address_size"};
    const std::string meant = diagnose::nearest(word, kKnown);
    const bool once = word == "version" || word == "target";
    return cursor_.fail(fmt::format("`.{}` is not a directive of modules", word),
                        once            ? "it stands once, at the begin of the text"
                        : meant.empty() ? "functions begin with `.entry` or `.func`"
                                        : fmt::format("write `.{}`", meant));
  }

  // Between functions, where only directives may be.
  bool outside() {
    return cursor_.fail_expected("a directive",
                                 "functions begin with `.entry` or `.func`, and instructions "
                                 "stand in their bodies");
  }

  Linkage parse_linkage() {
    if (cursor_.accept_word("extern")) return Linkage::external;
    if (cursor_.accept_word("visible")) return Linkage::visible;
    if (cursor_.accept_word("weak")) return Linkage::weak;
    if (cursor_.accept_word("common")) return Linkage::common;
    return Linkage::internal;
  }

  bool function(Linkage linkage, bool entry) {
    cursor_.advance();
    return FunctionParser(context_).parse(entry, linkage);
  }

  bool variables(Linkage linkage) {
    std::vector<VariableId> declared;
    const bool valid = parse_variables(context_, linkage, context_.globals, declared);
    for (VariableId id : declared) {
      module_.order.push_back({Module::TopLevel::Kind::variable, id.value});
    }
    return valid;
  }

  bool address_size() {
    cursor_.advance();
    const std::string_view text = cursor_.token().text;
    if (text != "32" && text != "64") {
      return cursor_.fail_expected("32 or 64", "write `.address_size 64`");
    }
    module_.address_size = text == "32" ? 32 : 64;
    cursor_.advance();
    return true;
  }

  // `.file 1 "name", timestamp, size`
  bool file() {
    cursor_.advance();
    File file;
    uint64_t number = 0;
    if (!unsigned_number(number)) return false;
    file.id = FileId(static_cast<uint32_t>(number));
    if (cursor_.token().kind != TokenKind::string) return cursor_.fail_expected("a file name");
    file.name = cursor_.token().text;
    cursor_.advance();
    if (cursor_.accept(',')) {
      if (!unsigned_number(file.timestamp)) return false;
      if (!cursor_.expect(',', "and a size after a timestamp")) return false;
      if (!unsigned_number(file.size)) return false;
    }
    module_.order.push_back({Module::TopLevel::Kind::file, next_id<FileId>(module_.files).value});
    module_.files.push_back(std::move(file));
    return true;
  }

  bool unsigned_number(uint64_t& value) {
    const auto number = parse_number(cursor_.token().text);
    if (cursor_.token().kind != TokenKind::number || !number) {
      return cursor_.fail_expected("a number", "write `.file 1 \"name.cu\"`");
    }
    value = number->bits;
    cursor_.advance();
    return true;
  }

  // `.section .debug_str { ... }`: what is inside stays text.
  bool section() {
    cursor_.advance();
    Section section;
    if (cursor_.at_word()) {
      section.name = fmt::format(".{}", cursor_.token().text);
    } else if (cursor_.at_name() || cursor_.token().kind == TokenKind::string) {
      section.name = cursor_.token().text;
    } else {
      return cursor_.fail_expected("the name of a section");
    }
    cursor_.advance();
    return section_body(std::move(section));
  }

  // `.nv_intermediate_source_section { ... }`: the text of an IR that the code came from.
  bool intermediate_source() {
    cursor_.advance();
    Section section;
    section.directive = true;
    section.name = ".nv_intermediate_source_section";
    return section_body(std::move(section));
  }

  bool section_body(Section section) {
    if (!cursor_.at('{')) return cursor_.fail_expected("`{` after the name of a section");
    const Token brace = cursor_.token();
    const auto body = cursor_.lexer().raw_block();
    cursor_.advance();
    if (!body) {
      return cursor_.fail(brace, fmt::format("section `{}` has no closing brace", section.name),
                          "close it with `}`");
    }
    section.body = *body;
    module_.order.push_back(
        {Module::TopLevel::Kind::section, static_cast<uint32_t>(module_.sections.size())});
    module_.sections.push_back(std::move(section));
    return true;
  }

  bool pragma() {
    do {
      cursor_.advance();
      if (cursor_.token().kind != TokenKind::string) return cursor_.fail_expected("a string");
      module_.order.push_back(
          {Module::TopLevel::Kind::pragma, static_cast<uint32_t>(module_.pragmas.size())});
      module_.pragmas.emplace_back(cursor_.token().text);
      cursor_.advance();
    } while (cursor_.at(','));
    return cursor_.expect_end("after a pragma");
  }

  bool alias() {
    cursor_.advance();
    Module::Alias alias;
    if (!function_name(alias.name) || !cursor_.expect(',', "between the names of an alias") ||
        !function_name(alias.target)) {
      return false;
    }
    module_.order.push_back(
        {Module::TopLevel::Kind::alias, static_cast<uint32_t>(module_.aliases.size())});
    module_.aliases.push_back(alias);
    return cursor_.expect_end("after an alias");
  }

  bool function_name(FunctionId& id) {
    const Token name = cursor_.token();
    if (cursor_.expect_name("the name of a function").empty()) return false;
    const Symbol symbol = context_.globals.find(name.text);
    if (symbol.kind != SymbolKind::function) {
      return context_.fail_name(name,
                                fmt::format("`{}` is not a function declared before", name.text),
                                "declare both functions of an alias above it");
    }
    id = FunctionId(symbol.id);
    return true;
  }

  // Who named a function or an external variable while only its declaration was known, means the
  // definition.
  void join_redeclared() {
    if (context_.redeclared.empty() && context_.redeclared_variables.empty()) return;
    const auto functions = last_of<FunctionId>(module_.functions.size(), context_.redeclared);
    const auto variables =
        last_of<VariableId>(module_.variables.size(), context_.redeclared_variables);
    for (Function& function : module_.functions) join_operands(function, functions, variables);
    for (Variable& variable : module_.variables) {
      for (Initial& initial : variable.initial) {
        if (initial.kind == Initial::Kind::function) initial.id = functions[initial.id];
        if (initial.kind == Initial::Kind::variable) initial.id = variables[initial.id];
      }
    }
    for (Module::Alias& alias : module_.aliases) {
      alias = {FunctionId(functions[alias.name.value]), FunctionId(functions[alias.target.value])};
    }
  }

  // For each id, the last one of the same name.
  template <class IdType>
  static std::vector<uint32_t> last_of(size_t count,
                                       const std::vector<std::pair<IdType, IdType>>& pairs) {
    std::vector<uint32_t> last(count);
    for (uint32_t i = 0; i < count; ++i) last[i] = i;
    for (const auto& [before, after] : pairs) last[before.value] = after.value;
    for (size_t i = count; i-- > 0;) last[i] = last[last[i]];
    return last;
  }

  static void join_operands(Function& function, const std::vector<uint32_t>& functions,
                            const std::vector<uint32_t>& variables) {
    const auto join = [&](Operand& operand) {
      const bool is_address =
          operand.kind == OperandKind::address && operand.base == AddressBase::variable;
      if (operand.kind == OperandKind::function) operand.id = functions[operand.id];
      if (operand.kind == OperandKind::symbol || is_address) operand.id = variables[operand.id];
    };
    for (Operand& operand : function.operands) join(operand);
    for (Operand& element : function.elements) join(element);
    for (const Item& item : function.items) {
      if (item.kind != Item::Kind::call_targets) continue;
      for (uint32_t& id : function.targets[item.index].ids) id = functions[id];
    }
  }

  Module& module_;
  Context context_;
  Cursor& cursor_;
};

}  // namespace

std::optional<Module> parse(std::string_view text, std::string file_name,
                            diagnose::Emitter& emitter) {
  Module module;
  module.file = std::move(file_name);
  if (!ModuleParser(module, text).parse(emitter)) return std::nullopt;
  return module;
}

}  // namespace lw::ptx
