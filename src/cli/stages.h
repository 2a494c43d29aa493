#pragma once
// Steps that several subcommands share.

#include <optional>
#include <string>

#include "casefile/inputs.h"
#include "cli/options.h"
#include "diagnose/diagnostic.h"
#include "prove/run.h"
#include "report/report.h"

namespace lw::cli {

// The case of one input: a file, a twin, or PTX with the launch in flags.
std::optional<casefile::Case> read_input(const Options& options, const std::string& input,
                                         diagnose::Emitter& emitter);

// Limits, schedule and holds of a run; `machine` knows the instructions that holds name.
std::optional<prove::RunPlan> make_plan(const Options& options, const casefile::Case& parts,
                                        const machine::Machine& machine,
                                        diagnose::Emitter& emitter);

machine::Options machine_options(const Options& options);

// A machine that is ready to run.
std::optional<casefile::SetUp> set_up(const Options& options, const casefile::Inputs& inputs,
                                      diagnose::Emitter& emitter);

report::Style make_style(const Options& options, const std::string& input);

// Prints what is wrong with the input and returns the exit code for that.
int refuse(const diagnose::Emitter& emitter, const Options& options, const std::string& input);

}  // namespace lw::cli
