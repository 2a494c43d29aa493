// `latewarp check`: from a case to a verdict. This file is the table of contents of the program;
// each stage below is a folder of src/, and docs/tour.md walks through them with one case.

#include <fmt/format.h>

#include "cli/commands.h"
#include "cli/stages.h"
#include "prove/judge.h"

namespace lw::cli {
namespace {

int check_one(const Options& options, const std::string& input) {
  diagnose::Emitter emitter;
  const auto refused = [&] { return refuse(emitter, options, input); };

  // casefile/: what is launched, on which data
  std::optional<casefile::Case> parts = read_input(options, input, emitter);
  if (!parts) return refused();

  // ptx/: text to modules; casefile/: the data, and whether the launch can be at all
  std::optional<casefile::Inputs> inputs =
      casefile::load_inputs(std::move(*parts), options.memory_limit_bytes, emitter);
  if (!inputs) return refused();

  // program/: modules to programs; machine/: memory and launches
  auto ready = set_up(options, *inputs, emitter);
  if (!ready) return refused();

  // schedule/: who runs when
  auto plan = make_plan(options, inputs->parts, *ready->machine, emitter);
  if (!plan) return refused();
  plan->order.emplace().strict = options.strict;

  // machine/ runs, order/ listens
  prove::Run plain = prove::run_case(*inputs, std::move(*ready), *plan);

  // prove/: races to findings, findings to witnesses, all to a verdict
  const prove::Answer answer =
      prove::judge(*inputs, *plan, std::move(plain), {options.strict, options.witness});

  // report/: ids to names and lines
  const report::Style style = make_style(options, input);
  if (options.format == Format::json) {
    fmt::print("{}", report::json_report(*inputs, answer, style));
  } else if (options.quiet) {
    fmt::print("{}: {}\n", input, prove::verdict_text(answer.verdict));
  } else {
    if (options.inputs.size() > 1) fmt::print("== {}\n", input);
    fmt::print("{}", report::text_report(*inputs, answer, style));
  }
  return prove::exit_code(answer.verdict, options.require_all_schedules);
}

}  // namespace

int check(const Options& options) {
  int code = kExitClean;
  for (const std::string& input : options.inputs) code = worse(code, check_one(options, input));
  return code;
}

}  // namespace lw::cli
