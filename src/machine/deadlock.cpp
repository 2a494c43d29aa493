#include "machine/deadlock.h"

#include <fmt/format.h>

#include <bit>

#include "machine/machine.h"
#include "machine/sync_hooks.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

// The one that has waited longest names the fault.
void name_first(Fault& fault, const Waiting& waiting) {
  if (fault.lanes != 0) return;
  fault.instruction = waiting.wait.instruction;
  fault.cta = waiting.cta;
  fault.warp = waiting.warp;
  fault.lanes = waiting.lanes;
  fault.lane = base::LaneId(static_cast<uint8_t>(std::countr_zero(waiting.lanes)));
}

}  // namespace

Fault describe_deadlock(const Machine& machine) {
  Fault fault;
  fault.kind = FaultKind::deadlock;
  for (const Cta* cta : machine.resident()) {
    for (const Warp& warp : cta->warps) {
      for (const Group& group : warp.parked) {
        fault.waiting.push_back({.cta = cta->id,
                                 .warp = warp.id,
                                 .lanes = group.lanes,
                                 .wait = group.wait,
                                 .what = describe_wait(*cta, warp, group)});
        name_first(fault, fault.waiting.back());
      }
    }
  }
  fault.text = fmt::format("nothing can run: {} groups of threads wait", fault.waiting.size());
  return fault;
}

void tell_blocked(const Machine& machine, order::Engine& engine) {
  for (const Cta* cta : machine.resident()) {
    for (const Warp& warp : cta->warps) {
      for (const Group& group : warp.parked) {
        if (group.wait.kind != Wait::Kind::mbarrier) continue;
        const order::Mbarrier object{cta->id, static_cast<uint32_t>(group.wait.object)};
        engine.mbarrier_blocked(*warp.order_warp, group.wait.instruction, group.lanes, object);
      }
    }
  }
}

}  // namespace lw::machine
