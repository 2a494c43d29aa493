#pragma once
// For tests: one instruction in a kernel that has what OperandWriter's operands name.

#include <gtest/gtest.h>

#include <string>

#include "forms/operand_writer.h"
#include "ptx/parser.h"

namespace lw::ptx {

inline std::string describe(const diagnose::Emitter& emitter) {
  std::string text;
  for (const auto& each : emitter.diagnostics()) {
    text += std::to_string(each.place.line) + ": " + each.message + "\n    " + each.excerpt +
            "\n    " + each.hint + "\n";
  }
  return text;
}

// The kernel is `k`; empty, and the test fails, if the instruction cannot be parsed.
inline Module parse_one(const std::string& instruction) {
  diagnose::Emitter emitter;
  const std::string text =
      ".version 9.4\n.target sm_107a\n.address_size 64\n" + std::string(module_head()) +
      ".entry k(.param .align 16 .b8 input[64])\n{\n" + std::string(register_file()) +
      "\t.param .align 16 .b8 argument[64];\ntargets: .branchtargets done;\n" + instruction +
      ";\ndone: ret;\n}\n";
  auto module = parse(text, "one", emitter);
  EXPECT_TRUE(module) << instruction << "\n" << describe(emitter);
  return module ? *module : Module{};
}

}  // namespace lw::ptx
