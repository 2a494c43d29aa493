// Warp instructions a second of our kernels, without and with order checks, on one thread. `Mwi` is
// million warp instructions a second, best of the repetitions; `ratio` is the time with checks over
// the time without, each at its best (run on a quiet machine: --benchmark_repetitions=9, and take
// the largest Mwi).

#include <benchmark/benchmark.h>

#include <map>

#include "case_run.h"

namespace {

struct Measured {
  lw::bench::CaseRun run;
  double best_unchecked = 0;

  explicit Measured(const std::string& name) : run(name) {}
};

Measured& case_of(const std::string& name) {
  static std::map<std::string, Measured> cases;
  return cases.try_emplace(name, name).first->second;
}

void measure(benchmark::State& state, const std::string& name, bool checked) {
  Measured& measured = case_of(name);
  if (!measured.run.is_ready()) return state.SkipWithError(measured.run.error().c_str());
  double best = 0;
  for (auto _ : state) {
    lw::bench::Outcome outcome = measured.run.run(checked);
    if (!outcome.finished) return state.SkipWithError(outcome.why.c_str());
    state.SetIterationTime(outcome.seconds);
    best = std::max(best, static_cast<double>(outcome.instructions) / outcome.seconds / 1e6);
  }
  if (!checked) measured.best_unchecked = std::max(measured.best_unchecked, best);
  if (checked && measured.best_unchecked != 0)
    state.counters["ratio"] = measured.best_unchecked / best;
  state.counters["Mwi"] = best;
}

void unchecked(benchmark::State& state, const char* name) { measure(state, name, false); }
void checked(benchmark::State& state, const char* name) { measure(state, name, true); }

#define LW_KERNEL(name, file)                                                               \
  BENCHMARK_CAPTURE(unchecked, name, file)->UseManualTime()->Unit(benchmark::kMillisecond); \
  BENCHMARK_CAPTURE(checked, name, file)->UseManualTime()->Unit(benchmark::kMillisecond)

LW_KERNEL(alu, "bench/alu");
LW_KERNEL(diverge, "bench/diverge");
LW_KERNEL(sgemm, "bench/sgemm");
LW_KERNEL(softmax, "bench/softmax");
LW_KERNEL(scan, "bench/scan");
LW_KERNEL(reduction, "bench/reduction");
LW_KERNEL(vcopy1, "bench/vcopy1");
LW_KERNEL(vcopy4, "bench/vcopy4");
LW_KERNEL(gemm, "bench/gemm");
LW_KERNEL(kda, "kda_prefill/cases/padded_fixed");

}  // namespace
