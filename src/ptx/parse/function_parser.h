#pragma once
// `.entry` and `.func`: header, directives and body. Scopes nest; a label is known in the whole of
// the scope it stands in, so uses are settled when their scope ends.

#include <string_view>
#include <unordered_map>
#include <vector>

#include "ptx/parse/context.h"
#include "ptx/parse/operand_parser.h"

namespace lw::ptx {

class FunctionParser {
 public:
  explicit FunctionParser(Context& context) : context_(context), cursor_(context.cursor) {}

  // From the name (of a `.func` with results: from their parenthesis) on. The function is added to
  // the module, and to its order.
  bool parse(bool entry, Linkage linkage);

 private:
  // Header.
  bool header(bool entry);
  bool declare_function(const Token& name);
  bool directives();
  bool directive(const Token& where);
  bool numbers(std::vector<uint32_t>& values, size_t most);
  bool number(uint32_t& value);
  bool languages();

  // Body.
  bool body_or_end();
  bool body();
  bool at_declaration();
  void never_closed();
  void statement();
  bool closes_too_early();
  bool guarded();
  bool directive_in_body();
  bool instruction(Instruction& result, const Token& first);
  bool choose_form(Instruction& result, const Token& first, OpcodeTable::Entry& entry);
  static std::string hint_of(const OpcodeTable::Entry& entry);
  bool local_variables(Linkage linkage);
  bool location(bool intermediate);
  bool inlined_at(Location& location);
  bool name_offset(Location& location);
  LocationId find_location(const Location& place);
  LocationId add_location(Location place);
  bool pragma();

  // Labels and lists.
  bool label(const Token& name);
  bool target_list(const Token& name);
  bool branch_targets(TargetList& list);
  bool call_targets(TargetList& list);
  bool call_prototype(TargetList& list);
  void open_scope();
  void close_scope();
  void leave_scope();

  struct Scope {
    std::unordered_map<std::string_view, uint32_t> labels;
    size_t first_pending = 0;  // into pending_
    size_t first_target = 0;   // into pending_targets_
    size_t ranges = 0;         // of the context, when it opened
  };
  // A label named by a `.branchtargets` list, settled like one named by an instruction.
  struct PendingTarget {
    Token name;
    uint32_t list = 0;
    uint32_t index = 0;
  };
  void settle(const PendingName& pending, bool last);
  void settle_targets(const Scope& scope, bool last);

  Context& context_;
  Cursor& cursor_;
  Function function_;
  FunctionId id_;
  std::vector<Scope> scopes_;
  std::vector<PendingName> pending_;
  std::vector<PendingTarget> pending_targets_;
  LocationId location_;
};

}  // namespace lw::ptx
