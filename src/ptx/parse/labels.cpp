#include <fmt/format.h>

#include "ptx/parse/declarations.h"
#include "ptx/parse/function_parser.h"

// Labels, target lists and scopes of a function body.

namespace lw::ptx {
namespace {

constexpr const char* kOtherName = "give one of them another name";

}  // namespace

void FunctionParser::open_scope() {
  cursor_.advance();
  function_.items.push_back({Item::Kind::open_scope, 0});
  context_.locals.open();
  scopes_.push_back({{}, pending_.size(), pending_targets_.size(), context_.ranges.size()});
}

void FunctionParser::close_scope() {
  leave_scope();
  cursor_.advance();
}

void FunctionParser::leave_scope() {
  const bool outermost = scopes_.size() == 1;
  const Scope& scope = scopes_.back();
  // Names that this scope does not know wait for the one around it.
  std::vector<PendingName> waiting(pending_.begin() + static_cast<long>(scope.first_pending),
                                   pending_.end());
  pending_.resize(scope.first_pending);
  for (const PendingName& name : waiting) settle(name, outermost);
  settle_targets(scope, outermost);
  context_.ranges.resize(scope.ranges);
  scopes_.pop_back();
  if (!outermost) {
    function_.items.push_back({Item::Kind::close_scope, 0});
    context_.locals.close();
  }
}

void FunctionParser::settle(const PendingName& pending, bool last) {
  Operand& operand = function_.operands[pending.operand];
  const auto& labels = scopes_.back().labels;
  const auto found = labels.find(pending.name.text);
  if (found != labels.end()) {
    operand.id = found->second;
  } else if (last) {
    context_.fail_name(
        pending.name, fmt::format("no label `{}` in `{}`", pending.name.text, function_.name),
        fmt::format("a label stands before an instruction, as in `{}:`", pending.name.text));
  } else {
    pending_.push_back(pending);
  }
}

void FunctionParser::settle_targets(const Scope& scope, bool last) {
  std::vector<PendingTarget> waiting(
      pending_targets_.begin() + static_cast<long>(scope.first_target), pending_targets_.end());
  pending_targets_.resize(scope.first_target);
  for (const PendingTarget& target : waiting) {
    const auto found = scope.labels.find(target.name.text);
    if (found != scope.labels.end()) {
      function_.targets[target.list].ids[target.index] = found->second;
    } else if (last) {
      context_.fail_name(target.name,
                         fmt::format("no label `{}` in `{}`", target.name.text, function_.name));
    } else {
      pending_targets_.push_back(target);
    }
  }
}

bool FunctionParser::label(const Token& name) {
  cursor_.advance();  // to the colon
  cursor_.advance();
  if (cursor_.at_word("branchtargets") || cursor_.at_word("calltargets") ||
      cursor_.at_word("callprototype")) {
    return target_list(name);
  }
  const Symbol other = context_.locals.find(name.text);
  const bool taken = other.kind != SymbolKind::none && other.kind != SymbolKind::doubtful;
  if (taken && other.scope == context_.locals.depth()) {
    return cursor_.fail(name, fmt::format("`{}` is declared twice", name.text), kOtherName);
  }
  const auto index = static_cast<uint32_t>(function_.labels.size());
  if (!scopes_.back().labels.emplace(name.text, index).second) {
    return cursor_.fail(name, fmt::format("label `{}` stands twice in one scope", name.text),
                        kOtherName);
  }
  function_.labels.push_back(
      {std::string(name.text), static_cast<uint32_t>(function_.instructions.size())});
  function_.items.push_back({Item::Kind::label, index});
  return true;
}

bool FunctionParser::target_list(const Token& name) {
  const std::string_view word = cursor_.token().text;
  const auto index = static_cast<uint32_t>(function_.targets.size());
  cursor_.advance();
  if (!declare(context_, context_.locals, name, SymbolKind::list, index)) return false;
  function_.targets.emplace_back().name = name.text;
  TargetList list;
  list.name = name.text;
  const bool valid = word == "branchtargets" ? branch_targets(list)
                     : word == "calltargets" ? call_targets(list)
                                             : call_prototype(list);
  function_.targets[index] = std::move(list);
  const auto kind = word == "branchtargets" ? Item::Kind::branch_targets
                    : word == "calltargets" ? Item::Kind::call_targets
                                            : Item::Kind::call_prototype;
  function_.items.push_back({kind, index});
  return valid && cursor_.expect_end("after a target list");
}

bool FunctionParser::branch_targets(TargetList& list) {
  const auto index = static_cast<uint32_t>(function_.targets.size() - 1);
  do {
    const Token name = cursor_.token();
    if (cursor_.expect_name("a label").empty()) return false;
    pending_targets_.push_back({name, index, static_cast<uint32_t>(list.ids.size())});
    list.ids.push_back(0);
  } while (cursor_.accept(','));
  return true;
}

bool FunctionParser::call_targets(TargetList& list) {
  do {
    const Token name = cursor_.token();
    if (cursor_.expect_name("a function").empty()) return false;
    const Symbol symbol = context_.find(name.text);
    if (symbol.kind != SymbolKind::function) {
      return context_.fail_name(name,
                                fmt::format("`{}` is not a function declared before", name.text));
    }
    list.ids.push_back(symbol.id);
  } while (cursor_.accept(','));
  return true;
}

// `.callprototype (.param .b32 _) _ (.param .b64 _) .noreturn`
bool FunctionParser::call_prototype(TargetList& list) {
  std::vector<VariableId> unused;
  if (cursor_.at('(') && !parse_parameters(context_, nullptr, unused, &list.returns)) return false;
  if (cursor_.expect_name("`_`").empty()) return false;
  if (cursor_.at('(') && !parse_parameters(context_, nullptr, unused, &list.params)) return false;
  list.no_return = cursor_.accept_word("noreturn");
  while (cursor_.at_word("abi_preserve") || cursor_.at_word("abi_preserve_control")) {
    uint32_t count = 0;
    list.directives.push_back(fmt::format(".{}", cursor_.token().text));
    cursor_.advance();
    if (!number(count)) return false;
    list.directives.back() += fmt::format(" {}", count);
  }
  return true;
}

}  // namespace lw::ptx
