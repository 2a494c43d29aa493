// When launches start and CTAs come and go.

#include <algorithm>

#include "machine/machine.h"
#include "order/engine.h"

namespace lw::machine {
namespace {

CtaNeeds needs_of(const Launch& launch) {
  return {launch.shared_bytes, launch.warps_per_cta, launch.registers};
}

// The linear index of CTA `rank` of the `number`-th cluster.
uint32_t cta_of_cluster(const LaunchRequest& request, uint32_t number, uint32_t rank) {
  Dim3 grid = request.grid;
  Dim3 size = request.cluster;
  Dim3 clusters{grid.x / size.x, grid.y / size.y, grid.z / size.z};
  uint32_t x = number % clusters.x * size.x + rank % size.x;
  uint32_t y = number / clusters.x % clusters.y * size.y + rank / size.x % size.y;
  uint32_t z = number / clusters.x / clusters.y * size.z + rank / size.x / size.y;
  return x + grid.x * (y + grid.y * z);
}

void tell_cluster(order::Engine& order, std::span<Cta* const> cluster) {
  std::vector<base::CtaId> ids;
  for (const Cta* cta : cluster) ids.push_back(cta->id);
  order.begin_cluster(ids);
}

}  // namespace

Cta* Machine::cta(base::CtaId id) const {
  auto found = holders_.find(id);
  return found == holders_.end() ? nullptr : &found->second->cta;
}

Launch* Machine::previous_in_stream(const Launch& launch) const {
  for (uint32_t i = launch.id.value; i-- > 0;)
    if (launches_[i]->request.stream == launch.request.stream) return launches_[i].get();
  return nullptr;
}

// The one before it is enough: it started behind the end of those before itself, or was let start
// early and may have ended without waiting for them (rule G-5).
bool Machine::predecessors_finished(const Launch& launch) const {
  const Launch* previous = previous_in_stream(launch);
  return previous == nullptr || previous->is_finished();
}

bool Machine::may_start(const Launch& launch) const {
  if (predecessors_finished(launch)) return true;
  const Launch* previous = previous_in_stream(launch);
  return launch.request.programmatic && previous->ctas_triggered == previous->cta_count();
}

// Fills the SMs: each launch that may run gets as many CTAs started as fit.
void Machine::dispatch() {
  for (auto& launch : launches_) {
    if (launch->ctas_started == launch->cta_count() || !may_start(*launch)) continue;
    while (launch->ctas_started < launch->cta_count() && start_cluster(*launch)) {
    }
  }
}

bool Machine::start_cluster(Launch& launch) {
  uint32_t size = static_cast<uint32_t>(launch.request.cluster.count());
  std::vector<uint32_t> sms;
  for (uint32_t rank = 0; rank < size; ++rank) {
    // Each on an SM of its own: a pair has the tensor memory of two.
    const uint32_t first = sms.empty() ? 0 : sms.back() + 1;
    std::optional<uint32_t> sm = residency_->take(needs_of(launch), first);
    if (!sm) {
      for (uint32_t taken : sms) residency_->give_back(taken, needs_of(launch));
      return false;
    }
    sms.push_back(*sm);
  }
  if (launch.ctas_started == 0 && order_) begin_grid(launch);
  uint32_t number = launch.ctas_started / size;
  std::vector<Cta*> cluster;
  for (uint32_t rank = 0; rank < size; ++rank)
    cluster.push_back(&open(launch, cta_of_cluster(launch.request, number, rank), sms[rank]));
  for (Cta* cta : cluster) {
    CtaHolder& holder = *holders_[cta->id];
    holder.cluster = cluster;
    cta->cluster = holder.cluster;
  }
  if (order_ && size > 1) tell_cluster(*order_, cluster);
  return true;
}

// A dependent of a launch that lets go early is not ordered behind it, even if this run has come to
// the end of that one first (rules G-3 to G-6).
void Machine::begin_grid(const Launch& launch) {
  const Launch* previous = previous_in_stream(launch);
  if (previous == nullptr) return order_->begin_grid(launch.id, {});
  const base::GridId before[] = {previous->id};
  if (launch.request.programmatic && previous->lets_go_early) {
    order_->begin_grid(launch.id, {}, before);
  } else {
    order_->begin_grid(launch.id, before);
  }
}

Cta& Machine::open(Launch& launch, uint32_t index, uint32_t sm) {
  if (order_)
    order_->begin_cta(base::CtaId(launch.first_cta + index), launch.id,
                      static_cast<uint32_t>(launch.request.block.count()), launch.shared_bytes, sm);
  auto holder = open_cta(*this, launch, index, sm, options_.poison, pool_);
  Cta& cta = holder->cta;
  holders_[cta.id] = std::move(holder);
  resident_.push_back(&cta);
  ++launch.ctas_started;
  ++result_.reach.ctas;
  result_.reach.warps += launch.warps_per_cta;
  return cta;
}

void Machine::trigger_dependents(Cta& cta) {
  if (cta.triggered) return;
  cta.triggered = true;
  cta.launch->lets_go_early = true;
  ++cta.launch->ctas_triggered;
  if (cta.launch->ctas_triggered == cta.launch->cta_count()) dispatch();
}

// A CTA ends when its warps have exited and its asynchronous operations are done.
void Machine::close_if_done(Cta& cta) {
  if (cta.warps_left != 0 || cta.operations_pending != 0) return;
  if (!give_back_tensor_memory(cta)) return;
  Launch& launch = *cta.launch;
  if (!cta.triggered) ++launch.ctas_triggered;
  if (order_) order_->end_cta(cta.id);
  residency_->give_back(cta.sm, needs_of(launch));
  resident_.erase(std::ranges::find(resident_, &cta));
  for (Cta* peer : cta.cluster)
    if (peer != nullptr) holders_[peer->id]->cluster[cta.cluster_rank] = nullptr;
  auto holder = holders_.extract(cta.id);
  close_cta(std::move(holder.mapped()), pool_);
  ++launch.ctas_finished;
  if (launch.is_finished()) finish_launch(launch);
  dispatch();
}

void Machine::finish_launch(Launch& launch) {
  if (order_) order_->end_grid(launch.id);
  for (Cta* cta : resident_)
    if (cta->launch->request.stream == launch.request.stream && predecessors_finished(*cta->launch))
      cta->wake(Wait::Kind::grid_dependency, 0);
}

}  // namespace lw::machine
