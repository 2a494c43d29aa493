// What can be said about a launch before it starts.

#include <fmt/format.h>

#include <algorithm>

#include "machine/environment.h"
#include "machine/machine.h"
#include "program/layout.h"

namespace lw::machine {
namespace {

constexpr uint32_t kMaxThreads = 1024;
constexpr uint32_t kMaxRegisters = 255;

// Registers per thread: as asked, else `.maxnreg`, else what lets the promised number of CTAs fit.
uint32_t registers_of(const LaunchRequest& request, const ptx::Function& kernel) {
  if (request.registers != 0) return request.registers;
  if (kernel.max_registers != 0) return kernel.max_registers;
  uint64_t threads = request.block.count() * std::max(1u, kernel.min_ctas);
  uint64_t fitting = Residency::kRegisters / std::max<uint64_t>(threads, 1);
  return static_cast<uint32_t>(std::min<uint64_t>(fitting, kMaxRegisters)) / 8 * 8;
}

// SMs of the largest part of an architecture.
uint32_t sm_count_of(std::string_view target) {
  struct Row {
    std::string_view prefix;
    uint32_t count;
  };
  constexpr Row kRows[] = {{"sm_80", 108},  {"sm_86", 84},   {"sm_89", 142},  {"sm_90", 132},
                           {"sm_100", 148}, {"sm_103", 160}, {"sm_120", 188}, {"sm_121", 48}};
  for (const Row& row : kRows)
    if (target.starts_with(row.prefix)) return row.count;
  return 132;
}

uint32_t warps_of(Dim3 block) {
  return static_cast<uint32_t>((block.count() + base::kWarpSize - 1) / base::kWarpSize);
}

class LaunchCheck {
 public:
  LaunchCheck(const LaunchRequest& request, diagnose::Emitter& emitter)
      : request_(request), emitter_(emitter) {}

  bool shape() {
    uint64_t threads = request_.block.count();
    if (threads == 0 || threads > kMaxThreads)
      say(fmt::format("a block of {} threads cannot be launched", threads),
          fmt::format("1 to {} threads", kMaxThreads));
    if (request_.grid.count() == 0) say("the grid has no CTA", "");
    if (request_.grid.count() > UINT32_MAX / 2) say("the grid has too many CTAs to run", "");
    Dim3 c = request_.cluster;
    bool divides = c.count() != 0 && request_.grid.x % c.x == 0 && request_.grid.y % c.y == 0 &&
                   request_.grid.z % c.z == 0;
    if (!divides) say("the cluster does not divide the grid", "");
    return ok_;
  }
  bool room(uint32_t shared_bytes, uint32_t registers) {
    if (shared_bytes > Residency::kMaxSharedBytes)
      say(fmt::format("{} bytes of shared memory do not fit", shared_bytes),
          fmt::format("at most {} bytes, static and dynamic", Residency::kMaxSharedBytes));
    if (registers * request_.block.count() > Residency::kRegisters)
      say(fmt::format("{} registers for {} threads do not fit", registers, request_.block.count()),
          fmt::format("an SM has {}", Residency::kRegisters));
    return ok_;
  }
  // All CTAs of a cooperative launch are resident together.
  bool together(uint32_t shared_bytes, uint32_t registers, uint32_t sm_count) {
    if (request_.grid_workspace == 0) return ok_;
    Residency sms(sm_count);
    const CtaNeeds needs{shared_bytes, warps_of(request_.block), registers};
    for (uint64_t cta = 0; cta < request_.grid.count(); ++cta) {
      if (sms.take(needs)) continue;
      say(fmt::format("a cooperative launch of {} CTAs: {} fit", request_.grid.count(), cta),
          fmt::format("make the grid smaller, or say how many registers a thread needs if fewer "
                      "than {}: {} SMs have room for the shared memory, warps and registers of so "
                      "many CTAs",
                      registers, sm_count));
      break;
    }
    return ok_;
  }
  bool parameters(size_t wanted) {
    if (request_.parameters.size() != wanted)
      say(fmt::format("the parameters take {} bytes, {} were given", wanted,
                      request_.parameters.size()),
          "");
    return ok_;
  }
  void say(std::string message, std::string hint) {
    ok_ = false;
    emitter_.emit({{}, std::move(message), request_.kernel, std::move(hint)});
  }

 private:
  const LaunchRequest& request_;
  diagnose::Emitter& emitter_;
  bool ok_ = true;
};

}  // namespace

uint32_t Machine::sm_count() const {
  if (options_.sm_count != 0) return options_.sm_count;
  if (modules_.count() == 0 || modules_.module(ModuleId(0)).target.empty()) return 132;
  return sm_count_of(modules_.module(ModuleId(0)).target.front());
}

std::vector<program::Parameter> Machine::parameters(ModuleId module,
                                                    std::string_view kernel) const {
  const ptx::Module& text = modules_.module(module);
  std::optional<ptx::FunctionId> id = text.find_function(kernel);
  if (!id) return {};
  program::Program program;
  program::lay_out_parameters(text, *id, program);
  return program.parameters;
}

std::shared_ptr<const program::Program> Machine::decode(const LaunchRequest& request,
                                                        std::span<const base::OpId> watched) {
  const ptx::Module& module = modules_.module(request.module);
  Environment environment(modules_, request.module, watched);
  return std::make_shared<const program::Program>(
      program::decode(module, *module.find_function(request.kernel), environment));
}

std::optional<base::GridId> Machine::launch(LaunchRequest request, diagnose::Emitter& emitter) {
  LaunchCheck check(request, emitter);
  const ptx::Module& module = modules_.module(request.module);
  std::optional<ptx::FunctionId> kernel = module.find_function(request.kernel);
  if (!kernel || !module.functions[kernel->value].entry) {
    check.say(fmt::format("there is no kernel `{}` in the module", request.kernel), "");
    return std::nullopt;
  }
  if (!check.shape()) return std::nullopt;
  auto launch = std::make_unique<Launch>();
  launch->program = decode(request, {});
  launch->registers = registers_of(request, module.functions[kernel->value]);
  launch->shared_bytes =
      request.dynamic_shared_bytes == 0
          ? launch->program->static_shared_bytes
          : launch->program->dynamic_shared_offset + request.dynamic_shared_bytes;
  if (!check.room(launch->shared_bytes, launch->registers)) return std::nullopt;
  if (!check.together(launch->shared_bytes, launch->registers, sm_count())) return std::nullopt;
  if (!check.parameters(launch->program->parameter_bytes)) return std::nullopt;
  launch->id = base::GridId(static_cast<uint32_t>(launches_.size()));
  launch->warps_per_cta = warps_of(request.block);
  if (!launches_.empty())
    launch->first_cta = launches_.back()->first_cta + launches_.back()->cta_count();
  launch->request = std::move(request);
  launches_.push_back(std::move(launch));
  return launches_.back()->id;
}

std::vector<base::OpId> Machine::find_instructions(ModuleId module, uint32_t line) const {
  std::vector<base::OpId> found;
  for (uint32_t i = 0; i < places().size(); ++i)
    if (places()[i].module == &modules_.module(module) && places()[i].line() == line)
      found.emplace_back(i);
  return found;
}

}  // namespace lw::machine
