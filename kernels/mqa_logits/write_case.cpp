#include "write_case.h"

#include <fmt/format.h>

#include "host/tensor_file.h"

namespace mqa_logits {
namespace {

using host::buffer_text;
using host::bytes_of;
using host::Tensor;

std::vector<Tensor> inputs_of(const Problem& p) {
  std::vector<Tensor> inputs{
      {"pages", "U8", "u8", {kPoolPages, kPageBytes}, bytes_of(p.pages)},
      {"schedule", "I32", "i32", {int(p.schedule.size()), 2}, bytes_of(p.schedule)},
      {"contexts", "I32", "i32", {p.requests()}, bytes_of(p.contexts)},
      {"block_table", "I32", "i32", {p.requests(), p.table_stride()}, bytes_of(p.block_table)}};
  if (!p.integers) {
    const std::vector<int> rows{p.requests(), p.next_n, p.heads};
    inputs.push_back(
        {"q", "F8_E4M3", "e4m3", {p.requests(), p.columns(), kHeadDim}, bytes_of(p.q)});
    inputs.push_back({"weights", "F32", "f32", rows, bytes_of(p.weights)});
  }
  return inputs;
}

// q and weights, where they are integers.
std::string integers_text(const Problem& p) {
  return fmt::format(
      "[[buffer]]\nname = \"q\"\ndtype = \"e4m3\"\nshape = [{0}, {1}, {2}, {3}]\n"
      "data = \"integers\"\nlow = -{4}\nhigh = {4}\nseed = {5}\n\n"
      "[[buffer]]\nname = \"weights\"\ndtype = \"f32\"\nshape = [{0}, {1}, {2}]\n"
      "data = \"integers\"\nlow = -{4}\nhigh = {4}\nseed = {6}\n\n",
      p.requests(), p.next_n, p.heads, kHeadDim, kLargest, kQuerySeed, kWeightsSeed);
}

std::string logits_text(const Problem& p) {
  return fmt::format(
      "[[buffer]]\nname = \"logits\"\ndtype = \"f32\"\nshape = [{}, {}]\n"
      "data = \"constant\"\nvalue = -inf\n\n",
      p.logits_rows(), p.logits_stride());
}

std::string maps_text(const Problem& p) {
  return fmt::format(
      "[[tensor_map]]\nname = \"q_map\"\nbuffer = \"q\"\ndims = [{0}, {1}]\nstrides = [{0}]\n"
      "box = [{0}, {2}]\nswizzle = \"128B\"\n\n"
      "[[tensor_map]]\nname = \"weights_map\"\nbuffer = \"weights\"\ndims = [{2}, {3}]\n"
      "strides = [{4}]\nbox = [{2}, 1]\n\n"
      "[[tensor_map]]\nname = \"keys_map\"\nbuffer = \"pages\"\ndims = [{0}, {5}, {6}]\n"
      "strides = [{0}, {7}]\nbox = [{0}, {5}, 1]\nswizzle = \"128B\"\n\n"
      "[[tensor_map]]\nname = \"scales_map\"\nbuffer = \"pages\"\ndims = [{7}, {6}]\n"
      "strides = [{7}]\nbox = [{8}, 1]\n\n",
      kHeadDim, p.requests() * p.columns(), p.columns(), p.requests(), p.columns() * sizeof(float),
      kPage, kPoolPages, kPageBytes, kPageScaleBytes);
}

std::string roles_text(const Variant& variant) {
  std::string roles;
  for (int group = 0; group < variant.math_groups; ++group) {
    roles += fmt::format("\"math {}\" = \"{}-{}\", ", group, 4 * group, 4 * group + 3);
  }
  const int producers = 4 * variant.math_groups;
  const auto warps = [](int first, int count) {
    return count == 1 ? fmt::format("{}", first) : fmt::format("{}-{}", first, first + count - 1);
  };
  return roles + fmt::format("copies = \"{}\", mma = \"{}\"", warps(producers, variant.key_streams),
                             warps(producers + 2, variant.mma_warps));
}

std::string launch_text(const Problem& p) {
  const Variant& variant = p.variant.variant;
  return fmt::format(
      "[[launch]]\nkernel = \"paged_mqa_logits\"\ngrid = [{}]\nblock = [{}]\nshared = {}\n"
      "registers = {}\nargs = [\n  \"q_map\", \"weights_map\", \"keys_map\", \"scales_map\",\n"
      "  \"schedule\", \"contexts\", \"block_table\", \"logits\",\n"
      "  {{ i32 = {} }},  # heads\n  {{ i32 = {} }},  # next_n\n  {{ i32 = {} }},  # table_stride\n"
      "  {{ i32 = {} }},  # logits_stride\n  {{ i32 = {} }},  # first_row\n"
      "  {{ i32 = {} }},  # rank\n  {{ i32 = {} }},  # ranks\n]\nroles = {{ {} }}\n\n",
      p.ctas, threads(variant), sizeof(Tiles), launch_registers(variant), p.heads, p.next_n,
      p.table_stride(), p.logits_stride(), p.first_request * p.next_n, p.rank, p.ranks,
      roles_text(variant));
}

std::string_view verdict(Drain drain) {
  switch (drain) {
    case Drain::whole:
      return "clean, all schedules";
    case Drain::by_one_lane:
      return "error in all schedules";
    default:
      return "race in all schedules";
  }
}

std::string_view what_is_wrong(Drain drain) {
  switch (drain) {
    case Drain::whole:
      return "";
    case Drain::none:
      return "# Warp 0 frees tensor memory while the other math warps' loads may still be to "
             "come.\n";
    case Drain::wait_alone:
      return "# Every math warp waits for its loads, but nothing tells warp 0 before it frees.\n";
    case Drain::before_the_loads:
      return "# The math warps meet, but before their loads.\n";
    case Drain::by_one_lane:
      return "# One lane of each math warp executes a barrier that wants whole warps.\n";
  }
  return "";
}

std::string check_text(const Problem& p, const CaseFiles& files) {
  std::string text =
      fmt::format("[check]\noutputs = [\"logits\"]\nexpect = \"{}\"\n", verdict(files.form.drain));
  if (files.reference) {
    text += fmt::format("reference = \"expected.safetensors\"\nrmse_ratio = {}\nmax_abs = {}\n",
                        p.integers ? "0.0" : "1e-5", p.integers ? "0.0" : "5e-5");
  }
  return text;
}

}  // namespace

std::string case_text(const Problem& problem, const CaseFiles& files) {
  std::string text = fmt::format("# Paged MQA logits: {}.\n", problem.name);
  text += what_is_wrong(files.form.drain);
  text += fmt::format("\nptx = \"{}\"\n", files.ptx);
  if (!files.source_root.empty()) text += fmt::format("source_root = \"{}\"\n", files.source_root);
  text += "\n";
  if (problem.integers) text += integers_text(problem);
  for (const Tensor& input : inputs_of(problem)) text += buffer_text(input, files.inputs);
  return text + logits_text(problem) + maps_text(problem) + launch_text(problem) +
         check_text(problem, files);
}

void write_inputs(const Problem& problem, const std::filesystem::path& path) {
  host::write_safetensors(path, inputs_of(problem));
}

void write_reference(const Problem& problem, const std::filesystem::path& path) {
  const std::vector<double> logits = reference_logits(problem);
  const std::vector<int> shape{problem.logits_rows(), problem.logits_stride()};
  host::write_safetensors(path, {{"logits", "F64", "f32", shape, bytes_of(logits)}});
}

std::span<const Form> forms_of(const NamedVariant& variant) {
  static constexpr Form kForms[] = {fixed, as_found, wait_alone, barrier_before_loads,
                                    barrier_of_one_lane};
  const bool all = std::string_view(variant.name) == kVariants[0].name;
  return std::span(kForms).first(all ? std::size(kForms) : 2);
}

std::string case_name(const NamedVariant& variant, const Form& form) {
  return fmt::format("{}_{}", variant.name, form.name);
}

std::string case_inputs(const NamedVariant& variant) {
  return variant.variant.rank_rows ? "rows_inputs.safetensors" : "inputs.safetensors";
}

std::string committed_case(const NamedVariant& variant, const Form& form) {
  CaseFiles files;
  files.ptx = fmt::format("../compiled/{}.sm_100a.ptx", case_name(variant, form));
  files.source_root = "../../..";
  files.inputs = case_inputs(variant);
  files.form = form;
  return case_text(case_problem(variant), files);
}

}  // namespace mqa_logits
