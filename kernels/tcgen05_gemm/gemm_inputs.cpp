// gemm_inputs cases FOLDER: writes the cases that are committed into FOLDER.
// gemm_inputs correctness COMPILED FOLDER: writes every correctness problem as a case in a folder
// of its own, with its answer, for the PTX in COMPILED.

#include <fmt/format.h>

#include <exception>
#include <string_view>
#include <vector>

#include "host/tensor_file.h"
#include "problem.h"

namespace tcgen05_gemm {
namespace {

void write_committed(const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  for (const Kernel& kernel : kKernels) {
    const std::string ptx = fmt::format("../compiled/{}.sm_100a.ptx", kernel.name);
    host::write_text(folder / fmt::format("{}.toml", kernel.name),
                     case_text(case_problem(kernel), ptx, "../../..", false));
    host::write_text(folder / fmt::format("{}_pipeline.toml", kernel.name),
                     case_text(pipeline_problem(kernel), ptx, "../../..", false));
  }
}

// One tile; tiles that do not divide among the clusters; a cluster without a tile; a K that leaves
// stages unused.
std::vector<Problem> problems(const Kernel& kernel) {
  const int m = kernel.ctas * 128;
  return {{kernel, m, 128, 64, 1, true},
          {kernel, 2 * m, 384, 320, 4, true},
          {kernel, m, 256, 192, 3, true},
          {kernel, 2 * m, 256, 512, 1, false}};
}

void write_correctness(const std::filesystem::path& compiled, const std::filesystem::path& root) {
  for (const Kernel& kernel : kKernels) {
    const auto ptx =
        std::filesystem::absolute(compiled / fmt::format("{}.sm_100a.ptx", kernel.name));
    for (const Problem& p : problems(kernel)) {
      const std::filesystem::path folder =
          root / fmt::format("{}_{}x{}x{}_on_{}", kernel.name, p.m, p.n, p.k, p.clusters);
      std::filesystem::create_directories(folder);
      write_reference(p, folder / "expected.safetensors");
      host::write_text(folder / "case.toml", case_text(p, ptx.string(), "", true));
    }
  }
}

}  // namespace
}  // namespace tcgen05_gemm

int main(int argument_count, char** arguments) {
  const std::string_view what = argument_count > 1 ? arguments[1] : "";
  try {
    if (what == "cases" && argument_count == 3) {
      tcgen05_gemm::write_committed(arguments[2]);
      return 0;
    }
    if (what == "correctness" && argument_count == 4) {
      tcgen05_gemm::write_correctness(arguments[2], arguments[3]);
      return 0;
    }
  } catch (const std::exception& error) {
    fmt::print(stderr, "{}: {}\n", arguments[argument_count - 1], error.what());
    return 4;
  }
  fmt::print(stderr, "usage: gemm_inputs cases FOLDER | gemm_inputs correctness COMPILED FOLDER\n");
  return 2;
}
