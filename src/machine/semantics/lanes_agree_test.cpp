// Collectives, atomics, conversions, halves, matrix products and carry chains on the machine
// against an H200: the kernels of every tests/agree/*.ptx, and what they left there (the .tsv of
// that name, made by scripts/gpu_lanes; a text without one has not been to a GPU yet).

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "machine/test_kernel.h"

namespace lw::machine {
namespace {

constexpr size_t kWords = 256;
using Words = std::vector<uint32_t>;

std::string read_text(const std::string& name) {
  std::ifstream file(LW_SOURCE_DIR "/tests/agree/" + name);
  return {std::istreambuf_iterator<char>(file), {}};
}

// By kernel.
std::map<std::string, Words> read_expected(const std::string& name) {
  std::istringstream lines(read_text(name + ".tsv"));
  std::map<std::string, Words> expected;
  std::string line;
  while (std::getline(lines, line)) {
    if (line[0] == '#') continue;
    std::istringstream columns(line);
    std::string kernel;
    size_t row = 0;
    columns >> kernel >> row;
    Words& words = expected[kernel];
    words.resize(kWords);
    for (size_t i = 0; i < 32; ++i) columns >> std::hex >> words[32 * row + i];
  }
  return expected;
}

// CTAs of the one cluster that it requires.
uint32_t cluster_of(const ptx::Module& module, const std::string& kernel) {
  for (const ptx::Function& function : module.functions)
    if (function.name == kernel && !function.required_cluster.empty())
      return function.required_cluster[0];
  return 1;
}

Words run(const ptx::Module& module, const std::string& kernel) {
  Machine machine;
  const ModuleId id = machine.load(module);
  const BufferId out = machine.memory().add_buffer("out", kWords * 4);
  const uint64_t address = machine.memory().buffer(out).address;
  LaunchRequest request;
  request.module = id;
  request.kernel = kernel;
  request.block.x = 32;
  request.grid.x = request.cluster.x = cluster_of(module, kernel);
  request.parameters.resize(8);
  std::memcpy(request.parameters.data(), &address, 8);
  diagnose::Emitter emitter;
  EXPECT_TRUE(machine.launch(std::move(request), emitter)) << kernel;
  PlainOrder policy;
  const RunResult result = machine.run(policy, nullptr);
  EXPECT_TRUE(result.finished) << kernel << ": " << (result.fault ? result.fault->text : "");
  Words words(kWords);
  std::memcpy(words.data(), machine.memory().bytes(out).data(), kWords * 4);
  return words;
}

// Returns how many kernels were compared.
size_t compare(const std::string& name) {
  diagnose::Emitter emitter;
  const auto module = ptx::parse(read_text(name + ".ptx"), name + ".ptx", emitter);
  if (!module) return 0;
  const auto expected = read_expected(name);
  for (const auto& [kernel, words] : expected) {
    const Words ours = run(*module, kernel);
    for (size_t i = 0; i < kWords; ++i)
      EXPECT_EQ(ours[i], words[i]) << kernel << ", row " << i / 32 << ", lane " << i % 32;
  }
  return expected.size();
}

TEST(Agree, LanesOfAnH200) {
  size_t kernels = 0;
  for (const auto& file : std::filesystem::directory_iterator(LW_SOURCE_DIR "/tests/agree")) {
    auto results = file.path();
    if (results.extension() != ".ptx" || !exists(results.replace_extension(".tsv"))) continue;
    const size_t compared = compare(file.path().stem());
    EXPECT_GT(compared, 1u) << file.path();
    kernels += compared;
  }
  EXPECT_GT(kernels, 250u);
}

// Every kernel of matrix.ptx runs here: none is of a form that is not modelled.
TEST(Agree, MatrixKernelsRun) {
  diagnose::Emitter emitter;
  const auto module = ptx::parse(read_text("matrix.ptx"), "matrix.ptx", emitter);
  ASSERT_TRUE(module);
  int kernels = 0;
  for (const ptx::Function& function : module->functions) {
    if (!function.entry) continue;
    const Words words = run(*module, function.name);
    EXPECT_NE(words, Words(kWords)) << function.name;
    ++kernels;
  }
  EXPECT_GT(kernels, 200);
}

}  // namespace
}  // namespace lw::machine
