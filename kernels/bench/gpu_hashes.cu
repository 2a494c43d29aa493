// Runs the benchmark kernels on a GPU with the inputs of the cases beside this file, from the
// committed PTX, and prints FNV-1a of the outputs: what latewarp's machine must give bit for bit.
//
//   gpu_hashes COMPILED > expected_hashes.tsv      (scripts/gpu_kernels calls it)

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "casefile/generate.h"

namespace {

namespace generate = lw::casefile;

void check(cudaError_t error, const std::string& what) {
  if (error == cudaSuccess) return;
  std::fprintf(stderr, "%s: %s\n", what.c_str(), cudaGetErrorString(error));
  std::exit(2);
}

struct Input {
  enum Kind { normal_f32, normal_f16, integers } kind;
  size_t count;
  uint64_t seed;
  double scale = 1.0;
  int64_t low = 0, high = 0;
};

std::vector<uint8_t> bytes_of(const Input& input) {
  std::vector<uint8_t> bytes;
  auto append = [&bytes](uint64_t element, int size) {
    for (int i = 0; i < size; ++i) bytes.push_back(static_cast<uint8_t>(element >> (8 * i)));
  };
  for (size_t i = 0; i < input.count; ++i) {
    if (input.kind == Input::integers) {
      append(static_cast<uint64_t>(generate::random_integer(input.seed, i, input.low, input.high)),
             4);
    } else {
      const bool half = input.kind == Input::normal_f16;
      append(generate::encode_float(input.scale * generate::random_normal(input.seed, i),
                                    half ? generate::kF16 : generate::kF32),
             half ? 2 : 4);
    }
  }
  return bytes;
}

// A kernel takes its inputs, one output, then integers.
struct Run {
  const char* kernel;
  const char* output;
  std::vector<Input> inputs;
  size_t output_bytes;
  dim3 grid;
  unsigned threads;
  std::vector<int> numbers;
};

uint64_t hash_of_output(const Run& run, const std::string& folder) {
  cudaLibrary_t library;
  cudaKernel_t kernel;
  const std::string path = folder + "/" + run.kernel + ".sm_90a.ptx";
  check(cudaLibraryLoadFromFile(&library, path.c_str(), nullptr, nullptr, 0, nullptr, nullptr, 0),
        path);
  check(cudaLibraryGetKernel(&kernel, library, run.kernel), path);
  std::vector<void*> pointers(run.inputs.size() + 1);
  for (size_t i = 0; i < run.inputs.size(); ++i) {
    const std::vector<uint8_t> bytes = bytes_of(run.inputs[i]);
    check(cudaMalloc(&pointers[i], bytes.size()), "cudaMalloc");
    check(cudaMemcpy(pointers[i], bytes.data(), bytes.size(), cudaMemcpyHostToDevice), "copy");
  }
  check(cudaMalloc(&pointers.back(), run.output_bytes), "cudaMalloc");
  std::vector<int> numbers = run.numbers;
  std::vector<void*> parameters;
  for (void*& pointer : pointers) parameters.push_back(&pointer);
  for (int& number : numbers) parameters.push_back(&number);
  check(cudaLaunchKernel(reinterpret_cast<const void*>(kernel), run.grid, dim3(run.threads),
                         parameters.data(), 0, nullptr),
        path);
  std::vector<uint8_t> output(run.output_bytes);
  check(cudaMemcpy(output.data(), pointers.back(), output.size(), cudaMemcpyDeviceToHost), path);
  for (void* pointer : pointers) cudaFree(pointer);
  uint64_t hash = 0xcbf29ce484222325u;
  for (uint8_t byte : output) hash = (hash ^ byte) * 0x100000001b3u;
  return hash;
}

Input normal(size_t count, uint64_t seed, double scale = 1.0) {
  return {Input::normal_f32, count, seed, scale};
}

Input normal_f16(size_t count, uint64_t seed) { return {Input::normal_f16, count, seed}; }

Input integers(size_t count, int64_t low, int64_t high) {
  return {Input::integers, count, 1, 1.0, low, high};
}

std::vector<Run> runs() {
  const size_t square = 256 * 256;
  return {
      {"alu", "out", {}, 2048 * 4, 8, 256, {500}},
      {"diverge", "out", {}, 2048 * 4, 8, 256, {500}},
      {"gemm",
       "c",
       {normal_f16(256 * 512, 1), normal_f16(512 * 256, 2)},
       square * 4,
       dim3(4, 4),
       128,
       {256, 512}},
      {"reduction", "out", {integers(8192, -8, 8)}, 8 * 4, 8, 1024, {16}},
      {"scan", "out", {integers(8192, -8, 8)}, 8192 * 4, 8, 1024, {4}},
      {"sgemm", "c", {normal(square, 1), normal(square, 2)}, square * 4, dim3(8, 8), 256, {256}},
      {"softmax", "out", {normal(64 * 2048, 1, 3.0)}, 64 * 2048 * 4, 64, 256, {}},
      {"vcopy1", "out", {integers(262144, 0, 2000000000)}, 262144 * 4, 8, 256, {64}},
      {"vcopy4", "out", {integers(262144, 0, 2000000000)}, 262144 * 4, 8, 256, {64}},
      {"vector_add", "sum", {normal(1000, 1), normal(1000, 2)}, 1000 * 4, 4, 256, {1000}},
  };
}

}  // namespace

int main(int argument_count, char** arguments) {
  if (argument_count != 2) {
    std::fprintf(stderr, "usage: gpu_hashes COMPILED\n");
    return 2;
  }
  cudaDeviceProp device;
  check(cudaGetDeviceProperties(&device, 0), "device");
  std::printf(
      "# FNV-1a (64 bit) of the bytes of each output of the cases, taken on an %s.\n"
      "# Written by scripts/gpu_kernels.\n",
      device.name);
  for (const Run& run : runs()) {
    std::printf("%s\t%s\t%016llx\n", run.kernel, run.output,
                static_cast<unsigned long long>(hash_of_output(run, arguments[1])));
  }
  return 0;
}
