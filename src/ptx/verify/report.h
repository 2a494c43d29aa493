#pragma once
// Where the verifier puts what it finds.

#include <string>

#include "diagnose/diagnostic.h"
#include "ptx/module.h"

namespace lw::ptx {

class VerifyReport {
 public:
  VerifyReport(const Module& module, diagnose::Emitter& emitter)
      : module_(module), emitter_(emitter) {}

  void at(const Function& function, const Instruction& instruction, std::string message,
          std::string hint = "");
  void at_line(uint32_t line, std::string message, std::string hint = "");

  bool clean() const { return count_ == 0; }
  int count() const { return count_; }
  bool full() const { return count_ >= kMost; }

 private:
  static constexpr int kMost = 20;

  void emit(diagnose::Diagnostic diagnostic);

  const Module& module_;
  diagnose::Emitter& emitter_;
  int count_ = 0;
};

}  // namespace lw::ptx
