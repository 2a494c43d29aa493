// Inputs -> a machine with its memory filled and its launches queued.

#include <fmt/format.h>

#include <array>
#include <cstring>

#include "base/check.h"
#include "casefile/antagonist.h"
#include "casefile/inputs.h"
#include "casefile/tensor_map_fields.h"
#include "casefile/validate.h"

namespace lw::casefile {
namespace {

using diagnose::Emitter;
using machine::Machine;

// How far a pointer that nobody described may be followed.
constexpr uint64_t kOpenBufferLimit = uint64_t{1} << 28;

machine::Dim3 narrow(const Dim3& wide) {
  return {static_cast<uint32_t>(wide.x), static_cast<uint32_t>(wide.y),
          static_cast<uint32_t>(wide.z)};
}

class Builder {
 public:
  Builder(const Inputs& inputs, const machine::Options& options, uint8_t fill, Emitter& emitter)
      : inputs_(inputs), fill_(fill), emitter_(emitter) {
    result_.machine = std::make_unique<Machine>(options);
  }

  std::optional<SetUp> build() {
    for (size_t i = 0; i < inputs_.parts.buffers.size(); ++i) add_buffer(i);
    for (const ptx::Module& module : inputs_.modules) {
      result_.modules.push_back(result_.machine->load(module));
    }
    for (const Launch& launch : inputs_.parts.launches) add_launch(launch);
    if (!emitter_.empty()) return std::nullopt;
    return std::move(result_);
  }

 private:
  machine::Memory& memory() { return result_.machine->memory(); }

  void add_buffer(size_t index) {
    const Buffer& buffer = inputs_.parts.buffers[index];
    const std::vector<uint8_t>& contents = inputs_.contents[index];
    const machine::BufferId id = memory().add_buffer(buffer.name, buffer.size_bytes());
    result_.buffers.push_back(id);
    std::byte* bytes = memory().bytes(id).data();
    if (contents.empty()) memory().set_unwritten(id);
    if (!contents.empty()) {
      std::memcpy(bytes, contents.data(), contents.size());
    } else if (fill_ != 0) {
      std::memset(bytes, fill_, buffer.size_bytes());
    }
  }

  void add_launch(const Launch& launch) {
    const auto kernel = find_kernel(inputs_.parts, inputs_.modules, launch, emitter_);
    LW_CHECK(kernel.has_value(), launch.kernel);  // load_inputs has looked
    const machine::ModuleId module = result_.modules[kernel->module];
    const std::vector<program::Parameter> parameters =
        result_.machine->parameters(module, kernel->function->name);
    Emitter own;
    check_arguments(inputs_.parts, launch, parameters, own);
    if (own.empty()) {
      machine::LaunchRequest request = plain_request(launch, *kernel, module);
      request.parameters = parameter_block(launch, parameters);
      const bool launched = result_.machine->launch(std::move(request), own).has_value();
      if (launched) check_static_shared(launch, inputs_.modules[kernel->module], own);
    }
    forward(own, launch);
  }

  void check_static_shared(const Launch& launch, const ptx::Module& module, Emitter& own) {
    const auto& program = result_.machine->launches().back()->program;
    if (program) check_shared_memory(launch, module, program->static_shared_bytes, own);
  }

  // What the machine itself refuses has no place in the case: it is the launch's.
  void forward(const Emitter& own, const Launch& launch) {
    for (diagnose::Diagnostic diagnostic : own.diagnostics()) {
      if (diagnostic.place.file.empty()) diagnostic.place = launch.place;
      emitter_.emit(std::move(diagnostic));
    }
  }

  machine::LaunchRequest plain_request(const Launch& launch, const Kernel& kernel,
                                       machine::ModuleId module) {
    machine::LaunchRequest request;
    request.module = module;
    request.kernel = kernel.function->name;
    request.grid = narrow(launch.grid);
    request.block = narrow(launch.block);
    request.cluster = cluster_of(launch, *kernel.function);
    request.dynamic_shared_bytes = static_cast<uint32_t>(launch.shared);
    request.registers = launch.registers;
    request.stream = static_cast<uint32_t>(launch.stream);
    request.programmatic = launch.programmatic;
    if (launch.cooperative) request.grid_workspace = grid_workspace();
    return request;
  }

  uint64_t grid_workspace() {
    constexpr std::array<uint32_t, 2> kFresh = {sizeof kFresh, 0};  // its size; nobody has arrived
    const machine::BufferId id = memory().add_buffer("grid workspace", sizeof kFresh);
    std::memcpy(memory().bytes(id).data(), kFresh.data(), sizeof kFresh);
    return memory().buffer(id).address;
  }

  static machine::Dim3 cluster_of(const Launch& launch, const ptx::Function& function) {
    if (launch.cluster) return narrow(*launch.cluster);
    machine::Dim3 cluster;
    const std::vector<uint32_t>& required = function.required_cluster;
    if (!required.empty()) cluster.x = required[0];
    if (required.size() > 1) cluster.y = required[1];
    if (required.size() > 2) cluster.z = required[2];
    return cluster;
  }

  std::vector<std::byte> parameter_block(const Launch& launch,
                                         const std::vector<program::Parameter>& parameters) {
    uint32_t end = 0;
    for (const program::Parameter& parameter : parameters) {
      end = std::max(end, parameter.offset + parameter.size);
    }
    std::vector<std::byte> block(end);
    for (size_t i = 0; i < parameters.size(); ++i) {
      std::byte* at = block.data() + parameters[i].offset;
      if (i < launch.args.size()) {
        write(launch.args[i], at, parameters[i].size);
      } else {
        write_word(at, open_buffer(launch, parameters[i]));
      }
    }
    return block;
  }

  static void write_word(std::byte* at, uint64_t word) { std::memcpy(at, &word, sizeof word); }

  uint64_t open_buffer(const Launch& launch, const program::Parameter& parameter) {
    result_.assumptions.push_back(fmt::format(
        "nobody described what parameter `{}` of `{}` points to: it got a buffer of its "
        "own, all zero, that grows as it is used",
        parameter.name, launch.kernel));
    return memory().buffer(memory().add_growing(parameter.name, kOpenBufferLimit)).address;
  }

  void write(const Argument& argument, std::byte* at, uint32_t size) {
    switch (argument.kind) {
      case Argument::Kind::object:
        write_object(argument, at, size);
        break;
      case Argument::Kind::scalar:
        std::memcpy(at, &argument.bits, dtype_bytes(argument.dtype));
        break;
      case Argument::Kind::bytes:
        std::memcpy(at, argument.bytes.data(), argument.bytes.size());
        break;
      case Argument::Kind::fields:
        for (const ArgumentField& field : argument.fields) {
          const bool is_map = inputs_.parts.find_tensor_map(field.value.name) != nullptr;
          write(field.value, at + field.offset, is_map ? machine::kTensorMapBytes : 8);
        }
        break;
      case Argument::Kind::open:
        break;
    }
  }

  void write_object(const Argument& argument, std::byte* at, uint32_t size) {
    if (const Buffer* buffer = inputs_.parts.find_buffer(argument.name)) {
      write_word(at, address_of(*buffer) + argument.byte_offset);
      return;
    }
    const machine::TensorMapBytes bytes = map_bytes(argument.name);
    if (size >= machine::kTensorMapBytes) {
      std::memcpy(at, bytes.data(), bytes.size());
      return;
    }
    const machine::BufferId copy = memory().add_buffer(argument.name, bytes.size());
    std::memcpy(memory().bytes(copy).data(), bytes.data(), bytes.size());
    write_word(at, memory().buffer(copy).address);
  }

  machine::TensorMapBytes map_bytes(const std::string& name) {
    const TensorMap* map = inputs_.parts.find_tensor_map(name);
    const Buffer& buffer = *inputs_.parts.find_buffer(map->buffer);
    const auto index = static_cast<size_t>(map - inputs_.parts.tensor_maps.data());
    return tensor_map_bytes(*map, inputs_.raw_maps[index], buffer.dtype, address_of(buffer));
  }

  uint64_t address_of(const Buffer& buffer) {
    const auto index = static_cast<size_t>(&buffer - inputs_.parts.buffers.data());
    return memory().buffer(result_.buffers[index]).address;
  }

  const Inputs& inputs_;
  uint8_t fill_;
  Emitter& emitter_;
  SetUp result_;
};

}  // namespace

std::optional<SetUp> set_up(const Inputs& inputs, const machine::Options& options, Emitter& emitter,
                            uint8_t unwritten_fill, Antagonist antagonist) {
  std::optional<SetUp> ready = Builder(inputs, options, unwritten_fill, emitter).build();
  if (ready && antagonist == Antagonist::tmem) add_second_owner(*ready);
  return ready;
}

std::vector<uint8_t> buffer_bytes(const SetUp& run, size_t buffer) {
  const std::span<std::byte> bytes = run.machine->memory().bytes(run.buffers[buffer]);
  const auto* first = reinterpret_cast<const uint8_t*>(bytes.data());
  return {first, first + bytes.size()};
}

}  // namespace lw::casefile
