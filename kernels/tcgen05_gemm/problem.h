#pragma once
// Problems that the kernels are run on, as cases with their answers.

#include <filesystem>
#include <span>
#include <string>
#include <string_view>

namespace tcgen05_gemm {

// A form of the kernel: what a host must know of it.
struct Kernel {
  std::string_view name;  // of its PTX and of its case
  int ctas;               // of a cluster, which makes one tile
};
inline constexpr Kernel kKernels[] = {{"gemm", 1}, {"gemm_pair", 2}};

struct Problem {
  const Kernel& kernel;
  int m, n, k;
  int clusters;   // of the grid
  bool integers;  // in -4 to 4: sums are exact
};

// The committed case of a form: four tiles, so that each accumulator is used twice, and twice the
// stages for each.
Problem case_problem(const Kernel& kernel);
// The one whose time is measured: 2,048 products by one cluster.
Problem pipeline_problem(const Kernel& kernel);

// `ptx` and `source_root` as they stand in the case; `reference`: expected.safetensors is beside
// it.
std::string case_text(const Problem& problem, std::string_view ptx, std::string_view source_root,
                      bool reference);

// D in double. Throws std::ios_base::failure if the file cannot be written.
void write_reference(const Problem& problem, const std::filesystem::path& path);

}  // namespace tcgen05_gemm
