// `latewarp run`: the machine alone, without the order engine. Prints a hash of each output, and
// compares the outputs with the case's reference.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "casefile/compare.h"
#include "cli/commands.h"
#include "cli/stages.h"
#include "report/words.h"

namespace lw::cli {
namespace {

using casefile::Comparison;

// FNV-1a, 64 bits: the same is computed on GPUs, so equal lines are equal bits.
uint64_t hash_of(const prove::Bytes& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

std::string comparison_text(const Comparison& comparison) {
  std::string text = fmt::format("{}: RMSE ratio {:.3g}, largest error {:.3g}, cosine {:.6f}",
                                 comparison.passed ? "agrees" : "MISSES THE REFERENCE",
                                 comparison.rmse_ratio, comparison.max_abs, comparison.cosine);
  if (comparison.not_numbers > 0) {
    text += fmt::format(", {} not numbers", report::plural(comparison.not_numbers, "element"));
  }
  return text;
}

// References are read before the run: a missing one is bad input, not a late surprise.
std::optional<std::vector<std::vector<double>>> read_references(const casefile::Case& parts,
                                                                diagnose::Emitter& emitter) {
  std::vector<std::vector<double>> references;
  if (parts.check.reference.empty()) return references;
  for (size_t index : casefile::output_buffers(parts)) {
    auto reference = casefile::read_reference(parts, parts.buffers[index], emitter);
    if (reference) references.push_back(std::move(*reference));
  }
  if (!emitter.empty()) return std::nullopt;
  return references;
}

// One line an output; returns whether all agree with their references.
bool print_outputs(const casefile::Case& parts, const prove::Run& done,
                   const std::vector<std::vector<double>>& references) {
  bool all = true;
  const std::vector<size_t> outputs = casefile::output_buffers(parts);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const casefile::Buffer& buffer = parts.buffers[outputs[i]];
    std::string line = fmt::format("{} {}[{}] fnv1a {:016x}", buffer.name, dtype_name(buffer.dtype),
                                   fmt::join(buffer.shape, ","), hash_of(done.outputs[i]));
    if (i < references.size()) {
      const Comparison comparison =
          casefile::compare(buffer.name, casefile::as_numbers(done.outputs[i], buffer.dtype),
                            references[i], parts.check);
      all &= comparison.passed;
      line += fmt::format(" {}", comparison_text(comparison));
    }
    fmt::print("{}\n", line);
  }
  return all;
}

// What ended the run early; nothing if it came to its end.
std::optional<int> print_trouble(const casefile::Inputs& inputs, const prove::Run& done) {
  report::Names names(inputs, *done.set_up.machine);
  if (const auto& fault = done.result.fault) {
    fmt::print("error: {} ({})\n", report::fault_words(*fault, names),
               names.site(fault->instruction).text());
    return kExitFound;
  }
  if (const auto& what = done.result.not_analysed) {
    fmt::print("not analysed: {}\n", what->reason);
    return kExitNotAnalysed;
  }
  return std::nullopt;
}

// Holds of the command line that did nothing, or less than they say.
void print_fates(const prove::RunPlan& plan, const prove::Run& done) {
  for (size_t i = 0; i < plan.holds.size() && i < done.fates.size(); ++i) {
    if (done.fates[i] == schedule::HoldFate::met) continue;
    fmt::print("{}: {}\n", schedule::hold_text(plan.holds[i], done.set_up.machine->places()),
               report::fate_words(done.fates[i]));
  }
}

int run_one(const Options& options, const std::string& input) {
  diagnose::Emitter emitter;
  const auto refused = [&] { return refuse(emitter, options, input); };
  std::optional<casefile::Case> parts = read_input(options, input, emitter);
  if (!parts) return refused();
  const auto references = read_references(*parts, emitter);
  if (!references) return refused();
  auto inputs = casefile::load_inputs(std::move(*parts), options.memory_limit_bytes, emitter);
  if (!inputs) return refused();
  auto ready = set_up(options, *inputs, emitter);
  if (!ready) return refused();
  const auto plan = make_plan(options, inputs->parts, *ready->machine, emitter);
  if (!plan) return refused();

  const prove::Run done = prove::run_case(*inputs, std::move(*ready), *plan);
  fmt::print("{}", done.result.printed);
  print_fates(*plan, done);
  if (const auto code = print_trouble(*inputs, done)) return *code;
  return print_outputs(inputs->parts, done, *references) ? kExitClean : kExitFound;
}

}  // namespace

int run(const Options& options) {
  int code = kExitClean;
  for (const std::string& input : options.inputs) code = worse(code, run_one(options, input));
  return code;
}

}  // namespace lw::cli
