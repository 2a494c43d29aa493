#include "order/cluster.h"

#include <algorithm>

#include "base/check.h"
#include "order/check.h"
#include "order/judge.h"
#include "order/mbarrier.h"
#include "order/tensor.h"

namespace lw::order {
namespace {

constexpr ViewSet kNotAsync = view_bit(View::kCausality) | kExecutionAndControl;

}  // namespace

std::optional<Contribution> carried_inits(const Warp& warp, LaneMask lanes) {
  if (!warp.inits || warp.inits->component == 0) return std::nullopt;
  Contribution part;
  part.cta = warp.cta->id;
  part.steps = warp.steps();
  part.views = kNotAsync;
  LaneCounts counts{};
  for (int lane = 0; lane < kWarpSize; ++lane)
    if (lanes >> lane & 1) counts[lane] = warp.inits->fenced[lane];
  part.async.push_back({warp.inits->component, counts, kNotAsync});
  compare_views(part);
  return part;
}

Reach reach_of(const Cta& from, uint32_t to, Scope scope) {
  if (from.id == to) return {};
  if (scope == Scope::kCta) return {kExecutionAndControl, false};
  return {kAllViews, true};
}

void add_fenced(const Core& core, const Warp& warp, LaneMask lanes, Scope scope, uint32_t to,
                std::vector<Contribution>& parts) {
  if (auto tensor = carried_by_fence(core, warp, lanes)) parts.push_back(std::move(*tensor));
  const auto add = [&](Contribution part, bool across) {
    part.across = across;
    parts.push_back(std::move(part));
  };
  auto inits = carried_inits(warp, lanes);
  const Reach widest = reach_of(*warp.cta, to, scope);
  if (inits && (widest.views & view_bit(View::kCausality)) != 0)
    add(std::move(*inits), widest.across);
  if (!warp.strong) return;
  for (const FenceRecord& fence : warp.strong->fences) {
    const LaneMask here = fence.lanes & lanes;
    if (here == 0) continue;
    const Reach reach = reach_of(*warp.cta, to, std::min(fence.scope, scope));
    const auto views = static_cast<ViewSet>(reach.views & ~view_bit(View::kControl));
    add(publish_at(fence.standing, here, fence.count, views), reach.across);
  }
}

void check_started(Core& core, const Warp& warp, OpId op, LaneMask lanes, const Cta& peer,
                   uint64_t address) {
  for (const LaneGroup& group : warp.groups) {
    if ((group.lanes & lanes) == 0) continue;
    const Clock* clock = group.bundle.clock(View::kControl);
    if (clock != nullptr && clock->foreign(peer.id) != nullptr) continue;
    core.findings.error({RuleId::kK7, party_of(warp, op, group.lanes & lanes, warp.count),
                         Space::kShared, address, 0, core.accesses(), true});
  }
}

namespace {

// What the threads of a CTA that ends knew when they exited.
class End {
 public:
  End(Core& core, Cta& cta) : core_(core), cta_(cta) {}

  void check_objects() {
    for (const auto& [offset, state] : cta_.mbarriers) {
      for (const ControlEvent& use : state.foreign_uses) {
        const auto known = [&](View view) { return knows_event(clock(view), cta_.id, use); };
        if (!known(View::kExecution))
          report(party_of(use), known(View::kControl), offset, kMbarrierBytes);
      }
      check_signal(state);
    }
  }

  void check_memory() {
    cta_.shared.each_touched([&](Block& block) {
      const auto index = static_cast<uint64_t>(&block - cta_.shared.at(0));
      check_block(block, {index << kBlockShift, kCoarse, kAllCells});
    });
  }

 private:
  const Clock* clock(View view) const { return cta_.at_exit.clock(view); }

  // The last phase that an operation of another CTA has signalled, or will.
  void check_signal(const MbarrierState& state) {
    if (state.foreign_phase == 0) return;
    const auto known = [&](View view) {
      return clock(view) != nullptr &&
             clock(view)->all_lanes(state.component) >= state.foreign_phase;
    };
    if (known(View::kExecution)) return;
    Party party = party_of(state.foreign_signal);
    party.agent = state.foreign_agent;
    report(party, known(View::kControl), state.offset, kMbarrierBytes);
  }

  void check_block(Block& block, const Cells& cells) {
    Shadow& shadow = core_.shadow;
    if (shadow.is_split(block)) {
      for (int quarter = 0; quarter < 4; ++quarter)
        check_block(shadow.fine(block, quarter),
                    {cells.base + static_cast<uint64_t>(quarter) * 32, kFine, kAllCells});
      return;
    }
    shadow.writers(block, kAllCells, core_.writers);
    shadow.readers(block, core_.readers);
    for (auto* list : {&core_.writers, &core_.readers})
      for (const Touch& touch : *list) check_touch(touch, cells);
  }

  void check_touch(const Touch& touch, const Cells& cells) {
    if (touch.id < kFirstObject) return;
    const Object& object = core_.objects[touch.id];
    if (object.cta == cta_.id) return;
    for (CellMask rest = touch.cells; rest != 0; rest &= rest - 1) {
      const uint64_t address = cells.address(__builtin_ctz(rest));
      const LaneMask lanes = core_.objects.lanes_at(object, address);
      if (knows(View::kExecution, object, lanes)) continue;
      report(party_of(object, lanes), knows(View::kControl, object, lanes), address,
             1u << cells.shift);
    }
  }

  bool knows(View view, const Object& object, LaneMask lanes) const {
    const Clock* known = clock_of(clock(view), cta_.id, object.home);
    if (known == nullptr) return false;
    return (lanes & ~known->lanes_at_least(object.component, object.count)) == 0;
  }

  void report(const Party& earlier, bool in_control, uint64_t address, uint32_t bytes) {
    Race race;
    race.rule = RuleId::kK8;
    race.tier = in_control ? Tier::kStrict : Tier::kRace;
    race.path = in_control ? Path::kControl : Path::kNone;
    race.earlier = earlier;
    race.later = party_of(cta_.last_exit);
    race.later.agent = Agent::kExit;
    race.later.kind = Kind::kWrite;
    race.owner = CtaId{cta_.id};
    race.address = address;
    race.bytes = bytes;
    core_.report_race(race, core_.findings.facts().accesses);
  }

  Core& core_;
  Cta& cta_;
};

}  // namespace

void check_end(Core& core, Cta& cta) {
  if (cta.cluster_size == 1) return;
  ++core.findings.facts().accesses;
  End end(core, cta);
  end.check_objects();
  end.check_memory();
}

void Engine::begin_cluster(std::span<const CtaId> ctas) {
  Cluster& cluster = core_->clusters[ctas.front().value];
  for (CtaId id : ctas) {
    cluster.ctas.push_back(id.value);
    Cta& cta = core_->running(id);
    cta.cluster = ctas.front().value;
    cta.cluster_size = static_cast<uint32_t>(ctas.size());
  }
}

namespace {

// One CTA alone is a cluster too, if it says so.
Cluster& cluster_of(Core& core, const Cta& cta) {
  Cluster& cluster = core.clusters[cta.cluster];
  if (cluster.ctas.empty()) cluster.ctas.push_back(cta.id);
  return cluster;
}

}  // namespace

void Engine::cluster_arrive(Warp& warp, OpId, LaneMask lanes, Strength strength) {
  core_->collect_if_due();
  Cluster& cluster = cluster_of(*core_, *warp.cta);
  warp.since_control |= lanes;
  const bool releases = strength == Strength::kRelease;
  core_->findings.saw_cluster_arrival(releases);
  // The barrier is nobody's: as for a CTA that is none of the cluster's.
  if (!releases) add_fenced(*core_, warp, lanes, Scope::kCluster, kNoCta, cluster.parts);
  cluster.parts.push_back(publish(warp, lanes, releases ? kAllViews : view_bit(View::kControl)));
}

void Engine::cluster_complete(CtaId any) {
  const auto found = core_->clusters.find(core_->running(any).cluster);
  if (found == core_->clusters.end() || found->second.parts.empty()) return;
  Cluster& cluster = found->second;
  for (uint32_t id : cluster.ctas) cluster.done[id] = join_across(id, cluster.parts, {}, true);
  cluster.parts.clear();
}

void Engine::cluster_wait(Warp& warp, OpId, LaneMask lanes) {
  warp.since_control |= lanes;
  learn(warp, lanes, core_->clusters.at(warp.cta->cluster).done[warp.cta->id]);
}

void Engine::fence_mbarrier_init(Warp& warp, LaneMask lanes) {
  warp.since_control |= lanes;
  if (!warp.inits) return;
  if (warp.inits->component == 0) warp.inits->component = warp.cta->components++;
  for (int lane = 0; lane < kWarpSize; ++lane)
    if (lanes >> lane & 1) warp.inits->fenced[lane] = warp.inits->made[lane];
}

}  // namespace lw::order
