#include "ptx/verify/report.h"

#include "ptx/printer.h"

namespace lw::ptx {

void VerifyReport::at(const Function& function, const Instruction& instruction, std::string message,
                      std::string hint) {
  emit({{module_.file, instruction.line, instruction.column},
        std::move(message),
        print(module_, function, instruction),
        std::move(hint)});
}

void VerifyReport::at_line(uint32_t line, std::string message, std::string hint) {
  emit({{module_.file, line, line == 0 ? 0u : 1u}, std::move(message), "", std::move(hint)});
}

void VerifyReport::emit(diagnose::Diagnostic diagnostic) {
  if (full()) return;
  ++count_;
  emitter_.emit(std::move(diagnostic));
}

}  // namespace lw::ptx
