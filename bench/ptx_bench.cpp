// Parsing, verifying and printing: a kernel as compiled, and a module of 100,000 lines made of
// copies of it. Bytes a second are of the text.

#include <benchmark/benchmark.h>

#include <algorithm>
#include <fstream>
#include <sstream>
#include <string>

#include "ptx/parser.h"
#include "ptx/printer.h"
#include "ptx/verifier.h"

namespace lw {
namespace {

std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::string kernel_text() { return read(LW_KERNELS "/kda_prefill/compiled/fused_k123.sm_90a.ptx"); }

// Copies of the module's last kernel under other names, until there are enough lines.
std::string large_text() {
  std::string text = kernel_text();
  const size_t start = text.find(".visible .entry");
  const size_t end = text.rfind("\n}") + 3;
  const std::string kernel = text.substr(start, end - start);
  const std::string name = "fused_k123";
  text.resize(start);
  for (int copy = 0; std::count(text.begin(), text.end(), '\n') < 100'000; ++copy) {
    std::string other = kernel;
    for (size_t at = 0; (at = other.find(name, at)) != std::string::npos; at += name.size() + 8) {
      other.insert(at, "copy" + std::to_string(1000 + copy));
    }
    text += other;
  }
  return text;
}

void set_bytes(benchmark::State& state, const std::string& text) {
  state.SetBytesProcessed(static_cast<int64_t>(state.iterations() * text.size()));
  state.counters["lines"] = static_cast<double>(std::count(text.begin(), text.end(), '\n'));
}

void parse(benchmark::State& state, const std::string& text) {
  for (auto _ : state) {
    diagnose::Emitter emitter;
    benchmark::DoNotOptimize(ptx::parse(text, "bench", emitter));
    if (!emitter.empty()) state.SkipWithError("the text does not parse");
  }
  set_bytes(state, text);
}

void verify(benchmark::State& state, const std::string& text) {
  diagnose::Emitter emitter;
  const auto module = ptx::parse(text, "bench", emitter);
  for (auto _ : state) benchmark::DoNotOptimize(ptx::verify(*module, emitter));
  set_bytes(state, text);
}

void print(benchmark::State& state, const std::string& text) {
  diagnose::Emitter emitter;
  const auto module = ptx::parse(text, "bench", emitter);
  for (auto _ : state) benchmark::DoNotOptimize(ptx::print(*module));
  set_bytes(state, text);
}

BENCHMARK_CAPTURE(parse, kda_kernel, kernel_text());
BENCHMARK_CAPTURE(parse, hundred_thousand_lines, large_text())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(verify, hundred_thousand_lines, large_text())->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(print, hundred_thousand_lines, large_text())->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace lw
