// The ordered twins give on our machine the bits that an H200 gave (twins.tsv), whichever warp runs
// first: in the steady order and in random ones.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "casefile/read_case.h"
#include "prove/run.h"

namespace lw {
namespace {

constexpr uint64_t kRandomSchedules = 3;

struct Row {
  std::string name;
  uint64_t hash = 0;
};

std::vector<Row> rows() {
  std::ifstream file(LW_SOURCE_DIR "/tests/agree/twins.tsv");
  std::vector<Row> result;
  for (std::string line; std::getline(file, line);) {
    if (line.empty() || line.front() == '#') continue;
    Row row;
    std::istringstream words(line);
    words >> row.name >> std::hex >> row.hash;
    result.push_back(row);
  }
  return result;
}

uint64_t hash_of(const std::vector<prove::Bytes>& outputs) {
  uint64_t hash = 1469598103934665603ull;  // FNV-1a
  for (const prove::Bytes& output : outputs) {
    for (uint8_t byte : output) hash = (hash ^ byte) * 1099511628211ull;
  }
  return hash;
}

std::optional<casefile::Inputs> load(const std::string& name, diagnose::Emitter& emitter) {
  const std::string path = LW_SOURCE_DIR "/tests/cases/" + name + ".ptx";
  std::optional<casefile::Case> parts = casefile::read_case(path, emitter);
  if (!parts) return std::nullopt;
  return casefile::load_inputs(std::move(*parts), 0, emitter);
}

TEST(Agree, OrderedTwinsGiveTheBitsOfAnH200) {
  const std::vector<Row> twins = rows();
  ASSERT_FALSE(twins.empty());
  for (const Row& twin : twins) {
    diagnose::Emitter emitter;
    const std::optional<casefile::Inputs> inputs = load(twin.name, emitter);
    ASSERT_TRUE(inputs) << twin.name << ": " << emitter.diagnostics().front().message;
    EXPECT_EQ(hash_of(prove::run_again(*inputs, {}).outputs), twin.hash) << twin.name;
    for (uint64_t seed = 1; seed <= kRandomSchedules; ++seed) {
      prove::RunPlan plan;
      plan.schedule = {prove::Schedule::Kind::random, seed, {}};
      EXPECT_EQ(hash_of(prove::run_again(*inputs, plan).outputs), twin.hash)
          << twin.name << ", seed " << seed;
    }
  }
}

}  // namespace
}  // namespace lw
