// Which of the opcodes that real kernels use the machine runs: each is decoded with made-up
// operands, and none may be refused but those of not_run.tsv, which says why.
//
// used_opcodes.txt is what 2,995 kernels of nine projects use (nvcc 13.0), in full opcodes.

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "forms/one_instruction.h"
#include "forms/operand_writer.h"
#include "machine/environment.h"
#include "ptx/forms/match.h"
#include "ptx/parser.h"
#include "ptx/verify/requirements.h"

namespace lw::ptx {
namespace {

// Columns of the file's lines, by tabs.
std::vector<std::vector<std::string>> lines_of(const std::string& name) {
  std::ifstream file(std::string(LW_SOURCE_DIR) + "/tests/forms/" + name);
  std::vector<std::vector<std::string>> lines;
  for (std::string line; std::getline(file, line);) {
    std::vector<std::string> columns;
    for (size_t at = 0; at <= line.size();) {
      const size_t tab = std::min(line.find('\t', at), line.size());
      columns.push_back(line.substr(at, tab - at));
      at = tab + 1;
    }
    lines.push_back(columns);
  }
  return lines;
}

bool decodes(const Module& module) {
  machine::Memory memory;
  machine::Modules modules;
  const machine::ModuleId id = modules.load(module, memory);
  machine::Environment environment(modules, id, {});
  const program::Program program = program::decode(module, *module.find_function("k"), environment);
  return std::ranges::none_of(program.ops, [&](const program::Op& op) {
    return op.full == environment.core().refuse.full;
  });
}

// With the operands that may be missing and without.
bool runs(const std::string& text) {
  bool any = false;
  for (FormId form : forms_matching(split_opcode(text))) {
    const Opcode opcode = make_opcode(text, form);
    for (bool full : {false, true}) {
      const std::string operands = OperandWriter(pattern_of(form), opcode, full).write();
      const Module module = parse_one(operands.empty() ? text : text + " " + operands);
      if (module.functions.empty() || !decodes(module)) return false;
      any = true;
    }
  }
  return any;
}

// What is left out as a whole (docs/limits.md); of the rest less than one in a hundred may be
// missing.
bool is_left_out(const std::string& reason) {
  constexpr std::array<std::string_view, 6> kFamilies = {
      "tcgen05", "wgmma", "textures", "multimem", "clusters", "tensor maps edited"};
  return std::ranges::any_of(kFamilies,
                             [&](std::string_view family) { return reason.starts_with(family); });
}

TEST(Decoded, AllThatRealKernelsUseButWhatTheListNames) {
  std::map<std::string, std::string> excused;
  size_t missing = 0;
  for (const auto& line : lines_of("not_run.tsv")) {
    excused[line.at(0)] = line.at(1);
    missing += is_left_out(line.at(1)) ? 0 : 1;
  }
  const auto used = lines_of("used_opcodes.txt");
  ASSERT_GT(used.size(), 100 * missing);
  for (const auto& line : used) {
    const auto excuse = excused.find(line.at(0));
    const bool excusable = excuse != excused.end();
    if (excusable && is_left_out(excuse->second)) continue;  // comes with its family
    EXPECT_EQ(runs(line.at(0)), !excusable) << line.at(0);
  }
}

}  // namespace
}  // namespace lw::ptx
