// What only a GPU can show of fused_k123, printed as tables; the exit code is 1 if a row says so.
//
//   gpu_test COMPILED STALLED HASHES
//
// COMPILED is the folder of the committed PTX, which the driver assembles here, so that what is
// shown holds for the very text that latewarp reads. STALLED holds the forms with a K1 warp held
// back (scripts/gpu_kernels compiles them). HASHES is written: FNV-1a of every output of the fixed
// form on the inputs of the case files.
//
// - Outputs against the fp64 reference, for every input mode (problem.h).
// - Time: 1,000 launches of the fixed form are bit-equal to the first; a K1 warp held back for 20
// us
//   changes words in the form that lacks the order in question, and none in the fixed one.

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "agreement.h"
#include "fused_k123.h"
#include "problem.h"

namespace kda_prefill {
namespace {

constexpr int kOutputs = 6;
constexpr std::array<const char*, kOutputs> kOutputNames{"k_scaled",   "q_scaled", "kg",
                                                         "decay_last", "aqk",      "akk"};
constexpr int kDecayLast = 3;  // the fp32 one

void check(cudaError_t error, const char* what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
  std::exit(2);
}

class DeviceBytes {
 public:
  explicit DeviceBytes(size_t size) : size_(size) { check(cudaMalloc(&data_, size), "cudaMalloc"); }
  ~DeviceBytes() { cudaFree(data_); }
  DeviceBytes(const DeviceBytes&) = delete;
  DeviceBytes& operator=(const DeviceBytes&) = delete;
  DeviceBytes(DeviceBytes&& other) noexcept : data_(other.data_), size_(other.size_) {
    other.data_ = nullptr;
  }

  void* data() const { return data_; }
  size_t size() const { return size_; }

 private:
  void* data_ = nullptr;
  size_t size_;
};

template <class T>
DeviceBytes on_device(const std::vector<T>& values) {
  DeviceBytes bytes(values.size() * sizeof(T));
  check(cudaMemcpy(bytes.data(), values.data(), bytes.size(), cudaMemcpyHostToDevice), "copy");
  return bytes;
}

struct DeviceOutputs {
  std::vector<DeviceBytes> parts;

  explicit DeviceOutputs(const Problem& problem) {
    const size_t rows = size_t(problem.rows) * problem.heads * kHeadDim;
    const size_t tiles = size_t(problem.heads) * problem.chunks();
    for (size_t bytes : {rows * 2, rows * 2, rows * 2, tiles * kHeadDim * 4,
                         tiles * kChunk * kChunk * 2, tiles * kChunk * kChunk * 2}) {
      parts.emplace_back(bytes);
    }
  }

  // So that a word nobody writes is not by chance the right one.
  void poison() {
    for (DeviceBytes& part : parts) check(cudaMemset(part.data(), 0xff, part.size()), "memset");
  }

  std::vector<uint8_t> bytes_of(int output) const {
    std::vector<uint8_t> bytes(parts[output].size());
    check(cudaMemcpy(bytes.data(), parts[output].data(), bytes.size(), cudaMemcpyDeviceToHost),
          "copy");
    return bytes;
  }
};

// A problem in device memory, ready to be launched.
class Setup {
 public:
  explicit Setup(const Problem& problem)
      : problem_(problem),
        q_(on_device(problem.q)),
        k_(on_device(problem.k)),
        gate_(on_device(problem.gate)),
        beta_(on_device(problem.beta)),
        a_log_(on_device(problem.a_log)),
        dt_bias_(on_device(problem.dt_bias)),
        cu_seqlens_(on_device(problem.cu_seqlens())),
        chunk_indices_(on_device(problem.chunk_indices())) {}

  const Problem& problem() const { return problem_; }

  FusedK123 arguments(const DeviceOutputs& outputs) const {
    const Problem& p = problem_;
    auto bf16 = [](const DeviceBytes& bytes) { return static_cast<Bf16*>(bytes.data()); };
    auto fp32 = [](const DeviceBytes& bytes) { return static_cast<float*>(bytes.data()); };
    auto table = [&p](const DeviceBytes& bytes) {
      return p.varlen ? static_cast<const int*>(bytes.data()) : nullptr;
    };
    const int batch = p.varlen ? 1 : int(p.sequences.size());
    return {.q = bf16(q_),
            .k = bf16(k_),
            .gate = bf16(gate_),
            .beta = fp32(beta_),
            .a_log = fp32(a_log_),
            .dt_bias = fp32(dt_bias_),
            .cu_seqlens = table(cu_seqlens_),
            .chunk_indices = table(chunk_indices_),
            .k_scaled = bf16(outputs.parts[0]),
            .q_scaled = bf16(outputs.parts[1]),
            .kg = bf16(outputs.parts[2]),
            .decay_last = fp32(outputs.parts[kDecayLast]),
            .aqk = bf16(outputs.parts[4]),
            .akk = bf16(outputs.parts[5]),
            .batch = batch,
            .tokens = p.rows / batch,
            .real_tokens = p.varlen ? p.rows : p.sequences[0].real_rows,
            .heads = p.heads,
            .chunks = p.chunks(),
            .scale = p.scale,
            .lower_bound = p.lower_bound};
  }

 private:
  const Problem& problem_;
  DeviceBytes q_, k_, gate_, beta_, a_log_, dt_bias_, cu_seqlens_, chunk_indices_;
};

const void* load_kernel(const std::string& path) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  check(cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        path.c_str());
  check(cudaLibraryGetKernel(&kernel, library, "fused_k123"), path.c_str());
  return reinterpret_cast<const void*>(kernel);
}

void run(const Setup& setup, const DeviceOutputs& outputs, const void* kernel) {
  check(launch_fused_k123(setup.arguments(outputs), nullptr, kernel), "launch");
}

// ---- against the reference ------------------------------------------------------------------

std::vector<float> widened(const std::vector<uint8_t>& bytes, bool fp32) {
  std::vector<float> values(bytes.size() / (fp32 ? 4 : 2));
  for (size_t i = 0; i < values.size(); ++i) {
    Bf16 half = 0;
    if (fp32) {
      std::copy_n(&bytes[4 * i], 4, reinterpret_cast<uint8_t*>(&values[i]));
    } else {
      std::copy_n(&bytes[2 * i], 2, reinterpret_cast<uint8_t*>(&half));
      values[i] = from_bf16(half);
    }
  }
  return values;
}

bool show_agreement(const Problem& problem, const void* kernel) {
  const Setup setup(problem);
  DeviceOutputs outputs(problem);
  outputs.poison();
  run(setup, outputs, kernel);
  check(cudaDeviceSynchronize(), problem.name.c_str());
  const StagedOutputs staged = reference_of(problem);
  const std::vector<double>* const references[kOutputs] = {
      &staged.k_scaled, &staged.q_scaled, &staged.kg, &staged.decay_last, &staged.aqk, &staged.akk};
  bool good = true;
  std::printf("%-44s", problem.name.c_str());
  for (int i = 0; i < kOutputs; ++i) {
    const Agreement a = agreement(*references[i], widened(outputs.bytes_of(i), i == kDecayLast));
    good = good && a.acceptable();
    std::printf(" %8.1e/%7.1e%s", a.rmse_ratio, a.max_error, a.acceptable() ? " " : "!");
  }
  std::printf(" %s\n", good ? "ok" : "WRONG");
  return good;
}

bool show_agreements(const void* kernel) {
  std::printf("RMSE ratio / largest error against fp64\n%-44s", "");
  for (const char* name : kOutputNames) std::printf(" %-17s", name);
  std::printf("\n");
  bool good = true;
  for (const Problem& problem : correctness_problems()) {
    good = show_agreement(problem, kernel) && good;
  }
  return good;
}

// ---- hashes of the cases --------------------------------------------------------------------

uint64_t fnv1a(const std::vector<uint8_t>& bytes) {
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

void write_hashes(const void* kernel, const char* path) {
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "device");
  std::ofstream file(path);
  file << "# FNV-1a (64 bit) of the bytes of each output of the `*_fixed` cases, taken on an "
       << device.name << ".\n# Written by scripts/gpu_kernels.\n";
  for (const char* name : {"eqlen", "padded", "varlen"}) {
    const Problem problem = case_problem(name, 2);
    const Setup setup(problem);
    DeviceOutputs outputs(problem);
    outputs.poison();
    run(setup, outputs, kernel);
    for (int i = 0; i < kOutputs; ++i) {
      char line[96];
      std::snprintf(line, sizeof line, "%s\t%s\t%016llx\n", name, kOutputNames[i],
                    static_cast<unsigned long long>(fnv1a(outputs.bytes_of(i))));
      file << line;
    }
  }
  std::printf("\nhashes of the cases: %s\n", path);
}

// ---- time -----------------------------------------------------------------------------------

__global__ void count_differences(const uint32_t* a, const uint32_t* b, size_t words,
                                  unsigned* count) {
  unsigned different = 0;
  for (size_t i = blockIdx.x * size_t{blockDim.x} + threadIdx.x; i < words;
       i += size_t{gridDim.x} * blockDim.x) {
    different += a[i] != b[i];
  }
  if (different != 0) atomicAdd(count, different);
}

struct Difference {
  int launches;
  int wrong_launches = 0;
  unsigned median_words = 0;  // of the wrong launches
  std::array<uint64_t, kOutputs> words{};
};

Difference compare_launches(const Setup& setup, const void* kernel, const DeviceOutputs& expected,
                            int launches) {
  DeviceOutputs actual(setup.problem());
  DeviceBytes counts(sizeof(unsigned) * launches * kOutputs);
  check(cudaMemset(counts.data(), 0, counts.size()), "memset");
  for (int n = 0; n < launches; ++n) {
    run(setup, actual, kernel);
    for (int i = 0; i < kOutputs; ++i) {
      count_differences<<<264, 512>>>(static_cast<uint32_t*>(actual.parts[i].data()),
                                      static_cast<uint32_t*>(expected.parts[i].data()),
                                      actual.parts[i].size() / 4,
                                      static_cast<unsigned*>(counts.data()) + n * kOutputs + i);
    }
  }
  std::vector<unsigned> host(launches * kOutputs);
  check(cudaMemcpy(host.data(), counts.data(), counts.size(), cudaMemcpyDeviceToHost), "launches");
  Difference result{launches};
  std::vector<unsigned> wrong;
  for (int n = 0; n < launches; ++n) {
    unsigned sum = 0;
    for (int i = 0; i < kOutputs; ++i) {
      sum += host[n * kOutputs + i];
      result.words[i] += host[n * kOutputs + i];
    }
    if (sum != 0) wrong.push_back(sum);
  }
  std::sort(wrong.begin(), wrong.end());
  result.wrong_launches = int(wrong.size());
  if (!wrong.empty()) result.median_words = wrong[wrong.size() / 2];
  return result;
}

enum class Expect { no_difference, difference, anything };

bool show_difference(const char* what, const Difference& d, Expect expect) {
  const bool good =
      expect == Expect::anything || (expect == Expect::difference) == (d.wrong_launches > 0);
  std::printf("  %-44s %5d of %5d wrong, median %8u words;", what, d.wrong_launches, d.launches,
              d.median_words);
  for (int i = 0; i < kOutputs; ++i) {
    if (d.words[i] != 0) std::printf(" %s", kOutputNames[i]);
  }
  std::printf(" %s\n", good ? "" : "UNEXPECTED");
  return good;
}

// Microseconds a launch, in turn with the others so that the clocks are the same for all.
void show_times(const Setup& setup, const DeviceOutputs& outputs,
                const std::vector<std::pair<const char*, const void*>>& kernels) {
  constexpr int kRounds = 200;
  cudaEvent_t start, stop;
  check(cudaEventCreate(&start), "event");
  check(cudaEventCreate(&stop), "event");
  std::vector<std::vector<float>> times(kernels.size());
  for (int round = 0; round < kRounds; ++round) {
    for (size_t i = 0; i < kernels.size(); ++i) {
      float milliseconds;
      check(cudaEventRecord(start), "event");
      run(setup, outputs, kernels[i].second);
      check(cudaEventRecord(stop), "event");
      check(cudaEventSynchronize(stop), "event");
      check(cudaEventElapsedTime(&milliseconds, start, stop), "event");
      times[i].push_back(milliseconds * 1000);
    }
  }
  for (size_t i = 0; i < kernels.size(); ++i) {
    std::sort(times[i].begin(), times[i].end());
    std::printf("  time, %-38s median %8.2f us, quartiles %.2f to %.2f\n", kernels[i].first,
                times[i][kRounds / 2], times[i][kRounds / 4], times[i][kRounds * 3 / 4]);
  }
}

struct Kernels {
  const void *fixed, *as_found, *stage_as_found;
  const void *fixed_before_reads, *fixed_after_done, *as_found_before_reads,
      *stage_as_found_after_done;
};

bool show_schedules(const Problem& problem, const Kernels& kernels) {
  const Setup setup(problem);
  DeviceOutputs expected(problem);
  run(setup, expected, kernels.fixed);
  std::printf("\n%s\n", problem.name.c_str());
  auto row = [&](const char* what, const void* kernel, int launches, Expect expect) {
    return show_difference(what, compare_launches(setup, kernel, expected, launches), expect);
  };
  bool good = row("fixed", kernels.fixed, 1000, Expect::no_difference);
  good &= row("fixed, warp 3 late before its reads", kernels.fixed_before_reads, 100,
              Expect::no_difference);
  good &=
      row("fixed, warp 3 late after k1_done", kernels.fixed_after_done, 100, Expect::no_difference);
  good &= row("as_found, warp 3 late before its reads", kernels.as_found_before_reads, 100,
              Expect::difference);
  good &= row("stage_as_found, warp 3 late after k1_done", kernels.stage_as_found_after_done, 100,
              Expect::difference);
  row("as_found, nobody held", kernels.as_found, 1000, Expect::anything);
  row("stage_as_found, nobody held", kernels.stage_as_found, 1000, Expect::anything);
  show_times(setup, expected,
             {{"fixed", kernels.fixed},
              {"as_found", kernels.as_found},
              {"stage_as_found", kernels.stage_as_found}});
  return good;
}

// The launcher's own copy of the kernel, compiled ahead of time, gives the same bits as the PTX.
bool show_launcher(const void* kernel) {
  const Problem problem = case_problem("varlen", 2);
  const Setup setup(problem);
  DeviceOutputs by_module(problem), by_launcher(problem);
  run(setup, by_module, kernel);
  check(launch_fused_k123(setup.arguments(by_launcher), nullptr), "launch");
  bool same = true;
  for (int i = 0; i < kOutputs; ++i) same &= by_module.bytes_of(i) == by_launcher.bytes_of(i);
  std::printf("\nlauncher's kernel against the PTX: %s\n", same ? "equal" : "DIFFERENT");
  return same;
}

}  // namespace
}  // namespace kda_prefill

int main(int argument_count, char** arguments) {
  using namespace kda_prefill;
  if (argument_count != 4) {
    std::fprintf(stderr, "usage: gpu_test COMPILED STALLED HASHES\n");
    return 2;
  }
  const std::string compiled = arguments[1], stalled = arguments[2];
  const Kernels kernels{load_kernel(compiled + "/fused_k123.sm_90a.ptx"),
                        load_kernel(compiled + "/fused_k123_as_found.sm_90a.ptx"),
                        load_kernel(compiled + "/fused_k123_stage_as_found.sm_90a.ptx"),
                        load_kernel(stalled + "/fixed.before_the_reads.cubin"),
                        load_kernel(stalled + "/fixed.after_k1_done.cubin"),
                        load_kernel(stalled + "/as_found.before_the_reads.cubin"),
                        load_kernel(stalled + "/stage_as_found.after_k1_done.cubin")};
  bool good = show_agreements(kernels.fixed);
  good &= show_launcher(kernels.fixed);
  write_hashes(kernels.fixed, arguments[3]);
  for (auto [tokens, heads] : {std::pair{512, 4}, {1024, 96}, {2048, 64}}) {
    good &= show_schedules(uniform_problem(1, tokens, heads), kernels);
  }
  std::printf("\n%s\n", good ? "all as expected" : "NOT as expected");
  return good ? 0 : 1;
}
