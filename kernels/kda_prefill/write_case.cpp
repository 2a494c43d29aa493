#include "write_case.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>
#include <string_view>

#include "host/tensor_file.h"

namespace kda_prefill {
namespace {

using host::bytes_of;
using host::Tensor;

constexpr int kSmCount = 132;  // of an H200

std::vector<Tensor> inputs_of(const Problem& p, const std::vector<int>& cu_seqlens,
                              const std::vector<int>& chunk_indices) {
  std::vector<Tensor> inputs{
      {"q", "BF16", "bf16", {p.rows, p.heads, kHeadDim}, bytes_of(p.q)},
      {"k", "BF16", "bf16", {p.rows, p.heads, kHeadDim}, bytes_of(p.k)},
      {"gate", "BF16", "bf16", {p.rows, p.heads, kHeadDim}, bytes_of(p.gate)},
      {"beta", "F32", "f32", {p.rows, p.heads}, bytes_of(p.beta)},
      {"a_log", "F32", "f32", {p.heads}, bytes_of(p.a_log)},
      {"dt_bias", "F32", "f32", {p.heads, kHeadDim}, bytes_of(p.dt_bias)}};
  if (p.varlen) {
    inputs.push_back({"cu_seqlens", "I32", "i32", {int(cu_seqlens.size())}, bytes_of(cu_seqlens)});
    inputs.push_back({"chunk_indices", "I32", "i32", {p.chunks(), 2}, bytes_of(chunk_indices)});
  }
  return inputs;
}

std::vector<Tensor> outputs_of(const Problem& p, const StagedOutputs& staged) {
  const std::vector<int> rows{p.rows, p.heads, kHeadDim};
  const std::vector<int> tiles{p.heads, p.chunks(), kChunk, kChunk};
  return {
      {"k_scaled", "F64", "bf16", rows, bytes_of(staged.k_scaled)},
      {"q_scaled", "F64", "bf16", rows, bytes_of(staged.q_scaled)},
      {"kg", "F64", "bf16", rows, bytes_of(staged.kg)},
      {"decay_last", "F64", "f32", {p.heads, p.chunks(), kHeadDim}, bytes_of(staged.decay_last)},
      {"aqk", "F64", "bf16", tiles, bytes_of(staged.aqk)},
      {"akk", "F64", "bf16", tiles, bytes_of(staged.akk)}};
}

std::string map_text(const Problem& p, std::string_view buffer, int channels,
                     std::string_view swizzle) {
  return fmt::format(
      "[[tensor_map]]\nname = \"{0}_map\"\nbuffer = \"{0}\"\ndims = [{1}, {2}, {3}]\n"
      "strides = [{4}, {5}]\nbox = [{6}, 1, {7}]\nswizzle = \"{8}\"\n\n",
      buffer, kHeadDim, p.heads, p.rows, 2 * kHeadDim, 2 * kHeadDim * p.heads, channels, kChunk,
      swizzle);
}

std::string launch_text(const Problem& p) {
  const int units = (p.chunks() + kUnitChunks - 1) / kUnitChunks * p.heads;
  const Sequence& first = p.sequences.front();
  return fmt::format(
      "[[launch]]\nkernel = \"fused_k123\"\ngrid = [{}, 1, 1]\nblock = [{}, 1, 1]\nshared = {}\n"
      "registers = 64\nargs = [\"q_map\", \"k_map\", \"gate_map\", \"beta\", \"a_log\", "
      "\"dt_bias\", {}, \"k_scaled\", \"q_scaled\", \"kg\", \"decay_last\", \"aqk\", \"akk\", "
      "{{ i32 = {} }}, {{ i32 = {} }}, {{ i32 = {} }}, {{ i32 = {} }}, {{ f32 = {} }}, "
      "{{ f32 = {:.1f} }}]\n\n",
      std::min(units, kSmCount), kThreads, sizeof(StageTiles),
      p.varlen ? "\"cu_seqlens\", \"chunk_indices\"" : "{ u64 = 0 }, { u64 = 0 }", p.heads,
      p.chunks(), p.varlen ? p.rows : first.rows, p.varlen ? p.rows : first.real_rows, p.scale,
      p.lower_bound);
}

constexpr std::string_view kCheckText =
    "[check]\noutputs = [\"k_scaled\", \"q_scaled\", \"kg\", \"decay_last\", \"aqk\", \"akk\"]\n"
    "expect = \"clean, all schedules\"\nreference = \"expected.safetensors\"\n"
    "rmse_ratio = 5e-3\nmax_abs = 1e-6\ncosine = 0.999\n";

}  // namespace

void write_case(const Problem& problem, const std::filesystem::path& ptx,
                const std::filesystem::path& folder) {
  std::filesystem::create_directories(folder);
  const std::vector<int> cu_seqlens = problem.cu_seqlens(), indices = problem.chunk_indices();
  const StagedOutputs staged = reference_of(problem);
  const std::vector<Tensor> inputs = inputs_of(problem, cu_seqlens, indices);
  const std::vector<Tensor> outputs = outputs_of(problem, staged);
  host::write_safetensors(folder / "inputs.safetensors", inputs);
  host::write_safetensors(folder / "expected.safetensors", outputs);

  std::string text = fmt::format("# {}\n\nptx = \"{}\"\n\n", problem.name,
                                 std::filesystem::absolute(ptx).string());
  for (const Tensor& input : inputs) text += buffer_text(input, "inputs.safetensors");
  for (const Tensor& output : outputs) text += buffer_text(output, "");
  text += map_text(problem, "q", 64, "128B") + map_text(problem, "k", 64, "128B") +
          map_text(problem, "gate", 128, "none") + launch_text(problem);
  host::write_text(folder / "case.toml", text.append(kCheckText));
}

}  // namespace kda_prefill
