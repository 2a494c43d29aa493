#include "casefile/validate.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>

#include "base/source_name.h"
#include "casefile/fields.h"
#include "diagnose/words.h"

namespace lw::casefile {
namespace {

using diagnose::Emitter;

// CUDA programming guide, technical specifications per compute capability.
constexpr uint64_t kMostGridX = 0x7fffffff;
constexpr uint64_t kMostGridYZ = 65535;
constexpr uint64_t kMostThreads = 1024;
constexpr uint64_t kMostBlockZ = 64;
constexpr uint64_t kMostClusterCtas = 16;
constexpr uint32_t kFirstWithClusters = 90;
constexpr uint64_t kRegistersPerSm = 65536;
constexpr uint64_t kMostRegisters = 255;

// Shared memory a CTA may have, by `sm_` number.
uint64_t most_shared_bytes(uint32_t sm) {
  if (sm >= 120 || sm == 86 || sm == 87 || sm == 89) return 99 * 1024;
  if (sm >= 90) return 227 * 1024;
  if (sm >= 80) return 163 * 1024;
  return sm >= 75 ? 64 * 1024 : 96 * 1024;
}

uint32_t sm_number(const ptx::Module& module) {
  for (const std::string& target : module.target) {
    uint32_t number = 0;
    if (target.starts_with("sm_"))
      std::from_chars(&target[3], target.data() + target.size(), number);
    if (number > 0) return number;
  }
  return 90;
}

std::string text_of(const Dim3& d) { return fmt::format("{}x{}x{}", d.x, d.y, d.z); }

std::vector<std::string> kernel_names(const std::vector<ptx::Module>& modules) {
  std::vector<std::string> names;
  for (const ptx::Module& module : modules) {
    for (const ptx::Function& function : module.functions) {
      if (function.entry && function.defined) names.push_back(function.name);
    }
  }
  std::ranges::sort(names);
  names.erase(std::ranges::unique(names).begin(), names.end());
  return names;
}

class LaunchCheck {
 public:
  LaunchCheck(const Launch& launch, const Kernel& kernel, const ptx::Module& module,
              Emitter& emitter)
      : launch_(launch), function_(*kernel.function), sm_(sm_number(module)), emitter_(emitter) {}

  void run() {
    check_grid();
    check_block();
    check_cluster();
    check_resources();
  }

 private:
  void emit(const Place& place, std::string message, std::string hint) {
    emitter_.emit({place, std::move(message), {}, std::move(hint)});
  }

  void check_grid() {
    const Dim3& grid = launch_.grid;
    if (grid.x == 0 || grid.y == 0 || grid.z == 0) {
      emit(launch_.grid_place, fmt::format("grid {} has no CTA", text_of(grid)),
           "give every extent at least 1");
    } else if (grid.x > kMostGridX || grid.y > kMostGridYZ || grid.z > kMostGridYZ) {
      emit(launch_.grid_place,
           fmt::format("grid {} is beyond the hardware's limits", text_of(grid)),
           fmt::format("at most {} x {} x {}", kMostGridX, kMostGridYZ, kMostGridYZ));
    }
  }

  void check_block() {
    const Dim3& block = launch_.block;
    if (block.x == 0 || block.y == 0 || block.z == 0) {
      emit(launch_.block_place, fmt::format("block {} has no thread", text_of(block)),
           "give every extent at least 1");
    } else if (block.x > kMostThreads || block.y > kMostThreads || block.z > kMostBlockZ ||
               block.count() > kMostThreads) {
      emit(launch_.block_place,
           fmt::format("block {} is beyond the hardware's limits", text_of(block)),
           fmt::format("at most {} threads, and {} in z", kMostThreads, kMostBlockZ));
    } else {
      check_block_directives();
    }
  }

  static Dim3 extents(const std::vector<uint32_t>& list) {
    auto at = [&](size_t i) { return i < list.size() ? uint64_t{list[i]} : 1; };
    return {at(0), at(1), at(2)};
  }

  void check_block_directives() {
    const Dim3 required = extents(function_.required_threads);
    const Dim3 most = extents(function_.max_threads);
    if (!function_.required_threads.empty() && required != launch_.block) {
      emit(launch_.block_place,
           fmt::format("`{}` requires a block of {} (`.reqntid`), not {}", function_.name,
                       text_of(required), text_of(launch_.block)),
           fmt::format("write `block = [{}, {}, {}]`", required.x, required.y, required.z));
    } else if (!function_.max_threads.empty() && launch_.block.count() > most.count()) {
      emit(launch_.block_place,
           fmt::format("`{}` allows {} threads (`.maxntid`), the launch has {}", function_.name,
                       most.count(), launch_.block.count()),
           "give a smaller block");
    }
  }

  void check_cluster() {
    const Dim3 required = extents(function_.required_cluster);
    if (!function_.required_cluster.empty() && launch_.cluster && *launch_.cluster != required) {
      emit(launch_.cluster_place,
           fmt::format("`{}` requires a cluster of {} (`.reqnctapercluster`), not {}",
                       function_.name, text_of(required), text_of(*launch_.cluster)),
           fmt::format("write `cluster = [{}, {}, {}]`", required.x, required.y, required.z));
      return;
    }
    const Dim3 cluster = launch_.cluster.value_or(required);
    if (sm_ < kFirstWithClusters && cluster.count() > 1) {
      emit(launch_.cluster_place,
           fmt::format("a cluster of {} CTAs on sm_{}", text_of(cluster), sm_),
           "clusters need `.target sm_90` or later");
      return;
    }
    const Dim3& grid = launch_.grid;
    if (cluster.x == 0 || cluster.y == 0 || cluster.z == 0 || cluster.x > kMostClusterCtas ||
        cluster.y > kMostClusterCtas || cluster.z > kMostClusterCtas ||
        cluster.count() > kMostClusterCtas) {
      emit(launch_.cluster_place, fmt::format("a cluster of {} CTAs cannot be", text_of(cluster)),
           fmt::format("a cluster has 1 to {} CTAs", kMostClusterCtas));
    } else if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0) {
      emit(launch_.cluster_place.line != 0 ? launch_.cluster_place : launch_.grid_place,
           fmt::format("grid {} is not a whole number of clusters of {}", text_of(grid),
                       text_of(cluster)),
           "make the grid a multiple of the cluster");
    }
  }

  void check_resources() {
    const uint64_t most_shared = most_shared_bytes(sm_);
    if (launch_.shared > most_shared) {
      emit(launch_.shared_place,
           fmt::format("{} bytes of dynamic shared memory; a CTA of sm_{} has at most {}",
                       launch_.shared, sm_, most_shared),
           "give a smaller `shared`");
    }
    const uint64_t threads = (launch_.block.count() + 31) / 32 * 32;
    if (launch_.registers > kMostRegisters) {
      emit(launch_.place, fmt::format("{} registers a thread", launch_.registers),
           fmt::format("at most {}", kMostRegisters));
    } else if (threads <= kMostThreads && threads * launch_.registers > kRegistersPerSm) {
      emit(launch_.place,
           fmt::format("{} threads of {} registers need {}, an SM has {}", threads,
                       launch_.registers, threads * launch_.registers, kRegistersPerSm),
           fmt::format("give `registers` at most {}", kRegistersPerSm / threads / 8 * 8));
    }
  }

  const Launch& launch_;
  const ptx::Function& function_;
  uint32_t sm_;
  Emitter& emitter_;
};

// Bytes that an argument brings, and what it is in words.
std::pair<uint64_t, std::string> size_of(const Case& parts, const Argument& argument,
                                         uint64_t parameter_bytes) {
  switch (argument.kind) {
    case Argument::Kind::object:
      if (parts.find_buffer(argument.name) != nullptr) return {8, "a pointer"};
      // A tensor map by value, or by its address in global memory.
      return {parameter_bytes == 8 ? 8 : 128, "a tensor map"};
    case Argument::Kind::scalar:
      return {dtype_bytes(argument.dtype), std::string(dtype_name(argument.dtype))};
    case Argument::Kind::bytes:
      return {argument.bytes.size(), "raw bytes"};
    case Argument::Kind::fields:
    case Argument::Kind::open:
      break;
  }
  return {parameter_bytes, "a struct"};
}

// What to write for a parameter: a flag's words, or a case file's.
std::string example_for(uint64_t bytes, bool by_flags) {
  if (by_flags) {
    if (bytes == 8) return "`--arg f32:1024` or `--arg i64=0`";
    if (bytes <= 4) return fmt::format("`--arg i{}=0`", bytes * 8);
    return "a case file, which gives its bytes";
  }
  switch (bytes) {
    case 1:
      return "{ i8 = 0 }";
    case 2:
      return "{ i16 = 0 }";
    case 4:
      return "{ i32 = 0 } or { f32 = 0 }";
    case 8:
      return "a buffer's name, { i64 = 0 } or { f64 = 0 }";
    default:
      return "{ bytes = \"…\" } or members with offsets";
  }
}

void check_struct(const Case& parts, const Argument& argument, const program::Parameter& parameter,
                  Emitter& emitter) {
  for (const ArgumentField& field : argument.fields) {
    const uint64_t size = size_of(parts, field.value, 0).first;
    if (field.offset + size <= parameter.size) continue;
    emitter.emit({field.value.place,
                  fmt::format("a member of {} bytes at offset {} does not fit parameter `{}` of {}",
                              size, field.offset, parameter.name, parameter.size),
                  {},
                  "give a smaller offset"});
  }
}

void check_size(const Case& parts, const Launch& launch, size_t index,
                const program::Parameter& parameter, Emitter& emitter) {
  const Argument& argument = launch.args[index];
  const auto [size, what] = size_of(parts, argument, parameter.size);
  if (size != parameter.size) {
    emitter.emit({argument.place,
                  fmt::format("argument {} of `{}` is {} of {} bytes, parameter `{}` has {}",
                              index + 1, launch.kernel, what, size, parameter.name, parameter.size),
                  {},
                  "write " + example_for(parameter.size, launch.open_arguments)});
  }
  check_struct(parts, argument, parameter, emitter);
}

// The kernels of the launch's modules whose name, as `called` gives it, is the launch's.
template <class Called>
std::vector<Kernel> kernels_called(const Case& parts, const std::vector<ptx::Module>& modules,
                                   const Launch& launch, Called called) {
  std::vector<Kernel> found;
  for (size_t i = 0; i < modules.size(); ++i) {
    if (!launch.module.empty() && parts.modules[i].name != launch.module) continue;
    for (const ptx::Function& function : modules[i].functions) {
      if (function.entry && function.defined && called(function.name) == launch.kernel)
        found.push_back({i, &function});
    }
  }
  return found;
}

}  // namespace

std::optional<Kernel> find_kernel(const Case& parts, const std::vector<ptx::Module>& modules,
                                  const Launch& launch, Emitter& emitter) {
  std::vector<Kernel> found =
      kernels_called(parts, modules, launch, [](const std::string& name) { return name; });
  const bool by_source = found.empty();
  if (by_source) found = kernels_called(parts, modules, launch, base::declared_name);
  if (found.size() == 1) return found[0];
  const std::vector<std::string> names = kernel_names(modules);
  if (!found.empty()) {
    std::vector<std::string> full;
    for (const Kernel& kernel : found) full.push_back(kernel.function->name);
    emitter.emit({launch.place,
                  fmt::format("several {} a kernel `{}`", by_source ? "names mean" : "modules have",
                              launch.kernel),
                  {},
                  by_source ? "write one of " + diagnose::list_words(full)
                            : "add `module = \"…\"` to the launch"});
  } else if (names.empty()) {
    emitter.emit({launch.place,
                  fmt::format("no kernel `{}`: the PTX has none at all", launch.kernel),
                  {},
                  "a kernel is a `.visible .entry` with a body"});
  } else {
    const std::string meant = diagnose::nearest(launch.kernel, names);
    emitter.emit({launch.place,
                  fmt::format("no kernel `{}` in the PTX", launch.kernel),
                  {},
                  meant.empty() ? "its kernels are " + diagnose::list_words(names)
                                : "write `" + meant + "`"});
  }
  return std::nullopt;
}

void check_launch(const Launch& launch, const Kernel& kernel, const ptx::Module& module,
                  Emitter& emitter) {
  LaunchCheck(launch, kernel, module, emitter).run();
}

void check_shared_memory(const Launch& launch, const ptx::Module& module, uint64_t static_bytes,
                         Emitter& emitter) {
  const uint32_t sm = sm_number(module);
  const uint64_t most = most_shared_bytes(sm);
  if (launch.shared > most || launch.shared + static_bytes <= most) return;
  emitter.emit(
      {launch.shared_place,
       fmt::format("{} bytes of dynamic and {} of static shared memory; a CTA of sm_{} has "
                   "at most {}",
                   launch.shared, static_bytes, sm, most),
       {},
       "give a smaller `shared`"});
}

void check_arguments(const Case& parts, const Launch& launch,
                     const std::vector<program::Parameter>& parameters, Emitter& emitter) {
  const size_t given = launch.args.size();
  for (size_t i = 0; i < given && i < parameters.size(); ++i)
    check_size(parts, launch, i, parameters[i], emitter);
  if (given > parameters.size()) {
    emitter.emit({launch.args[parameters.size()].place,
                  fmt::format("`{}` takes {} arguments, the launch gives {}", launch.kernel,
                              parameters.size(), given),
                  {},
                  "leave the last ones out"});
  }
  std::vector<std::string> wanted;
  for (size_t i = given; i < parameters.size(); ++i) {
    if (launch.open_arguments && parameters[i].size == 8) continue;
    wanted.push_back(fmt::format("`{}` ({} bytes): {}", parameters[i].name, parameters[i].size,
                                 example_for(parameters[i].size, launch.open_arguments)));
  }
  if (!wanted.empty()) {
    emitter.emit({launch.args_place,
                  fmt::format("`{}` takes {} arguments, the launch gives {}", launch.kernel,
                              parameters.size(), given),
                  {},
                  fmt::format("add for {}", fmt::join(wanted, "; for "))});
  }
}

}  // namespace lw::casefile
