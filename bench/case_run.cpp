#include "case_run.h"

#include <ctime>

#include "casefile/read_case.h"
#include "order/engine.h"
#include "schedule/scheduler.h"

namespace lw::bench {
namespace {

// Of this thread: a busy machine disturbs it less than the clock on the wall.
double cpu_seconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

}  // namespace

CaseRun::CaseRun(const std::string& name) {
  diagnose::Emitter emitter;
  std::optional<casefile::Case> parts =
      casefile::read_case(std::string(LW_KERNELS) + "/" + name + ".toml", emitter);
  if (parts) inputs_ = casefile::load_inputs(std::move(*parts), uint64_t{4} << 30, emitter);
  for (const diagnose::Diagnostic& diagnostic : emitter.diagnostics())
    error_ += diagnostic.place.file + ": " + diagnostic.message + "\n";
}

Outcome CaseRun::run(bool checked) const {
  diagnose::Emitter emitter;
  std::optional<casefile::SetUp> set_up = casefile::set_up(*inputs_, {}, emitter);
  Outcome outcome;
  if (!set_up) {
    outcome.why = emitter.diagnostics().front().message;
    return outcome;
  }
  schedule::Scheduler policy(schedule::steady());
  order::Options order;
  order.by_instruction = false;
  order::Engine engine(order, &set_up->machine->order_values());
  double start = cpu_seconds();
  machine::RunResult result = set_up->machine->run(policy, checked ? &engine : nullptr);
  outcome.seconds = cpu_seconds() - start;
  outcome.finished = result.finished;
  outcome.instructions = result.reach.instructions;
  if (result.fault) outcome.why = result.fault->text;
  if (result.not_analysed) outcome.why = "not analysed: " + result.not_analysed->reason;
  if (checked) outcome.races = engine.finish().races.size();
  for (size_t index : casefile::output_buffers(inputs_->parts))
    outcome.outputs.emplace_back(inputs_->parts.buffers[index].name,
                                 casefile::buffer_bytes(*set_up, index));
  return outcome;
}

}  // namespace lw::bench
