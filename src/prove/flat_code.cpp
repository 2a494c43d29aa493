#include "prove/flat_code.h"

#include "base/check.h"

namespace lw::prove {
namespace {

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

}  // namespace

program::FlatCode flat_code(const machine::Machine& machine, const machine::Launch& launch) {
  const machine::ModuleId id = launch.request.module;
  KnownPlaces places(machine.modules(), id);
  return program::flatten(machine.modules().module(id), launch.program->kernel, places);
}

}  // namespace lw::prove
