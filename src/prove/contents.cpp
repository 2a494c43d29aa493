#include "prove/contents.h"

#include <algorithm>
#include <optional>

#include "program/contents.h"
#include "prove/flat_code.h"

namespace lw::prove {
namespace {

using casefile::Argument;
using program::Sources;

// The bit of a buffer; what the case does not describe is data like that of the module.
Sources object_of(const casefile::Case& parts, const std::string& name) {
  const casefile::TensorMap* map = parts.find_tensor_map(name);
  const std::string& buffer = map == nullptr ? name : map->buffer;
  for (size_t i = 0; i < parts.buffers.size(); ++i)
    if (parts.buffers[i].name == buffer) return Sources{1} << i;
  return program::kModuleData;
}

// What an argument points to.
Sources objects_of(const casefile::Case& parts, const Argument& argument) {
  Sources objects = 0;
  if (argument.kind == Argument::Kind::object) objects = object_of(parts, argument.name);
  if (argument.kind == Argument::Kind::open) objects = program::kModuleData;
  for (const casefile::ArgumentField& field : argument.fields)
    objects |= objects_of(parts, field.value);
  return objects;
}

bool is_map(const casefile::Case& parts, const Argument& argument) {
  return argument.kind == Argument::Kind::object && parts.find_tensor_map(argument.name) != nullptr;
}

program::PointedTo pointed_to(const casefile::Case& parts, const casefile::Launch& launch) {
  program::PointedTo pointed;
  for (const Argument& argument : launch.args) {
    pointed.parameters.push_back(objects_of(parts, argument));
    if (!is_map(parts, argument)) pointed.plainly |= pointed.parameters.back();
  }
  return pointed;
}

// Goes over the launches until what one leaves in memory is known to all.
std::vector<program::ContentsSlice> slices_of(const casefile::Inputs& inputs, const Run& run) {
  const casefile::Case& parts = inputs.parts;
  const machine::Machine& machine = *run.set_up.machine;
  const auto& launches = machine.launches();
  std::vector<program::FlatCode> code;
  for (const auto& launch : launches) code.push_back(flat_code(machine, *launch));
  program::HeldContents held(static_cast<int>(parts.buffers.size()));
  std::vector<program::ContentsSlice> slices;
  for (size_t pass = 0; pass <= launches.size(); ++pass) {
    slices.clear();
    for (size_t i = 0; i < launches.size(); ++i) {
      const ptx::Module& module = machine.modules().module(launches[i]->request.module);
      slices.push_back(
          program::slice_contents(module, code[i], pointed_to(parts, parts.launches[i]), held));
    }
  }
  return slices;
}

// Is none of these instructions ever executed? What holds for this run's data holds for others
// until an event differs, so neither are they then.
bool none_reached(const casefile::Inputs& inputs, RunPlan plan, std::vector<base::OpId> ops) {
  plan.order.reset();
  plan.watched = std::move(ops);
  plan.journal = true;
  return run_again(inputs, plan).journal.empty();
}

bool is_lost(const casefile::Inputs& inputs, const RunPlan& plan,
             const std::vector<program::ContentsSlice>& slices) {
  std::vector<base::OpId> ops;
  for (const program::ContentsSlice& slice : slices)
    ops.insert(ops.end(), slice.lost.begin(), slice.lost.end());
  return !ops.empty() && !none_reached(inputs, plan, std::move(ops));
}

}  // namespace

ContentsReach contents_reach(const casefile::Inputs& inputs, const RunPlan& plan, const Run& run) {
  const auto& buffers = inputs.parts.buffers;
  ContentsReach reach;
  if (buffers.size() > program::kMostObjects) return reach;
  if (run.set_up.machine->launches().size() != inputs.parts.launches.size()) return reach;
  const auto slices = slices_of(inputs, run);
  if (is_lost(inputs, plan, slices)) return reach;
  for (size_t i = 0; i < buffers.size(); ++i) {
    std::optional<base::OpId> first;
    for (const program::ContentsSlice& slice : slices) {
      for (const program::Decided& decided : slice.decided)
        if ((decided.by >> i & 1) != 0 && !first) first = decided.at;
    }
    if (first) {
      reach.deciding.push_back({buffers[i].name, *first});
    } else {
      reach.any.push_back(buffers[i].name);
    }
  }
  return reach;
}

}  // namespace lw::prove
