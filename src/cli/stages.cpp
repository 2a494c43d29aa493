#include "cli/stages.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "casefile/flags.h"
#include "casefile/read_case.h"
#include "cli/schedule_flag.h"

namespace lw::cli {

int worse(int a, int b) {
  for (int code : {kExitBadInput, kExitEnvironment, kExitFound, kExitNotAnalysed}) {
    if (a == code || b == code) return code;
  }
  return kExitClean;
}

std::optional<casefile::Case> read_input(const Options& options, const std::string& input,
                                         diagnose::Emitter& emitter) {
  if (input.ends_with(".cu")) {
    emitter.emit(
        {{input, 0, 0},
         "this is CUDA C++; latewarp reads PTX",
         {},
         "make PTX with `nvcc -ptx -lineinfo -arch=sm_90a`; flags or a case file say how it "
         "is launched"});
    return std::nullopt;
  }
  if (options.launch.given()) return casefile::case_from_flags(input, options.launch, emitter);
  return casefile::read_case(input, emitter);
}

machine::Options machine_options(const Options& options) {
  machine::Options machine;
  machine.step_limit = options.step_limit;
  machine.time_limit_s = options.time_limit_s;
  machine.memory_limit_bytes = options.memory_limit_bytes;
  return machine;
}

std::optional<casefile::SetUp> set_up(const Options& options, const casefile::Inputs& inputs,
                                      diagnose::Emitter& emitter) {
  return casefile::set_up(inputs, machine_options(options), emitter, casefile::kUnwrittenFill,
                          options.antagonist);
}

std::optional<prove::RunPlan> make_plan(const Options& options, const casefile::Case& parts,
                                        const machine::Machine& machine,
                                        diagnose::Emitter& emitter) {
  prove::RunPlan plan;
  plan.machine = machine_options(options);
  plan.antagonist = options.antagonist;
  std::optional<ScheduleFlag> schedule =
      parse_schedule(options.schedule, parts, machine.places(), emitter);
  if (schedule) {
    plan.schedule = schedule->schedule;
    plan.holds = schedule->holds;
  }
  for (const std::string& text : options.replay) {
    auto holds = schedule::parse_holds(text, machine.places(), emitter);
    if (holds) plan.holds.insert(plan.holds.end(), holds->begin(), holds->end());
  }
  if (!emitter.empty()) return std::nullopt;
  return plan;
}

report::Style make_style(const Options& options, const std::string& input) {
  report::Style style;
  style.color = options.format == Format::text && isatty(STDOUT_FILENO) != 0;
  style.strict = options.strict;
  style.command = fmt::format("latewarp check {}{}", input, options.repeat);
  if (options.schedule != "steady") style.schedule = options.schedule;
  return style;
}

int refuse(const diagnose::Emitter& emitter, const Options& options, const std::string& input) {
  if (options.format == Format::json) {
    fmt::print("{}", report::diagnostics_json(emitter, input));
  } else {
    report::Style style;
    style.color = isatty(STDERR_FILENO) != 0;
    fmt::print(stderr, "{}", report::diagnostics_text(emitter, style));
  }
  return kExitBadInput;
}

}  // namespace lw::cli
