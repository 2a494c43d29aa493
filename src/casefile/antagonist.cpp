#include "casefile/antagonist.h"

#include <algorithm>

#include "base/check.h"
#include "machine/residency.h"
#include "ptx/parser.h"

namespace lw::casefile {
namespace {

using machine::CtaNeeds;
using machine::Launch;
using machine::Residency;

constexpr uint32_t kThreads = 32;
constexpr uint32_t kRegisters = 32;

const ptx::Module& second_owner() {
  static const ptx::Module module = [] {
    diagnose::Emitter emitter;
    auto parsed = ptx::parse(kSecondOwnerText, "second_owner.ptx", emitter);
    LW_CHECK(parsed.has_value(), "second_owner.ptx");
    return std::move(*parsed);
  }();
  return module;
}

bool is_first_in_stream(const machine::Machine& machine, const Launch& launch) {
  return std::ranges::none_of(machine.launches(), [&](const auto& other) {
    return other->id.value < launch.id.value && other->request.stream == launch.request.stream;
  });
}

// Takes room for the CTAs of the case that start at once; returns how many SMs they are on.
uint32_t take_room(const machine::Machine& machine, Residency& sms) {
  uint32_t used = 0;
  for (const auto& launch : machine.launches()) {
    if (!is_first_in_stream(machine, *launch)) continue;
    const CtaNeeds needs{launch->shared_bytes, launch->warps_per_cta, launch->registers};
    for (uint32_t cta = 0; cta < launch->cta_count(); ++cta) {
      const auto sm = sms.take(needs);
      if (!sm) break;
      used = std::max(used, *sm + 1);
    }
  }
  return used;
}

uint32_t count_ctas(const machine::Machine& machine, uint32_t shared_bytes) {
  Residency sms(machine.sm_count());
  const uint32_t used = take_room(machine, sms);
  uint32_t count = 0;
  for (auto sm = sms.take({shared_bytes, 1, kRegisters}); sm && *sm < used; ++count)
    sm = sms.take({shared_bytes, 1, kRegisters});
  return count == 0 ? used * Residency::kCtas : count;
}

uint32_t free_stream(const machine::Machine& machine) {
  uint32_t stream = 0;
  for (const auto& launch : machine.launches())
    stream = std::max(stream, launch->request.stream + 1);
  return stream;
}

}  // namespace

void add_second_owner(SetUp& set_up) {
  machine::Machine& machine = *set_up.machine;
  const ptx::Module& module = second_owner();
  uint64_t shared_bytes = 0;
  for (const ptx::Variable& variable : module.variables) shared_bytes += variable.size_bytes();
  machine::LaunchRequest request;
  request.module = machine.load(module);
  request.kernel = "second_owner";
  request.grid.x = count_ctas(machine, static_cast<uint32_t>(shared_bytes));
  request.block.x = kThreads;
  request.registers = kRegisters;
  request.stream = free_stream(machine);
  diagnose::Emitter emitter;
  set_up.antagonist = machine.launch(std::move(request), emitter);
  LW_CHECK(set_up.antagonist.has_value(), "second_owner.ptx");
}

}  // namespace lw::casefile
