#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "forms/one_instruction.h"
#include "forms/operand_writer.h"
#include "forms/overlap.h"
#include "ptx/forms/match.h"
#include "ptx/forms/operands.h"
#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/verifier.h"

namespace lw::ptx {
namespace {

std::string read(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> texts() {
  std::vector<std::filesystem::path> paths;
  const std::filesystem::path folder = std::string(LW_SOURCE_DIR) + "/tests/forms/texts";
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());
  return paths;
}

FormId form(size_t index) { return static_cast<FormId>(index); }
constexpr size_t kForms = static_cast<size_t>(FormId::count);

TEST(Forms, EveryTextParsesAndIsSound) {
  for (const auto& path : texts()) {
    diagnose::Emitter emitter;
    const auto module = parse(read(path), path.filename(), emitter);
    ASSERT_TRUE(module) << path << "\n" << describe(emitter);
    EXPECT_TRUE(verify(*module, emitter)) << path << "\n" << describe(emitter);
  }
}

TEST(Forms, EveryTextPrintsAndParsesToTheSameModule) {
  for (const auto& path : texts()) {
    diagnose::Emitter emitter;
    const auto module = parse(read(path), path.filename(), emitter);
    ASSERT_TRUE(module) << path;
    const auto again = parse(print(*module), path.filename(), emitter);
    ASSERT_TRUE(again) << path << "\n" << describe(emitter);
    EXPECT_TRUE(*module == *again) << path;
    EXPECT_EQ(print(*module), print(*again)) << path;
  }
}

TEST(Forms, EveryOpcodeEverMeasuredAndEveryFormHasAText) {
  std::set<std::string> opcodes;
  std::set<FormId> forms;
  for (const auto& path : texts()) {
    diagnose::Emitter emitter;
    const auto module = parse(read(path), path.filename(), emitter);
    ASSERT_TRUE(module) << path;
    for (const Opcode& opcode : module->opcodes) {
      opcodes.insert(opcode.text);
      forms.insert(opcode.form);
    }
  }
  std::ifstream list(std::string(LW_SOURCE_DIR) + "/tests/forms/opcodes.txt");
  for (std::string line; std::getline(list, line);) {
    EXPECT_TRUE(opcodes.contains(line)) << line;
    EXPECT_FALSE(forms_matching(split_opcode(line)).empty()) << line;
  }
  for (size_t i = 1; i < kForms; ++i) {
    EXPECT_TRUE(forms.contains(form(i))) << name_of(form(i));
  }
}

// Where two forms share an opcode, the operands of each must not fit the other.
void expect_operands_differ(const std::string& opcode_text, FormId a, FormId b) {
  const Opcode opcode = make_opcode(opcode_text, a);
  for (bool full : {false, true}) {
    const std::string operands = OperandWriter(pattern_of(a), opcode, full).write();
    const Module module = parse_one(opcode_text + " " + operands);
    if (module.functions.empty()) return;
    const Function& function = module.functions.back();
    const Instruction& instruction = function.instructions[0];
    EXPECT_EQ(module.opcode_of(instruction).form, a) << opcode_text << " " << operands;
    EXPECT_FALSE(bind_operands(pattern_of(b), opcode, function, function.operands_of(instruction)))
        << opcode_text << " " << operands << " is " << name_of(a) << " and " << name_of(b);
  }
}

TEST(Forms, NoTwoOverlap) {
  for (size_t i = 1; i < kForms; ++i) {
    for (size_t j = i + 1; j < kForms; ++j) {
      if (pattern_of(form(i)).base != pattern_of(form(j)).base) continue;
      const Overlap overlap = find_overlap(pattern_of(form(i)), pattern_of(form(j)));
      EXPECT_FALSE(overlap.gave_up) << name_of(form(i)) << " and " << name_of(form(j));
      if (!overlap.opcode) continue;
      expect_operands_differ(*overlap.opcode, form(i), form(j));
      expect_operands_differ(*overlap.opcode, form(j), form(i));
    }
  }
}

TEST(Forms, NamesAndSectionsAreThere) {
  for (size_t i = 1; i < kForms; ++i) {
    const FormRow& row = row_of(form(i));
    EXPECT_FALSE(row.section.empty()) << row.name;
    EXPECT_GE(row.version, 10) << row.name;
    EXPECT_TRUE(row.target.starts_with("sm_")) << row.name;
  }
}

}  // namespace
}  // namespace lw::ptx
