// Arithmetic on the machine against results of an H200 (tests/agree/arith_samples.tsv): each
// instruction of the file runs as PTX, one sample a lane.

#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <sstream>

#include "machine/semantics/lane_kernel.h"
#include "ptx/forms.h"
#include "ptx/forms/match.h"
#include "ptx/forms/operands.h"

namespace lw::machine {
namespace {

struct Sample {
  std::vector<uint64_t> operands;
  uint64_t result;
};
using Samples = std::map<std::string, std::vector<Sample>>;

Samples read_samples() {
  std::ifstream file(LW_SOURCE_DIR "/tests/agree/arith_samples.tsv");
  Samples samples;
  std::string line;
  while (std::getline(file, line)) {
    std::istringstream columns(line);
    std::string instruction, column;
    std::getline(columns, instruction, '\t');
    if (instruction.empty() || instruction[0] == '#' || columns.eof()) continue;
    std::vector<uint64_t> numbers;
    while (std::getline(columns, column, '\t'))
      if (column != "-") numbers.push_back(std::stoull(column, nullptr, 16));
    const uint64_t result = numbers.back();
    numbers.pop_back();
    samples[instruction].push_back({numbers, result});
  }
  return samples;
}

// Bits of the registers of d, a, b, c.
std::vector<int> register_bits(const std::string& instruction, size_t operands) {
  const ptx::SplitOpcode split = ptx::split_opcode(instruction);
  const std::vector<ptx::FormId> forms = ptx::forms_matching(split);
  if (forms.empty()) return {};
  ptx::Opcode opcode;
  opcode.mods = split.mods;
  opcode.types = split.types;
  const ptx::Pattern& pattern = ptx::pattern_of(forms[0]);
  std::vector<int> bits;
  for (const ptx::OperandSpec& spec : pattern.operands)
    if (bits.size() <= operands)
      bits.push_back(ptx::bits_of(ptx::type_of_operand(spec, pattern, opcode)));
  return bits;
}

// The name of a register of this size, and what fills it from the lane's input.
std::string source(char name, int bits, std::string& before) {
  const std::string input = std::string("%") + name;
  if (bits == 64) return std::string("%w") + name;
  if (bits != 16) return input;
  const std::string half = std::string("%h") + std::to_string(name - 'a');
  before += "cvt.u16.u32 " + half + ", " + input + "; ";
  return half;
}

std::string code_of(const std::string& instruction, const std::vector<int>& bits) {
  std::string before, sources, after;
  for (size_t i = 1; i < bits.size(); ++i)
    sources += ", " + source(static_cast<char>('a' + i - 1), bits[i], before);
  // The results of cvt to s16 were taken in 32-bit registers, sign-extended.
  const bool is_short = bits[0] == 16 && instruction.find(".s16.") == std::string::npos;
  const std::string d = bits[0] == 64 ? "%wd" : is_short ? "%h9" : "%d";
  if (is_short) after = " cvt.u32.u16 %d, %h9;";
  return before + instruction + " " + d + sources + ";" + after;
}

TEST(Agree, ArithmeticOfAnH200) {
  const Samples samples = read_samples();
  ASSERT_GT(samples.size(), 400u);
  for (const auto& [instruction, rows] : samples) {
    const std::vector<int> bits = register_bits(instruction, rows[0].operands.size());
    ASSERT_FALSE(bits.empty()) << instruction;
    LaneKernel kernel(code_of(instruction, bits));
    std::vector<uint32_t>* words[] = {&kernel.a, &kernel.b, &kernel.c};
    std::vector<uint64_t>* wides[] = {&kernel.wa, &kernel.wb, &kernel.wc};
    const size_t count = std::min<size_t>(rows.size(), 32);
    for (size_t lane = 0; lane < count; ++lane) {
      for (size_t i = 0; i < rows[lane].operands.size(); ++i) {
        words[i]->push_back(static_cast<uint32_t>(rows[lane].operands[i]));
        wides[i]->push_back(rows[lane].operands[i]);
      }
    }
    kernel.run();
    for (size_t lane = 0; lane < count; ++lane) {
      const uint64_t result = bits[0] == 64 ? kernel.wide_results[lane] : kernel.results[lane];
      EXPECT_EQ(result, rows[lane].result) << instruction << ", sample " << lane;
    }
  }
}

}  // namespace
}  // namespace lw::machine
