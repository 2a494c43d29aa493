#include "prove/witness.h"

#include <algorithm>
#include <bit>

#include "prove/owners.h"

namespace lw::prove {
namespace {

using order::Agent;
using order::Party;
using schedule::Hold;
using schedule::Moment;
using schedule::Point;

constexpr uint32_t kMostRuns = 8;        // of one finding
constexpr size_t kPairsTried = 4;        // instruction pairs, in the order of the finding
constexpr size_t kOwnedPairsTried = 2;   // of those of a load and a dealloc
constexpr uint64_t kLaterInstances = 2;  // executions after the first instance

// A held run that is longer than this has lost its way out of a loop.
uint64_t step_limit(uint64_t plain_steps) { return 16 * plain_steps + 1'000'000; }

bool is_asynchronous(Agent agent) {
  return agent == Agent::kCpAsync || agent == Agent::kBulkLoad || agent == Agent::kBulkStore;
}

// When the access of a party has happened.
Moment moment_of(const Party& party) {
  if (!is_asynchronous(party.agent)) return Moment::execution;
  return party.kind == order::Kind::kRead ? Moment::read_done : Moment::write_done;
}

base::LaneMask lowest(base::LaneMask lanes) { return lanes & (~lanes + 1); }

Point point_of(const Party& party, base::LaneMask lanes) {
  return {party.cta, party.warp, lanes, party.op, std::max(1u, party.execution), moment_of(party)};
}

// Hold `a` until `b`. Lanes of one warp are told apart, whole warps otherwise.
std::optional<Hold> hold_of(const Party& a, const Party& b) {
  if (a.agent == Agent::kHost || b.agent == Agent::kHost) return std::nullopt;
  const bool one_warp =
      a.cta == b.cta && a.warp == b.warp && !is_asynchronous(a.agent) && !is_asynchronous(b.agent);
  if (!one_warp) return Hold{point_of(a, base::kAllLanes), point_of(b, base::kAllLanes)};
  const base::LaneMask held = lowest(a.lanes);
  base::LaneMask until = lowest(b.lanes & ~held);
  if (until == 0) return std::nullopt;
  return Hold{point_of(a, held), point_of(b, until)};
}

// Whatever the schedule, the later one comes later: what is missing is that it sees the earlier
// one. The lanes of a warp are all at an instruction that moves matrices.
bool comes_in_order(const RacePair& pair) {
  const order::Race& race = pair.group.first;
  const bool meet =
      race.earlier.agent == Agent::kMatrixRows || race.later.agent == Agent::kMatrixRows;
  const bool one_warp = race.earlier.cta == race.later.cta && race.earlier.warp == race.later.warp;
  return race.path != order::Path::kNone || (one_warp && meet);
}

// The holds worth trying, best first: the reversal of each pair's first instance, of later
// instances, then the opposite holds.
std::vector<Hold> candidates(const RaceFinding& finding) {
  std::vector<Hold> holds;
  auto add = [&](const std::optional<Hold>& hold, uint64_t later) {
    if (!hold) return;
    Hold shifted = *hold;
    shifted.held.n += later;
    shifted.until.n += later;
    holds.push_back(shifted);
  };
  const size_t pairs = std::min(finding.pairs.size(), kPairsTried);
  for (uint64_t later = 0; later <= kLaterInstances; ++later) {
    for (size_t i = 0; i < pairs; ++i) {
      const order::Race& race = finding.pairs[i].group.first;
      add(hold_of(race.earlier, race.later), later);
    }
  }
  const order::Race& race = finding.pairs.front().group.first;
  add(hold_of(race.later, race.earlier), 0);
  if (holds.size() > kMostRuns) {
    std::swap(holds[kMostRuns - 1], holds.back());
    holds.resize(kMostRuns);
  }
  return holds;
}

// The other one's error, where it would have passed: it came first, as the hold wants it.
bool fails_in_place(const Hold& hold, const Run& run) {
  const auto& fault = run.result.fault;
  return fault && fault->instruction == hold.until.instruction && fault->cta == hold.until.cta &&
         fault->warp == hold.until.warp;
}

Unshown reason_of(const RaceFinding& finding) {
  if (!std::ranges::all_of(finding.pairs, comes_in_order)) return Unshown::same_outputs;
  const bool proxy = finding.pairs.front().group.first.path == order::Path::kNoProxyFence;
  return proxy ? Unshown::proxy : Unshown::visibility;
}

}  // namespace

std::vector<ChangedOutput> changed_outputs(const casefile::Inputs& inputs, const Run& before,
                                           const Run& after) {
  std::vector<ChangedOutput> changed;
  const std::vector<size_t> buffers = casefile::output_buffers(inputs.parts);
  for (size_t i = 0; i < buffers.size(); ++i) {
    const casefile::Buffer& buffer = inputs.parts.buffers[buffers[i]];
    ChangedOutput output{buffers[i],
                         casefile::difference(before.outputs[i], after.outputs[i], buffer.dtype)};
    if (output.difference.changed > 0) changed.push_back(std::move(output));
  }
  return changed;
}

namespace {

// The held runs of one finding.
class Search {
 public:
  Search(const casefile::Inputs& inputs, const RunPlan& plan, const Run& plain,
         RaceFinding& finding)
      : inputs_(inputs), plan_(plan), plain_(plain), finding_(finding) {
    plan_.order.reset();
    plan_.machine.step_limit = step_limit(plain.result.reach.instructions);
  }

  // Is this the schedule?
  bool shows(const Hold& hold, casefile::Antagonist antagonist) {
    RunPlan held = plan_;
    held.antagonist = antagonist;
    held.holds.push_back(hold);
    const Run run = run_again(inputs_, held);
    ++finding_.schedules_tried;
    Witness witness;
    witness.hold = hold;
    witness.antagonist = antagonist;
    witness.fate = run.fates.back();
    witness.changed = changed_outputs(inputs_, plain_, run);
    if (run.result.fault && !plain_.result.fault) witness.fault = run.result.fault;
    const bool turned = witness.fate == schedule::HoldFate::met || fails_in_place(hold, run);
    if (!turned || run.result.not_analysed) return false;
    if (witness.changed.empty() && !witness.fault) return false;
    const auto places = run.set_up.machine->places();
    witness.replay = schedule::hold_text(hold, places);
    witness.replay_by_source = schedule::hold_source_text(hold, places);
    finding_.witness = std::move(witness);
    finding_.unshown = Unshown::none;
    return true;
  }

  // Loads of columns that are freed: until their next owner has written them (owners.h).
  bool shows_by_next_owner() {
    bool owned = false;
    bool asked = false;
    size_t tried = 0;
    for (const RacePair& pair : finding_.pairs) {
      const auto late = late_load(pair.group.first);
      if (!late || ++tried > kOwnedPairsTried) continue;
      asked = true;
      for (const casefile::Antagonist antagonist : antagonists()) {
        RunPlan plan = plan_;
        plan.antagonist = antagonist;
        const auto holds = holds_until_next_owner(inputs_, plan, late->held, late->until);
        ++finding_.schedules_tried;
        owned |= !holds.empty();
        for (const Hold& hold : holds)
          if (shows(hold, antagonist)) return true;
      }
    }
    if (asked && !owned) finding_.unshown = Unshown::alone;
    return false;
  }

 private:
  // The load is to be held, until the dealloc at least.
  static std::optional<Hold> late_load(const order::Race& race) {
    const bool freed_first = race.earlier.agent == Agent::kTensorFree;
    const Party& load = freed_first ? race.later : race.earlier;
    const Party& free = freed_first ? race.earlier : race.later;
    if (load.agent != Agent::kTensorLoad || free.agent != Agent::kTensorFree) return std::nullopt;
    return hold_of(load, free);
  }

  std::vector<casefile::Antagonist> antagonists() const {
    if (plan_.antagonist != casefile::Antagonist::none) return {plan_.antagonist};
    return {casefile::Antagonist::none, casefile::Antagonist::tmem};
  }

  const casefile::Inputs& inputs_;
  RunPlan plan_;
  const Run& plain_;
  RaceFinding& finding_;
};

}  // namespace

void find_witness(const casefile::Inputs& inputs, const RunPlan& plan, const Run& plain,
                  RaceFinding& finding) {
  finding.unshown = reason_of(finding);
  // Matches that are not forced may put even these the other way around.
  if (finding.unshown != Unshown::same_outputs && plain.facts.unforced.empty()) return;
  Search search(inputs, plan, plain, finding);
  if (search.shows_by_next_owner()) return;
  for (const Hold& hold : candidates(finding))
    if (search.shows(hold, plan.antagonist)) return;
}

}  // namespace lw::prove
