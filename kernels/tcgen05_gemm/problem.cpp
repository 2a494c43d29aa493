#include "problem.h"

#include <fmt/format.h>

#include <vector>

#include "casefile/generate.h"
#include "host/tensor_file.h"
#include "layout.h"

namespace tcgen05_gemm {
namespace {

namespace generate = lw::casefile;

constexpr uint64_t kSeedA = 1, kSeedB = 2;
constexpr int kLargest = 4;

// Row by row, as the case's own data.
std::vector<double> elements(const Problem& p, int rows, uint64_t seed) {
  std::vector<double> values(size_t(rows) * size_t(p.k));
  for (size_t i = 0; i < values.size(); ++i) {
    const double value = p.integers ? double(generate::random_integer(seed, i, -kLargest, kLargest))
                                    : generate::random_normal(seed, i);
    values[i] =
        generate::decode_float(generate::encode_float(value, generate::kBf16), generate::kBf16);
  }
  return values;
}

std::string input_text(const Problem& p, std::string_view name, int rows, uint64_t seed) {
  const std::string data =
      p.integers ? fmt::format("data = \"integers\"\nlow = -{0}\nhigh = {0}\n", kLargest)
                 : "data = \"normal\"\n";
  return fmt::format(
      "[[buffer]]\nname = \"{}\"\ndtype = \"bf16\"\nshape = [{}, {}]\n{}seed = {}\n\n", name, rows,
      p.k, data, seed);
}

std::string map_text(std::string_view name, int columns, int rows, int element_bytes,
                     int box_columns, int box_rows) {
  return fmt::format(
      "[[tensor_map]]\nname = \"{0}_map\"\nbuffer = \"{0}\"\ndims = [{1}, {2}]\nstrides = [{3}]\n"
      "box = [{4}, {5}]\nswizzle = \"128B\"\n\n",
      name, columns, rows, columns * element_bytes, box_columns, box_rows);
}

size_t shared_bytes(const Kernel& kernel) {
  return kernel.ctas == 1 ? sizeof(Tiles<1>) : sizeof(Tiles<2>);
}

std::string launch_text(const Problem& p) {
  const int tiles_m = p.m / (p.kernel.ctas * kTileM), tiles = tiles_m * (p.n / kTileN);
  return fmt::format(
      "[[launch]]\nkernel = \"{}\"\ngrid = [{}]\nblock = [{}]\nshared = {}\nregisters = 64\n"
      "args = [\n  \"a_map\", \"b_map\", \"d_map\",\n  {{ i32 = {} }},  # tiles_m\n"
      "  {{ i32 = {} }},  # tiles\n  {{ i32 = {} }},  # blocks_k\n]\n"
      "roles = {{ epilogue = \"0-3\", copies = \"{}\", mma = \"{}\" }}\n\n",
      p.kernel.name, p.clusters * p.kernel.ctas, kThreads, shared_bytes(p.kernel), tiles_m, tiles,
      p.k / kBlockK, kCopyWarp, kMmaWarp);
}

}  // namespace

Problem case_problem(const Kernel& kernel) {
  return {kernel, 2 * kernel.ctas * kTileM, 2 * kTileN, 2 * kStages * kBlockK, 1, false};
}

Problem pipeline_problem(const Kernel& kernel) {
  return {kernel, 2 * kernel.ctas * kTileM, 4 * kTileN, 64 * kBlockK, 1, false};
}

std::string case_text(const Problem& p, std::string_view ptx, std::string_view source_root,
                      bool reference) {
  std::string text =
      fmt::format("# D [{}, {}] = A B^T, K = {}.\n\nptx = \"{}\"\n", p.m, p.n, p.k, ptx);
  if (!source_root.empty()) text += fmt::format("source_root = \"{}\"\n", source_root);
  text += "\n";
  text += input_text(p, "a", p.m, kSeedA) + input_text(p, "b", p.n, kSeedB);
  text += fmt::format("[[buffer]]\nname = \"d\"\ndtype = \"f32\"\nshape = [{}, {}]\n\n", p.m, p.n);
  text += map_text("a", p.k, p.m, sizeof(Bf16), kBlockK, kTileM);
  text += map_text("b", p.k, p.n, sizeof(Bf16), kBlockK, kTileN / p.kernel.ctas);
  text += map_text("d", p.n, p.m, sizeof(float), kPart, kTileM);
  text += launch_text(p);
  text += "[check]\noutputs = [\"d\"]\nexpect = \"clean, all schedules\"\n";
  // Sums of normal numbers lose bits where the instruction cuts them off.
  if (reference)
    text += fmt::format("reference = \"expected.safetensors\"\nrmse_ratio = {0}\nmax_abs = {0}\n",
                        p.integers ? "0.0" : "1e-6");
  return text;
}

void write_reference(const Problem& p, const std::filesystem::path& path) {
  const std::vector<double> a = elements(p, p.m, kSeedA), b = elements(p, p.n, kSeedB);
  std::vector<double> d(size_t(p.m) * size_t(p.n));
  for (size_t row = 0; row < size_t(p.m); ++row)
    for (size_t column = 0; column < size_t(p.n); ++column)
      for (size_t k = 0; k < size_t(p.k); ++k)
        d[row * size_t(p.n) + column] += a[row * size_t(p.k) + k] * b[column * size_t(p.k) + k];
  host::write_safetensors(path, {{"d", "F64", "f32", {p.m, p.n}, host::bytes_of(d)}});
}

}  // namespace tcgen05_gemm
