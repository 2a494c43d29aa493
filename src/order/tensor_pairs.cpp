// Which tcgen05 operations follow each other by themselves (T5-9; PTX ISA 9.7.18.6.2 of 9.4), and
// what is missing where two do not.
//
// The pairs hold inside one warp. Of operations that single threads issue, two threads need the
// fences between them besides a path (T5-20). The text of 9.1 has the pairs across warps too, with
// fences: such a pair is a finding only for the strict (T5-23).
//
// The text asks for equal addresses in places; here cells decide whether two meet at all, and for
// accumulators the operation's own name of (address, shape, kind). Scale factors count as metadata
// (open question Q2: else no block-scaled kernel would be right).

#include "order/tensor.h"

namespace lw::order {
namespace {

bool is_copy(Agent agent) {
  return agent == Agent::kTensorCopy || agent == Agent::kTensorCopy4x256b;
}

bool is_pair(const Object& x, const Object& y) {
  switch (x.agent) {
    case Agent::kMmaOperand:
      return y.agent == Agent::kMmaResult || is_copy(y.agent) || y.agent == Agent::kTensorShift;
    case Agent::kMmaResult:
      return y.agent == Agent::kMmaResult && x.base == y.base;
    case Agent::kTensorCopy:
    case Agent::kTensorCopy4x256b:
      return y.agent == Agent::kMmaOperand;
    case Agent::kTensorShift:
      return y.agent == Agent::kMmaOperand || y.agent == Agent::kTensorCopy4x256b;
    case Agent::kTensorStore:
      return y.agent == Agent::kTensorLoad || y.agent == Agent::kTensorStore;
    case Agent::kTensorLoad:
      return y.agent == Agent::kTensorStore;
    default:
      return false;
  }
}

// The lanes know that the earlier work passed a before_thread_sync of its thread.
bool knows_fence(const Doing& doing, const Object& earlier) {
  constexpr auto kFromCells =
      static_cast<Component>(TensorPart::kFenced) - static_cast<Component>(TensorPart::kCells);
  for (const LaneGroup& group : doing.warp.groups) {
    if ((group.lanes & doing.lanes) == 0) continue;
    const Clock* clock = group.bundle.clock(View::kCausality);
    if (clock == nullptr) return false;
    const Component fenced = earlier.component + kFromCells;
    if ((earlier.lanes & ~clock->lanes_at_least(fenced, earlier.count)) != 0) return false;
  }
  return true;
}

RuleId load_rule(const Doing& doing, const Object& earlier) {
  const Warp& warp = *doing.warp.cta->warps[earlier.warp];
  return earlier.count == warp.tensor->loads ? RuleId::kT5_12 : RuleId::kT5_11;
}

RuleId work_rule(const Doing& doing, const Object& earlier) {
  const Warp& warp = *doing.warp.cta->warps[earlier.warp];
  const int lane = __builtin_ctz(earlier.lanes);
  if (warp.tensor->committed[lane] >= earlier.count) return RuleId::kT5_15;
  return knows_fence(doing, earlier) ? RuleId::kT5_22 : RuleId::kT5_14;
}

RuleId missing_rule(const Doing& doing, const Object& earlier) {
  const Object& later = doing.core.objects[doing.id];
  if (later.agent == Agent::kTensorFree || earlier.agent == Agent::kTensorFree)
    return RuleId::kT5_3;
  if (earlier.agent == Agent::kTensorAlloc) return RuleId::kT5_2;
  if (earlier.cta != later.cta)
    return earlier.cluster == later.cluster ? RuleId::kT5_26 : RuleId::kT5_8b;
  if (earlier.warp == later.warp) return RuleId::kT5_10;
  if (earlier.agent == Agent::kTensorLoad) return load_rule(doing, earlier);
  return earlier.agent == Agent::kTensorStore ? RuleId::kT5_11 : work_rule(doing, earlier);
}

}  // namespace

Pipelined pipelined(const Doing& doing, const Object& earlier) {
  const Object& later = doing.core.objects[doing.id];
  if (earlier.cta != later.cta || !is_pair(earlier, later)) return Pipelined::kNo;
  const bool same_warp = earlier.warp == later.warp;
  if (!is_tensor_work(earlier.agent)) return same_warp ? Pipelined::kYes : Pipelined::kNo;
  if (same_warp && earlier.lanes == later.lanes) return Pipelined::kYes;
  if (!knows_fence(doing, earlier)) return Pipelined::kNo;
  if (same_warp) return Pipelined::kYes;
  const bool only_since_94 = earlier.agent == Agent::kMmaOperand && is_copy(later.agent);
  return only_since_94 ? Pipelined::kNo : Pipelined::kAcrossWarps;
}

bool brings_writer(const Object& load, const Object& write) {
  const bool own = write.cta == load.cta && write.warp == load.warp;
  return load.agent == Agent::kTensorLoad && write.writes() &&
         !(own && write.agent == Agent::kTensorStore);
}

Verdict judge_tensor(const Doing& doing, const Object& earlier, Path path) {
  if (pipelined(doing, earlier) == Pipelined::kAcrossWarps) return {Tier::kStrict, RuleId::kT5_23};
  if (path == Path::kNone) return {Tier::kRace, missing_rule(doing, earlier)};
  // What has ended need not be visible for the columns to go.
  if (doing.core.objects[doing.id].agent == Agent::kTensorFree)
    return {Tier::kStrict, RuleId::kT5_3};
  if (path == Path::kExecution) {
    // Finished, and told so from CTA to CTA at the scope of one.
    const bool across = earlier.cta != doing.warp.cta->id;
    const bool relaxed = doing.core.findings.any_relaxed_wait();
    if (across && !relaxed) return {Tier::kStrict, RuleId::kT5_27};
    return {Tier::kRace, RuleId::kT5_19};
  }
  return {Tier::kRace, doing.core.findings.any_relaxed_arrival() ? RuleId::kMB8 : RuleId::kW2};
}

}  // namespace lw::order
