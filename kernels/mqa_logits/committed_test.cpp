// What is committed beside the sources is what they give.

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "write_case.h"

namespace mqa_logits {
namespace {

const std::filesystem::path kFolder =
    std::filesystem::path(LW_SOURCE_DIR) / "kernels" / "mqa_logits";

std::string contents(const std::filesystem::path& path) {
  std::ifstream file(path, std::ios::binary);
  EXPECT_TRUE(file) << path;
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

TEST(Committed, CasesAreThoseOfTheGenerator) {
  const auto inputs = std::filesystem::path(testing::TempDir()) / "mqa_inputs.safetensors";
  for (const NamedVariant& variant : kVariants) {
    for (const Form& form : forms_of(variant)) {
      const std::string name = case_name(variant, form);
      EXPECT_EQ(contents(kFolder / "cases" / (name + ".toml")), committed_case(variant, form))
          << "run mqa_inputs cases " << kFolder / "cases";
    }
    write_inputs(case_problem(variant), inputs);
    EXPECT_TRUE(contents(kFolder / "cases" / case_inputs(variant)) == contents(inputs));
  }
  std::filesystem::remove(inputs);
}

// The instructions and directives of the kernel, without what only a debugger reads.
std::vector<std::string> instructions(const std::filesystem::path& path) {
  std::istringstream text(contents(path));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) {
    const size_t start = line.find_first_not_of(" \t");
    if (start == std::string::npos || line.compare(start, 2, "//") == 0) continue;
    if (line.compare(start, 4, ".loc") == 0) continue;
    if (line.compare(start, 5, ".file") == 0) break;
    lines.push_back(line.substr(start));
  }
  return lines;
}

TEST(Committed, FormsDifferByTheWaitAndTheBarrier) {
  for (const NamedVariant& variant : kVariants) {
    const int math = math_threads(variant.variant);
    for (const char* target : {".sm_100a.ptx", ".sm_103a.ptx"}) {
      const auto of = [&](const Form& form) {
        return instructions(kFolder / "compiled" / (case_name(variant, form) + target));
      };
      std::vector<std::string> right = of(fixed);
      const std::vector<std::string> found = of(as_found);
      ASSERT_EQ(right.size(), found.size() + 2) << variant.name;
      const auto [at, same] = std::mismatch(right.begin(), right.end(), found.begin(), found.end());
      ASSERT_LT(at, right.end() - 2);
      EXPECT_EQ(at[0], "tcgen05.wait::ld.sync.aligned;") << variant.name;
      EXPECT_EQ(at[1], "bar.sync 2, " + std::to_string(math) + ";") << variant.name;
      right.erase(at, at + 2);
      EXPECT_EQ(right, found) << variant.name;
    }
  }
}

}  // namespace
}  // namespace mqa_logits
