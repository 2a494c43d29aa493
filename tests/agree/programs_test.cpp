// Random whole programs (tools/random_programs) leave on our machine what they leave on an H200
// (programs/programs.tsv), in the steady order and in a random one; and as nothing in them depends
// on which warp runs first, the order engine finds nothing.

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "prove/run.h"

namespace lw {
namespace {

constexpr uint64_t kCtas = 2, kThreads = 64, kOutputWords = 38, kCountWords = 16;
const std::string kFolder = LW_SOURCE_DIR "/tests/agree/programs";

std::map<std::string, uint64_t> expected_hashes() {
  std::ifstream file(kFolder + "/programs.tsv");
  std::map<std::string, uint64_t> hashes;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    std::string name;
    words >> name >> std::hex >> hashes[name];
  }
  return hashes;
}

uint64_t hash_of(const std::vector<prove::Bytes>& outputs) {
  uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a, word by word
  for (const prove::Bytes& bytes : outputs) {
    for (size_t at = 0; at < bytes.size(); at += 4) {
      uint32_t word = 0;
      std::memcpy(&word, bytes.data() + at, 4);
      hash = (hash ^ word) * 0x100000001b3u;
    }
  }
  return hash;
}

casefile::Buffer zeros(const std::string& name, uint64_t words) {
  casefile::Buffer buffer;
  buffer.name = name;
  buffer.dtype = casefile::Dtype::u32;
  buffer.shape = {words};
  buffer.data = casefile::DataKind::constant;
  return buffer;
}

// The case of any kernel of one module.
casefile::Case case_of(const std::filesystem::path& module, const std::string& kernel) {
  casefile::Case parts;
  parts.name = module.stem();
  parts.modules.push_back({{}, "", module});
  casefile::Buffer input = zeros("input", 1024);
  input.data = casefile::DataKind::file;
  input.file = kFolder + "/input.npy";
  parts.buffers = {input, zeros("output", kCtas * kThreads * kOutputWords),
                   zeros("counts", kCountWords)};
  casefile::Launch launch;
  launch.kernel = kernel;
  launch.grid.x = kCtas;
  launch.block.x = kThreads;
  for (const casefile::Buffer& buffer : parts.buffers) {
    casefile::Argument argument;
    argument.kind = casefile::Argument::Kind::object;
    argument.name = buffer.name;
    launch.args.push_back(argument);
  }
  parts.launches = {launch};
  parts.check.outputs = {{{}, "output"}, {{}, "counts"}};
  return parts;
}

std::vector<std::string> kernels_of(const std::filesystem::path& module) {
  std::ifstream file(module);
  std::vector<std::string> names;
  const std::string entry = ".visible .entry ";
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with(entry)) continue;
    names.push_back(line.substr(entry.size(), line.find('(') - entry.size()));
  }
  return names;
}

void expect_agreement(casefile::Inputs& inputs, const std::string& kernel, uint64_t expected) {
  inputs.parts.launches.front().kernel = kernel;
  prove::RunPlan plan;
  plan.order.emplace();
  const prove::Run steady = prove::run_again(inputs, plan);
  EXPECT_TRUE(steady.result.finished) << kernel;
  EXPECT_TRUE(steady.facts.races.empty()) << kernel;
  EXPECT_EQ(hash_of(steady.outputs), expected) << kernel;
  prove::RunPlan shuffled;
  shuffled.schedule = {prove::Schedule::Kind::random, 1, {}};
  EXPECT_EQ(hash_of(prove::run_again(inputs, shuffled).outputs), expected) << kernel;
}

TEST(Programs, LeaveTheBitsOfAnH200) {
  const std::map<std::string, uint64_t> expected = expected_hashes();
  size_t programs = 0;
  for (const auto& entry : std::filesystem::directory_iterator(kFolder)) {
    if (entry.path().extension() != ".ptx") continue;
    const std::vector<std::string> kernels = kernels_of(entry.path());
    ASSERT_FALSE(kernels.empty()) << entry.path();
    diagnose::Emitter emitter;
    auto inputs = casefile::load_inputs(case_of(entry.path(), kernels.front()), 1 << 30, emitter);
    ASSERT_TRUE(inputs) << emitter.diagnostics().front().message;
    for (const std::string& kernel : kernels) {
      ASSERT_TRUE(expected.contains(kernel)) << kernel;
      expect_agreement(*inputs, kernel, expected.at(kernel));
      ++programs;
    }
  }
  EXPECT_EQ(programs, expected.size());
}

}  // namespace
}  // namespace lw
