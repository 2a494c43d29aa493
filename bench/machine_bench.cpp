// Warp instructions a second of the kernels of kernels/bench, without and with order checks, on one
// thread. `Mwi` is million warp instructions a second, best of the repetitions (run on a quiet
// machine: --benchmark_repetitions=9, and take the largest).

#include <benchmark/benchmark.h>

#include <map>

#include "case_run.h"

namespace {

const lw::bench::CaseRun& case_of(const std::string& name) {
  static std::map<std::string, lw::bench::CaseRun> cases;
  return cases.try_emplace(name, name).first->second;
}

void run(benchmark::State& state, const std::string& name, bool checked) {
  const lw::bench::CaseRun& run = case_of(name);
  if (!run.is_ready()) return state.SkipWithError(run.error().c_str());
  double best = 0;
  for (auto _ : state) {
    lw::bench::Outcome outcome = run.run(checked);
    if (!outcome.finished) return state.SkipWithError(outcome.why.c_str());
    state.SetIterationTime(outcome.seconds);
    best = std::max(best, static_cast<double>(outcome.instructions) / outcome.seconds / 1e6);
  }
  state.counters["Mwi"] = best;
}

void unchecked(benchmark::State& state, const char* name) { run(state, name, false); }
void checked(benchmark::State& state, const char* name) { run(state, name, true); }

#define LW_KERNEL(name)                                                                      \
  BENCHMARK_CAPTURE(unchecked, name, #name)->UseManualTime()->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(checked, name, #name)->UseManualTime()->Unit(benchmark::kMillisecond)

LW_KERNEL(alu);
LW_KERNEL(diverge);
LW_KERNEL(sgemm);
LW_KERNEL(softmax);
LW_KERNEL(scan);
LW_KERNEL(reduction);
LW_KERNEL(vcopy1);
LW_KERNEL(vcopy4);
LW_KERNEL(gemm);

}  // namespace
