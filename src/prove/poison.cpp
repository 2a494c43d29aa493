#include "prove/poison.h"

#include "prove/witness.h"

namespace lw::prove {
namespace {

// Every bit of the first poison turned; no number is the same under both.
uint8_t other(uint8_t poison) { return static_cast<uint8_t>(~poison); }

// Bytes of an output that neither run wrote differ by their fill alone: make them equal.
void level_unwritten(Run& second, const Run& first, uint8_t first_fill, uint8_t second_fill) {
  for (size_t i = 0; i < second.outputs.size(); ++i) {
    for (size_t byte = 0; byte < second.outputs[i].size(); ++byte) {
      uint8_t& value = second.outputs[i][byte];
      if (value == second_fill && first.outputs[i][byte] == first_fill) value = first_fill;
    }
  }
}

}  // namespace

std::optional<PoisonFinding> find_poison(const casefile::Inputs& inputs, const RunPlan& plan,
                                         const Run& plain) {
  if (plain.facts.unwritten.empty()) return std::nullopt;
  RunPlan plan_with_others = plan;
  plan_with_others.order.reset();
  plan_with_others.machine.poison = other(plan.machine.poison);
  plan_with_others.unwritten_fill = other(plan.unwritten_fill);
  Run second = run_again(inputs, plan_with_others);
  level_unwritten(second, plain, plan.unwritten_fill, plan_with_others.unwritten_fill);
  std::vector<ChangedOutput> changed = changed_outputs(inputs, plain, second);
  if (changed.empty()) return std::nullopt;
  return PoisonFinding{plain.facts.unwritten.front(), std::move(changed)};
}

}  // namespace lw::prove
