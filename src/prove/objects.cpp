#include "prove/objects.h"

namespace lw::prove {
namespace {

Object shared_object(machine::Machine& machine, base::CtaId cta, uint64_t address) {
  Object object;
  object.launch = launch_of(machine, cta);
  const auto& variables = machine.launches()[object.launch]->program->shared;
  for (uint32_t i = 0; i < variables.size(); ++i) {
    const program::VariablePlace& variable = variables[i];
    const bool dynamic = variable.size == 0;
    const uint64_t begin = variable.offset - program::kSharedBase;  // as the order engine counts
    if (address < begin || (!dynamic && address >= begin + variable.size)) continue;
    object.kind = dynamic ? Object::Kind::dynamic_shared : Object::Kind::shared_variable;
    object.index = i;
    object.begin = begin;
    return object;
  }
  return object;
}

Object global_object(machine::Machine& machine, uint64_t address) {
  Object object;
  const auto buffers = machine.memory().buffers();
  for (uint32_t i = 0; i < buffers.size(); ++i) {
    if (address < buffers[i].address || address >= buffers[i].address + buffers[i].size) continue;
    object.kind = Object::Kind::buffer;
    object.index = i;
    object.begin = buffers[i].address;
    return object;
  }
  return object;
}

}  // namespace

uint32_t launch_of(machine::Machine& machine, base::CtaId cta) {
  const auto launches = machine.launches();
  uint32_t found = 0;
  for (uint32_t i = 0; i < launches.size(); ++i) {
    if (launches[i]->first_cta <= cta.value) found = i;
  }
  return found;
}

Object object_of(machine::Machine& machine, order::Space space, base::CtaId cta, uint64_t address) {
  if (space == order::Space::kShared) return shared_object(machine, cta, address);
  if (space == order::Space::kTensor) {
    Object cells;
    cells.kind = Object::Kind::tensor_memory;
    cells.launch = launch_of(machine, cta);
    return cells;
  }
  return global_object(machine, address);
}

}  // namespace lw::prove
