// The operands of `call`.

#include "ptx/parse/operand_parser.h"

namespace lw::ptx {

// `(a, b)` of a call.
bool OperandParser::arguments(Operand& result) {
  if (!cursor_.expect('(', "before the arguments of a call")) return false;
  std::vector<Operand> elements;
  while (!cursor_.at(')')) {
    if (elements.size() == kMostElements) return cursor_.fail("too many arguments");
    Operand element;
    if (!plain(element)) return false;
    elements.push_back(element);
    if (!cursor_.accept(',')) break;
  }
  result.kind = OperandKind::arguments;
  store_elements(std::move(elements), result);
  return cursor_.expect(')', "after the arguments of a call");
}

// `(ret), f, (a, b), targets`; all but the function may be missing.
bool OperandParser::call() {
  Operand result;
  if (cursor_.at('(')) {
    if (!arguments(result)) return false;
    function_.operands.push_back(result);
    if (!cursor_.expect(',', "after the results of a call")) return false;
  }
  Operand callee;
  if (!single(callee)) return false;
  function_.operands.push_back(callee);
  if (!cursor_.accept(',')) return true;
  if (cursor_.at('(')) {
    Operand parameters;
    if (!arguments(parameters)) return false;
    function_.operands.push_back(parameters);
    if (!cursor_.accept(',')) return true;
  }
  Operand list;
  if (!target_list(list)) return false;
  function_.operands.push_back(list);
  return true;
}

}  // namespace lw::ptx
