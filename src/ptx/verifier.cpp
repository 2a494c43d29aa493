#include "ptx/verifier.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "ptx/verify/instruction.h"
#include "ptx/verify/report.h"
#include "ptx/verify/requirements.h"

namespace lw::ptx {
namespace {

void check_head(const Module& module, const Function& function, VerifyReport& report) {
  const auto is_zero = [](uint32_t value) { return value == 0; };
  const auto zero = [&](const std::vector<uint32_t>& values) {
    return std::any_of(values.begin(), values.end(), is_zero);
  };
  if (zero(function.max_threads) || zero(function.required_threads) ||
      zero(function.required_cluster)) {
    report.at_line(function.line, fmt::format("`{}` has a dimension of 0", function.name));
  }
  if (!function.max_threads.empty() && !function.required_threads.empty()) {
    report.at_line(function.line,
                   fmt::format("`{}` has both `.maxntid` and `.reqntid`", function.name));
  }
  for (VariableId id : function.params) {
    const Variable& parameter = module.variables[id.value];
    if (function.entry || !parameter.pointer) continue;
    report.at_line(
        parameter.line,
        fmt::format("`{}` is `.ptr`, which only parameters of kernels are", parameter.name));
  }
}

void check_function(const Module& module, const Function& function, std::vector<bool>& seen,
                    VerifyReport& report) {
  check_head(module, function, report);
  InstructionVerifier verifier(module, function, report);
  for (const Instruction& instruction : function.instructions) {
    if (report.full()) return;
    if (!seen[instruction.opcode.value]) {
      seen[instruction.opcode.value] = true;
      check_requirements(module, function, instruction, report);
    }
    verifier.check(instruction);
  }
}

}  // namespace

bool verify(const Module& module, diagnose::Emitter& emitter) {
  VerifyReport report(module, emitter);
  std::vector<bool> seen(module.opcodes.size());
  for (const Function& function : module.functions) check_function(module, function, seen, report);
  return report.clean();
}

}  // namespace lw::ptx
