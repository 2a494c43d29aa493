// `latewarp coverage`: which forms of PTX a text uses, and which of them are not modelled.

#include <fmt/format.h>

#include <map>

#include "casefile/read_case.h"
#include "cli/commands.h"
#include "cli/stages.h"
#include "ptx/forms.h"
#include "ptx/parser.h"

namespace lw::cli {
namespace {

struct Use {
  uint64_t count = 0;
  uint32_t first_line = 0;
};

std::map<ptx::FormId, Use> forms_of(const ptx::Module& module) {
  std::map<ptx::FormId, Use> uses;
  for (const ptx::Function& function : module.functions) {
    for (const ptx::Instruction& instruction : function.instructions) {
      Use& use = uses[module.opcode_of(instruction).form];
      if (use.count++ == 0) use.first_line = instruction.line;
    }
  }
  return uses;
}

int print_forms(const ptx::Module& module) {
  uint64_t modelled = 0, missing = 0;
  const std::map<ptx::FormId, Use> uses = forms_of(module);
  for (const auto& [form, use] : uses) {
    const ptx::FormRow& row = ptx::row_of(form);
    (row.modelled ? modelled : missing) += use.count;
    if (row.modelled) {
      fmt::print("  {:>7}  {}\n", use.count, row.name);
    } else {
      fmt::print("  {:>7}  {:<36} not modelled, first at line {}\n", use.count, row.name,
                 use.first_line);
    }
  }
  fmt::print("  {} forms; {} instructions modelled, {} not\n", uses.size(), modelled, missing);
  return missing == 0 ? kExitClean : kExitNotAnalysed;
}

int cover_one(const Options& options, const std::string& input) {
  diagnose::Emitter emitter;
  const auto text = casefile::read_text(input, {input, 0, 0}, emitter);
  if (!text) return refuse(emitter, options, input);
  const auto module = ptx::parse(*text, input, emitter);
  if (!module) return refuse(emitter, options, input);
  fmt::print("{}\n", input);
  return print_forms(*module);
}

}  // namespace

int coverage(const Options& options) {
  int code = kExitClean;
  for (const std::string& input : options.inputs) code = worse(code, cover_one(options, input));
  return code;
}

}  // namespace lw::cli
