#include "ptx/verify/calls.h"

#include <fmt/format.h>

#include "ptx/printer.h"
#include "ptx/verify/values.h"

namespace lw::ptx {
namespace {

// What is called: a function, or a prototype that stands for several.
struct Signature {
  std::string name;
  std::vector<const Variable*> returns;
  std::vector<const Variable*> params;
};

class CallVerifier {
 public:
  CallVerifier(const Module& module, const Function& function, const Instruction& call,
               VerifyReport& report)
      : module_(module), function_(function), call_(call), report_(report) {}

  void check() {
    const auto operands = function_.operands_of(call_);
    const size_t at = operands[0].kind == OperandKind::arguments ? 1 : 0;
    const Operand& callee = operands[at];
    const Operand none;
    const bool has_arguments =
        operands.size() > at + 1 && operands[at + 1].kind == OperandKind::arguments;
    const auto signature = signature_of(callee, operands.back());
    if (!signature) return;
    compare(at == 1 ? operands[0] : none, signature->returns, signature->name, "results");
    compare(has_arguments ? operands[at + 1] : none, signature->params, signature->name,
            "arguments");
  }

 private:
  // Nothing if there is nothing to compare with; what is wrong then has been said.
  std::optional<Signature> signature_of(const Operand& callee, const Operand& last) {
    if (callee.kind == OperandKind::function) return signature_of(module_.functions[callee.id]);
    if (last.kind != OperandKind::list) {
      say(fmt::format("`{}` is called without a list of targets or a prototype",
                      print(module_, function_, callee)),
          "add the label of a `.callprototype` or `.calltargets` as the last operand");
      return std::nullopt;
    }
    const TargetList& list = function_.targets[last.id];
    if (!list.ids.empty()) return signature_of(module_.functions[list.ids[0]]);
    Signature signature{list.name, {}, {}};
    for (const Variable& each : list.returns) signature.returns.push_back(&each);
    for (const Variable& each : list.params) signature.params.push_back(&each);
    return signature;
  }

  std::optional<Signature> signature_of(const Function& function) {
    if (function.entry) {
      say(fmt::format("`{}` is a kernel, and only functions are called", function.name),
          "declare it as a `.func`");
      return std::nullopt;
    }
    Signature signature{function.name, {}, {}};
    for (VariableId id : function.returns)
      signature.returns.push_back(&module_.variables[id.value]);
    for (VariableId id : function.params) signature.params.push_back(&module_.variables[id.value]);
    return signature;
  }

  // The last parameter may be an array without a size, for which nothing need be passed.
  void compare(const Operand& given, const std::vector<const Variable*>& formal,
               const std::string& name, std::string_view what) {
    const bool ends_open = what == "arguments" && !formal.empty() && is_open(*formal.back());
    if (given.count != formal.size() && !(ends_open && given.count + 1 == formal.size())) {
      return say(fmt::format("`{}` has {} {}, not {}", name, formal.size(), what, given.count), "");
    }
    const auto actual = function_.elements_of(given);
    for (size_t i = 0; i < actual.size(); ++i) {
      if (fits(actual[i], *formal[i])) continue;
      return say(fmt::format("`{}` does not fit `{}`, which is `.{}`",
                             print(module_, function_, actual[i]), formal[i]->name,
                             name_of(formal[i]->type)),
                 fmt::format("the {} of `{}` have the types of its declaration", what, name));
    }
  }

  static bool is_open(const Variable& variable) {
    return !variable.dims.empty() && variable.dims[0] == 0;
  }

  bool fits(const Operand& actual, const Variable& formal) const {
    if (is_open(formal)) return true;
    switch (actual.kind) {
      case OperandKind::symbol:
        return module_.variables[actual.id].size_bytes() == formal.size_bytes();
      case OperandKind::reg: {
        const Type type = function_.registers[actual.id].type;
        if (formal.space == Space::reg) return register_fits(type, formal.type, Width::exact);
        return bits_of(type) == bits_of(formal.type) && formal.dims.empty();
      }
      default:
        return true;
    }
  }

  void say(std::string message, std::string hint) {
    report_.at(function_, call_, std::move(message), std::move(hint));
  }

  const Module& module_;
  const Function& function_;
  const Instruction& call_;
  VerifyReport& report_;
};

}  // namespace

void check_call(const Module& module, const Function& function, const Instruction& call,
                VerifyReport& report) {
  CallVerifier(module, function, call, report).check();
}

}  // namespace lw::ptx
