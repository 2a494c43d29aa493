#include "cli/command_line.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <map>
#include <optional>

#include "base/check.h"
#include "cli/commands.h"
#include "report/repeat.h"

namespace lw::cli {
namespace {

constexpr const char* kVersion = "latewarp 0.1.0";

// "4G", "512M", "1000000"
std::optional<uint64_t> parse_bytes(const std::string& text) {
  static const std::map<char, uint64_t> kUnits = {
      {'K', 1ull << 10}, {'M', 1ull << 20}, {'G', 1ull << 30}};
  size_t used = 0;
  uint64_t number = 0;
  try {
    number = std::stoull(text, &used);
  } catch (const std::exception&) {
    return std::nullopt;
  }
  if (used == text.size()) return number;
  const auto unit = kUnits.find(text[used]);
  if (used + 1 != text.size() || unit == kUnits.end()) return std::nullopt;
  return number * unit->second;
}

// The flags that a report must repeat to come out the same: those of the launch and of the run.
std::string repeated_flags(const Options& options) {
  std::string text;
  auto add = [&](std::string_view flag, const std::string& value) {
    if (!value.empty()) text += fmt::format(" {} {}", flag, report::shell_word(value));
  };
  const casefile::Flags& launch = options.launch;
  add("--kernel", launch.kernel);
  add("--grid", launch.grid);
  add("--block", launch.block);
  add("--cluster", launch.cluster);
  if (launch.cooperative) text += " --cooperative";
  if (launch.shared != 0) add("--shared", std::to_string(launch.shared));
  if (launch.registers != 0) add("--registers", std::to_string(launch.registers));
  if (launch.seed != 0) add("--seed", std::to_string(launch.seed));
  for (const std::string& argument : launch.arguments) add("--arg", argument);
  for (const std::string& output : launch.outputs) add("--out", output);
  if (options.strict) text += " --strict";
  for (const std::string& hold : options.replay) add("--replay", hold);
  if (options.antagonist == casefile::Antagonist::tmem) add("--antagonist", "tmem");
  return text;
}

void add_launch_flags(CLI::App& command, casefile::Flags& launch) {
  command
      .add_option("--kernel", launch.kernel,
                  "launch this `.entry` of a PTX file, without a case file")
      ->type_name("NAME");
  command.add_option("--grid", launch.grid, "CTAs")->type_name("X[,Y[,Z]]");
  command.add_option("--block", launch.block, "threads of a CTA")->type_name("X[,Y[,Z]]");
  command.add_option("--cluster", launch.cluster, "CTAs of a cluster")->type_name("X[,Y[,Z]]");
  command.add_flag("--cooperative", launch.cooperative, "CTAs that may synchronise the grid");
  command.add_option("--shared", launch.shared, "dynamic shared memory")->type_name("BYTES");
  command.add_option("--registers", launch.registers, "registers of a thread")->type_name("N");
  command
      .add_option("--arg", launch.arguments,
                  "the next parameter: [name=]dtype:count[=data] for a pointer, dtype=value for a "
                  "scalar")
      ->type_name("ARG")
      ->expected(1)
      ->take_all();
  command.add_option("--out", launch.outputs, "a buffer that is output")
      ->type_name("NAME")
      ->expected(1)
      ->take_all();
  command.add_option("--seed", launch.seed, "of made-up data")->type_name("N");
}

void add_run_flags(CLI::App& command, Options& options) {
  command
      .add_option("case", options.inputs,
                  "case files (.toml), or PTX files with a launch in `//! ` lines or flags")
      ->type_name("")
      ->required();
  add_launch_flags(command, options.launch);
  command
      .add_option(
          "--schedule", options.schedule,
          "steady (default), random:SEED, or late:WHO: warp 3 of every CTA (late:3), of one "
          "(late:0.3), a role's warps (late:TMA)")
      ->type_name("HOW");
  command.add_option("--replay", options.replay, "a hold, as a report prints it")
      ->type_name("HOLD")
      ->expected(1)
      ->take_all();
  command
      .add_option_function<std::string>(
          "--antagonist",
          [&options](const std::string&) { options.antagonist = casefile::Antagonist::tmem; })
      ->check(CLI::IsMember({"tmem"}))
      ->type_name("tmem")
      ->description(
          "a kernel of ours on another stream, run when nothing else can: it takes, marks and "
          "frees "
          "the SM's tensor memory");
  command.add_option("--time-limit", options.time_limit_s, "for a run")->type_name("SECONDS");
  command
      .add_option_function<std::string>(
          "--memory-limit",
          [&options](const std::string& text) {
            const auto bytes = parse_bytes(text);
            if (!bytes)
              throw CLI::ValidationError("--memory-limit",
                                         "`" + text + "`: write bytes, or 512M, or 4G");
            options.memory_limit_bytes = *bytes;
          },
          "for buffers and bookkeeping, as in 4G (default 16G)")
      ->type_name("BYTES");
  command
      .add_option("--step-limit", options.step_limit,
                  "warp instructions of a run (default 4 thousand million)")
      ->type_name("N");
}

void add_check(CLI::App& app, Options& options) {
  CLI::App* command = app.add_subcommand("check", "is this kernel right whichever warp is late?");
  add_run_flags(*command, options);
  command
      ->add_option_function<std::string>("--format",
                                         [&options](const std::string& text) {
                                           if (text == "json") options.format = Format::json;
                                         })
      ->check(CLI::IsMember({"text", "json"}))
      ->description("text or json");
  command->add_flag("--strict", options.strict,
                    "also ask for edges that shipped kernels do without");
  command
      ->add_option_function<std::string>(
          "--require", [&options](const std::string&) { options.require_all_schedules = true; })
      ->check(CLI::IsMember({"all-schedules"}))
      ->description("all-schedules: a weaker clean is exit code 1");
  command->add_flag("!--no-witness", options.witness,
                    "do not look for a schedule that shows a race");
  command->add_flag("--quiet", options.quiet, "one line a case");
}

// A first word that is no command: the library would only say that a command is missing.
bool is_unknown_command(int argc, char** argv, const CLI::App& app) {
  if (argc < 2 || argv[1][0] == '-') return false;
  return app.get_subcommands([&](const CLI::App* command) { return command->check_name(argv[1]); })
      .empty();
}

int parse_error(const CLI::App& app, const CLI::ParseError& error) {
  if (error.get_exit_code() == 0) return app.exit(error);  // --help, --version
  fmt::print(stderr,
             "latewarp: {}\n  `latewarp --help` and `latewarp check --help` list what there is\n",
             error.what());
  return kExitBadInput;
}

}  // namespace

int run_command_line(int argc, char** argv) {
  Options options;
  std::string rule;
  CLI::App app(
      "latewarp: finds and proves missing synchronisation in GPU kernels, from PTX, without a GPU",
      "latewarp");
  app.set_version_flag("--version", kVersion);
  app.require_subcommand(1);
  add_check(app, options);
  add_run_flags(*app.add_subcommand("run", "only run; compare outputs with the reference"),
                options);
  app.add_subcommand("coverage", "forms of PTX used, and those not modelled")
      ->add_option("ptx", options.inputs, "PTX files")
      ->type_name("")
      ->required();
  app.add_subcommand("explain", "what a rule of the rule book says")
      ->add_option("rule", rule,
                   "as in B-1, or the code of a race, as in SMEM-WAR; left out: all rules")
      ->type_name("");
  if (is_unknown_command(argc, argv, app)) {
    fmt::print(stderr,
               "latewarp: there is no command `{}`; write check, run, coverage or explain\n",
               argv[1]);
    return kExitBadInput;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return parse_error(app, error);
  }
  options.repeat = repeated_flags(options);
  base::set_check_context(
      fmt::format("case {}", options.inputs.empty() ? "" : options.inputs.front()));
  if (app.got_subcommand("check")) return check(options);
  if (app.got_subcommand("run")) return run(options);
  return app.got_subcommand("coverage") ? coverage(options) : explain(rule);
}

}  // namespace lw::cli
