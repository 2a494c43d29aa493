#include "casefile/inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "casefile/contents.h"
#include "casefile/read_case.h"
#include "casefile/tensor_map_fields.h"
#include "casefile/validate.h"
#include "ptx/parser.h"
#include "ptx/verifier.h"

namespace lw::casefile {
namespace {

using diagnose::Emitter;

void load_modules(Inputs& inputs, Emitter& emitter) {
  for (const ModuleSource& source : inputs.parts.modules) {
    const std::optional<std::string> text = read_text(source.path, source.place, emitter);
    if (!text) continue;
    std::optional<ptx::Module> module = ptx::parse(*text, source.path, emitter);
    if (module && ptx::verify(*module, emitter)) inputs.modules.push_back(std::move(*module));
  }
}

void check_sizes(const Inputs& inputs, uint64_t memory_limit_bytes, Emitter& emitter) {
  uint64_t total = 0;
  for (const Buffer& buffer : inputs.parts.buffers) {
    total += buffer.size_bytes();
    if (buffer.size_bytes() > machine::Memory::kRegionBytes) {
      emitter.emit({buffer.place,
                    fmt::format("buffer `{}` has {} bytes; a buffer has at most {}", buffer.name,
                                buffer.size_bytes(), machine::Memory::kRegionBytes),
                    {},
                    "give a smaller shape"});
    }
  }
  if (memory_limit_bytes != 0 && total > memory_limit_bytes) {
    emitter.emit({inputs.parts.buffers.front().place,
                  fmt::format("the buffers need {} bytes, the memory limit is {}", total,
                              memory_limit_bytes),
                  {},
                  "give smaller shapes or a larger `--memory-limit`"});
  }
}

void load_data(Inputs& inputs, Emitter& emitter) {
  for (const Buffer& buffer : inputs.parts.buffers) {
    std::optional<std::vector<uint8_t>> bytes = make_contents(buffer, emitter);
    inputs.contents.push_back(bytes ? std::move(*bytes) : std::vector<uint8_t>());
  }
  for (const TensorMap& map : inputs.parts.tensor_maps) {
    inputs.raw_maps.push_back(read_raw_map(map, emitter));
    check_tensor_map(inputs.parts, map, emitter);
  }
}

void check_launches(const Inputs& inputs, Emitter& emitter) {
  for (const Launch& launch : inputs.parts.launches) {
    const auto kernel = find_kernel(inputs.parts, inputs.modules, launch, emitter);
    if (kernel) check_launch(launch, *kernel, inputs.modules[kernel->module], emitter);
  }
}

}  // namespace

std::optional<Inputs> load_inputs(Case parts, uint64_t memory_limit_bytes, Emitter& emitter) {
  Inputs inputs;
  inputs.parts = std::move(parts);
  load_modules(inputs, emitter);
  check_sizes(inputs, memory_limit_bytes, emitter);
  if (!emitter.empty()) return std::nullopt;
  check_launches(inputs, emitter);
  load_data(inputs, emitter);
  if (!emitter.empty()) return std::nullopt;
  return inputs;
}

std::vector<size_t> output_buffers(const Case& parts) {
  std::vector<size_t> indices;
  for (const Output& output : parts.check.outputs) {
    indices.push_back(static_cast<size_t>(parts.find_buffer(output.buffer) - parts.buffers.data()));
  }
  if (indices.empty()) {
    indices.resize(parts.buffers.size());
    std::iota(indices.begin(), indices.end(), size_t{0});
  }
  return indices;
}

}  // namespace lw::casefile
