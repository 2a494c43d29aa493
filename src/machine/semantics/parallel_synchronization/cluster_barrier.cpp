// barrier.cluster.arrive and wait (PTX: Parallel Synchronization and Communication Instructions,
// barrier.cluster): the one barrier of all threads of a cluster.
//
// Every thread arrives once in a phase and waits once for it; threads that have exited are not
// waited for. So two bits a lane are the whole state: it has arrived in the present phase, and it
// owes a wait. Tested in cluster_run_test.cpp.

#include "machine/semantics/parallel_synchronization/cluster_barrier.h"

#include <algorithm>

#include "machine/dispatch.h"
#include "machine/machine.h"
#include "machine/semantics/bind.h"
#include "machine/semantics/telling.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

constexpr uint16_t kAligned = 1;
constexpr uint16_t kRelaxed = 2;

bool may_run(const Op& op, Warp& warp) {
  return !(op.detail & kAligned) || warp.require_aligned(op);
}

// A CTA that is a cluster by itself is not known to the order engine as one.
void tell_cluster(Warp& warp) {
  if (warp.cta->cluster.size() > 1 || warp.cta->sync.is_told_cluster) return;
  warp.cta->sync.is_told_cluster = true;
  const base::CtaId alone[] = {warp.cta->id};
  warp.order->begin_cluster(alone);
}

void tell_arrival(const Op& op, Warp& warp) {
  if (warp.order == nullptr) return;
  tell_cluster(warp);
  const Telling telling(op, warp);
  warp.order->cluster_arrive(
      *warp.order_warp, op.instruction, warp.active,
      op.detail & kRelaxed ? order::Strength::kRelaxed : order::Strength::kRelease);
}

bool misuse(const Op& op, Warp& warp, base::LaneMask lanes, std::string text) {
  if (lanes == 0) return false;
  warp.fail(op, FaultKind::barrier_misuse, std::move(text), lanes, diagnose::RuleId::kE11);
  return true;
}

void run_arrive(const Op& op, Warp& warp) {
  if (!may_run(op, warp)) return;
  WarpSyncState& sync = warp.sync;
  if (misuse(op, warp, warp.active & sync.owes_cluster_wait,
             "a thread arrives again at the barrier of its cluster before it has waited"))
    return;
  tell_arrival(op, warp);
  sync.at_cluster_barrier |= warp.active;
  sync.owes_cluster_wait |= warp.active;
  complete_cluster_barrier(*warp.cta);
}

const Op* run_wait(const Op& op, Warp& warp) {
  if (!may_run(op, warp)) return nullptr;
  WarpSyncState& sync = warp.sync;
  if (misuse(op, warp, warp.active & ~sync.owes_cluster_wait,
             "a thread waits at the barrier of its cluster and has not arrived"))
    return nullptr;
  if ((warp.active & sync.at_cluster_barrier) != 0) {
    warp.block(&op, {Wait::Kind::cluster_barrier, 0, 0, op.instruction});
    return nullptr;
  }
  sync.owes_cluster_wait &= ~warp.active;
  const Telling telling(op, warp);
  if (warp.order) warp.order->cluster_wait(*warp.order_warp, op.instruction, warp.active);
  return &op + 1;
}

bool any_arrived(const Cta& cta) {
  return std::ranges::any_of(cta.warps,
                             [](const Warp& warp) { return warp.sync.at_cluster_barrier != 0; });
}
bool has_arrived(const Cta& cta) {
  for (const Warp& warp : cta.warps)
    if ((cta.live_lanes[warp.id.value] & ~warp.sync.at_cluster_barrier) != 0) return false;
  return true;
}

uint16_t detail_of(const Decoder& decoder) {
  return static_cast<uint16_t>((decoder.has(ptx::Mod::aligned) ? kAligned : 0) |
                               (decoder.has(ptx::Mod::relaxed) ? kRelaxed : 0));
}

}  // namespace

void complete_cluster_barrier(Cta& cta) {
  bool any = false;
  for (const Cta* one : cta.cluster) {
    if (one == nullptr) continue;
    if (!has_arrived(*one)) return;
    any = any || any_arrived(*one);
  }
  if (!any) return;
  if (cta.machine->order()) cta.machine->order()->cluster_complete(cta.id);
  for (Cta* one : cta.cluster) {
    if (one == nullptr) continue;
    for (Warp& warp : one->warps) warp.sync.at_cluster_barrier = 0;
    one->wake(Wait::Kind::cluster_barrier, 0);
  }
}

void bind_barrier_cluster_arrive(Decoder& decoder) {
  decoder.emit(aligned_handlers<run_arrive>).detail = detail_of(decoder);
}
void bind_barrier_cluster_wait(Decoder& decoder) {
  decoder.emit(control_handlers<run_wait>).detail = detail_of(decoder);
}

}  // namespace lw::machine
