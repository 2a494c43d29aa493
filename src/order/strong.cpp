// Fences and strong accesses between threads (rule book 10).
//
// A fence alone orders nothing (F-4), so it leaves the clocks as they are. What makes an edge of it
// is a strong access; those with acquire or release, and strong loads and stores that a fence could
// turn into a pattern (M-10, M-11), are reported as not modelled. Relaxed atomics are: they never
// race with each other (F-9), and a live result may differ from schedule to schedule (D-5).

#include "order/core.h"

namespace lw::order {

void Engine::fence(Warp&, OpId, LaneMask, FenceKind, Scope) {}

void check_strong(Core& core, const Warp& warp, const Access& access) {
  if (access.strength != Strength::kRelaxed || access.kind != Kind::kAtomic) {
    core.findings.not_modelled(access.op, RuleId::kF8);
  }
  if (access.kind == Kind::kWrite || !access.result_live) return;
  Unforced fact;
  fact.rule = RuleId::kD5;
  fact.cta = CtaId{warp.cta->id};
  fact.object = static_cast<uint32_t>(access.at.of(__builtin_ctz(access.lanes), access.bytes));
  fact.second.op = access.op;
  fact.second.warp = WarpId{warp.index};
  fact.second.lanes = access.lanes;
  fact.second.kind = access.kind;
  core.findings.unforced(fact);
}

}  // namespace lw::order
