#include "prove/freedom.h"

#include <algorithm>
#include <set>

#include "base/check.h"

namespace lw::prove {
namespace {

using program::Arrival;
using program::Cause;

// The ids that the machine gave the functions of a module when it decoded them.
class KnownPlaces final : public program::PlaceSource {
 public:
  KnownPlaces(const machine::Modules& modules, machine::ModuleId module)
      : modules_(modules), module_(module) {}
  uint32_t first_place(ptx::FunctionId function) override {
    const auto place = modules_.known_place(module_, function);
    LW_CHECK(place.has_value(), function.value);
    return *place;
  }

 private:
  const machine::Modules& modules_;
  machine::ModuleId module_;
};

void add_influences(const machine::Machine& machine, const machine::Launch& launch,
                    const machine::RunResult& result, std::vector<program::Influence>& found) {
  const machine::ModuleId id = launch.request.module;
  const ptx::Module& module = machine.modules().module(id);
  KnownPlaces places(machine.modules(), id);
  const program::FlatCode code = program::flatten(module, launch.program->kernel, places);
  for (const program::Influence& influence : program::find_influences(module, code)) {
    const bool executed = std::ranges::count(result.schedule_values, influence.made_at) != 0;
    if (executed && influence.arrival != Arrival::nowhere) found.push_back(influence);
  }
}

}  // namespace

std::vector<program::Influence> influences_of(const machine::Machine& machine,
                                              const machine::RunResult& result) {
  std::vector<program::Influence> found;
  if (result.schedule_values.empty()) return found;
  std::set<std::pair<uint32_t, uint32_t>> seen;
  for (const auto& launch : machine.launches()) {
    if (!launch->program) continue;
    if (seen.emplace(launch->request.module.value, launch->program->kernel.value).second)
      add_influences(machine, *launch, result, found);
  }
  return found;
}

std::vector<base::OpId> doubtful_tests(const std::vector<program::Influence>& influences) {
  std::vector<base::OpId> tests;
  for (const program::Influence& influence : influences)
    if (influence.cause == Cause::mbarrier_test) tests.push_back(influence.made_at);
  return tests;
}

bool steers(const std::vector<program::Influence>& influences) {
  return std::ranges::any_of(influences, [](const program::Influence& influence) {
    return influence.arrival == Arrival::control && influence.cause != Cause::mbarrier_test &&
           influence.cause != Cause::register_pool && influence.cause != Cause::tensor_columns;
  });
}

}  // namespace lw::prove
