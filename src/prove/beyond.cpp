#include "prove/beyond.h"

#include <algorithm>
#include <limits>

#include "prove/freedom.h"

namespace lw::prove {
namespace {

using diagnose::RuleId;
using machine::Fault;
using machine::FaultKind;
using order::Unforced;
using schedule::Point;

constexpr int kMostRuns = 64;
constexpr size_t kMostStops = 4096;  // groups of lanes that are kept back at errors
constexpr int kMostTurned = 16;      // of them asked whether the other order of two is an error too

bool is_stuck(const Fault& fault) {
  return fault.kind == FaultKind::deadlock || fault.kind == FaultKind::livelock;
}

uint64_t shared_address(const Fault& fault) {
  const bool generic = machine::Memory::kind(fault.address) == machine::RegionKind::shared;
  return generic ? fault.address - machine::Memory::kSharedWindow : fault.address;
}

// Another CTA had ended before: in another schedule it may not have. Or the object was another
// CTA's, of which nothing is asked here.
bool is_of_a_peer(const Fault& fault, const machine::Cta& cta) {
  if (fault.kind == FaultKind::peer_ended) return true;
  if (fault.kind != FaultKind::mbarrier_misuse || !fault.has_address) return false;
  return shared_address(fault) >> program::kRankShift != cta.cluster_rank;
}

// Shared memory whose mbarrier objects make it an error; nothing: they have no part in it.
std::optional<order::Range> objects_of(const Fault& fault) {
  if (fault.kind != FaultKind::mbarrier_misuse || !fault.has_address) return std::nullopt;
  const uint64_t in_cta = shared_address(fault) & ((uint64_t{1} << program::kRankShift) - 1);
  return order::Range{in_cta - program::kSharedBase, std::max(fault.size_bytes, 1u)};
}

// Whether it is there that makes it an error, or what state it is in.
order::Engine::Asks asks_of(const Fault& fault) {
  const bool life = fault.rule == RuleId::kNone || fault.rule == RuleId::kE3;
  return life ? order::Engine::Asks::life : order::Engine::Asks::state;
}

// One fault, which execution of its instruction it was, and how many accesses had happened.
struct Stop {
  Fault fault;
  uint64_t n = 0;
  uint64_t at = 0;

  Point point() const { return {fault.cta, fault.warp, fault.lanes, fault.instruction, n}; }
};

class Beyond {
 public:
  Beyond(const casefile::Inputs& inputs, const RunPlan& plan, const Run& stopped)
      : inputs_(inputs), plan_(plan) {
    plan_.machine.step_limit = 16 * stopped.result.reach.instructions + 1'000'000;
    plan_.watched = {stopped.result.fault->instruction};
  }

  FaultDoubt run() {
    RunPlan plan = plan_;
    plan.machine.park_faults = true;
    plan.at_end = [this](machine::Machine& machine, order::Engine& engine) {
      ask(machine, engine);
    };
    for (int tries = 0; tries < kMostRuns && stops_.size() <= kMostStops; ++tries) {
      const Run run = run_again(inputs_, plan);
      const auto& fault = run.result.fault;
      if (fault && !is_stuck(*fault)) {
        keep_back(run, *fault, plan);
        continue;
      }
      if (run.result.parked.empty()) return judge(run);
      add(run.result.parked, plan);
    }
    FaultDoubt doubt;
    doubt.not_followed = true;
    return doubt;
  }

 private:
  static uint64_t executions(const Run& run, base::CtaId cta, base::WarpId warp, base::OpId op) {
    const auto& counts = run.set_up.machine->cta(cta)->warps[warp.value].executions;
    const auto at = counts.find(op);
    return at == counts.end() ? 0 : at->second;
  }

  // The run ended at an error, so that the instruction is not watched yet, or what met it was an
  // operation in flight: then its issuer is kept back.
  void keep_back(const Run& run, const Fault& fault, RunPlan& plan) {
    if (std::ranges::count(plan.watched, fault.instruction) == 0)
      plan.watched.push_back(fault.instruction);
    else
      add({fault, executions(run, fault.cta, fault.warp, fault.instruction), run.facts.accesses},
          plan);
  }
  // Once a lane stayed behind that shall not, what comes before the later ones is not known.
  void add(const std::vector<machine::ParkedFault>& found, RunPlan& plan) {
    bool exact = true;
    for (const machine::ParkedFault& parked : found) {
      exact = exact && parked.beside == 0;
      const uint64_t at = exact ? parked.accesses : std::numeric_limits<uint64_t>::max();
      add({parked.fault, parked.n, at}, plan);
    }
  }
  void add(const Stop& stop, RunPlan& plan) {
    stops_.push_back(stop);
    plan.holds.push_back({stop.point(), {}, true});
  }

  // While everything stands as the last run ended.
  void ask(machine::Machine& machine, const order::Engine& engine) {
    unsettled_.clear();
    after_race_ = of_a_peer_ = false;
    for (const Stop& stop : stops_) {
      const Fault& fault = stop.fault;
      const machine::Cta* cta = machine.cta(fault.cta);
      if (cta == nullptr) continue;
      const order::Warp& warp = *cta->warps[fault.warp.value].order_warp;
      of_a_peer_ |= is_of_a_peer(fault, *cta);
      after_race_ |= engine.comes_after_race(warp, fault.lanes);
      std::vector<Unforced> unknown;
      if (fault.barrier)
        unknown = engine.unsettled(warp, fault.instruction, fault.lanes, *fault.barrier);
      else if (const auto objects = objects_of(fault))
        unknown = engine.unsettled(warp, fault.instruction, fault.lanes, *objects, asks_of(fault));
      unsettled_.push_back(std::move(unknown));
    }
  }

  FaultDoubt judge(const Run& run) {
    FaultDoubt doubt;
    for (const Unforced& fact : run.facts.unforced) {
      const bool matters =
          std::ranges::any_of(stops_, [&](const Stop& stop) { return fact.since <= stop.at; });
      if (matters) doubt.unforced.push_back(fact);
    }
    for (size_t i = 0; i < unsettled_.size(); ++i) {
      if (unsettled_[i].size() == 1 && ++turned_ <= kMostTurned &&
          is_wrong_in_either_order(stops_[i], unsettled_[i][0]))
        continue;
      doubt.unforced.insert(doubt.unforced.end(), unsettled_[i].begin(), unsettled_[i].end());
    }
    for (const order::RaceGroup& group : run.facts.races) {
      if (!after_race_ || group.first.tier == diagnose::Tier::kNote) continue;
      doubt.race = group.first;
      break;
    }
    doubt.influences = influences_of(run);
    doubt.not_followed = of_a_peer_ || run.result.not_analysed || !run.facts.not_modelled.empty();
    return doubt;
  }

  // The other use of the object came before the erroneous one. Is it an error the other way around
  // too?
  bool is_wrong_in_either_order(const Stop& stop, const Unforced& unknown) {
    const order::Party& other = unknown.first;
    RunPlan plan = plan_;
    plan.order.reset();
    plan.watched = {other.op};
    const Run counted = run_again(inputs_, plan);
    if (counted.set_up.machine->cta(other.cta) == nullptr) return false;
    const uint64_t n = executions(counted, other.cta, other.warp, other.op);
    if (n == 0) return false;
    plan.holds.push_back({{other.cta, other.warp, other.lanes, other.op, n}, stop.point()});
    const Run turned = run_again(inputs_, plan);
    const auto& fault = turned.result.fault;
    if (!fault || fault->kind != stop.fault.kind) return false;
    // Either the erroneous one fails while the other is still held, or the other fails behind it.
    if (turned.fates.back() == schedule::HoldFate::was_late) return false;
    if (executions(turned, other.cta, other.warp, other.op) < n) return false;
    if (fault->instruction == stop.fault.instruction)
      return turned.fates.back() == schedule::HoldFate::not_reached;
    const Fault& erroneous = stop.fault;
    return fault->instruction == other.op &&
           executions(turned, erroneous.cta, erroneous.warp, erroneous.instruction) >= stop.n;
  }

  const casefile::Inputs& inputs_;
  RunPlan plan_;
  std::vector<Stop> stops_;
  std::vector<std::vector<Unforced>> unsettled_;  // of each, as the last run ended
  bool after_race_ = false;
  bool of_a_peer_ = false;
  int turned_ = 0;
};

}  // namespace

FaultDoubt doubt_fault(const casefile::Inputs& inputs, const RunPlan& plan, const Run& stopped) {
  return Beyond(inputs, plan, stopped).run();
}

}  // namespace lw::prove
