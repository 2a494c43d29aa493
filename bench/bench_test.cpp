// The outputs of kernels/bench equal those that an H200 gave, bit for bit (expected_hashes.tsv).

#include <gtest/gtest.h>

#include <fstream>
#include <iomanip>
#include <sstream>

#include "case_run.h"

namespace lw::bench {
namespace {

uint64_t fnv1a(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

struct Expected {
  std::string kernel;
  std::string output;
  std::string hash;
};

std::vector<Expected> expected_hashes() {
  std::ifstream file(std::string(LW_KERNELS) + "/bench/expected_hashes.tsv");
  std::vector<Expected> rows;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line[0] == '#') continue;
    Expected row;
    std::istringstream(line) >> row.kernel >> row.output >> row.hash;
    rows.push_back(row);
  }
  return rows;
}

class Outputs : public testing::TestWithParam<Expected> {};

TEST_P(Outputs, EqualThoseOfTheGpu) {
  CaseRun run("bench/" + GetParam().kernel);
  ASSERT_TRUE(run.is_ready()) << run.error();
  Outcome outcome = run.run(false);
  ASSERT_TRUE(outcome.finished) << outcome.why;
  for (const auto& [name, bytes] : outcome.outputs) {
    if (name != GetParam().output) continue;
    std::ostringstream hash;
    hash << std::hex << std::setw(16) << std::setfill('0') << fnv1a(bytes);
    EXPECT_EQ(hash.str(), GetParam().hash) << name;
  }
}

INSTANTIATE_TEST_SUITE_P(Kernels, Outputs, testing::ValuesIn(expected_hashes()),
                         [](const auto& info) {
                           return info.param.kernel + "_" + info.param.output;
                         });

}  // namespace
}  // namespace lw::bench
