#include "ptx/verifier.h"

#include <vector>

#include "ptx/verify/declarations.h"
#include "ptx/verify/instruction.h"
#include "ptx/verify/opcode_rules.h"
#include "ptx/verify/report.h"
#include "ptx/verify/requirements.h"

namespace lw::ptx {
namespace {

void check_function(const Module& module, const Function& function, std::vector<bool>& seen,
                    VerifyReport& report) {
  check_declarations(module, function, report);
  InstructionVerifier verifier(module, function, report);
  for (const Instruction& instruction : function.instructions) {
    if (report.full()) return;
    const int before = report.count();
    if (!seen[instruction.opcode.value]) {
      seen[instruction.opcode.value] = true;
      check_requirements(module, function, instruction, report);
      if (report.count() == before) check_opcode(module, function, instruction, report);
    }
    if (report.count() == before) verifier.check(instruction);
  }
}

}  // namespace

bool verify(const Module& module, diagnose::Emitter& emitter) {
  VerifyReport report(module, emitter);
  check_globals(module, report);
  std::vector<bool> seen(module.opcodes.size());
  for (const Function& function : module.functions) check_function(module, function, seen, report);
  return report.clean();
}

}  // namespace lw::ptx
