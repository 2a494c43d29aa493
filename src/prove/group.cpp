#include "prove/group.h"

#include <algorithm>
#include <set>

#include "prove/objects.h"
#include "schedule/line_index.h"

namespace lw::prove {
namespace {

using order::Facts;
using order::Party;
using order::RaceGroup;

// More groups than this are told without their story.
constexpr size_t kMostWatches = 64;

bool same_instructions(const RaceGroup& a, const RaceGroup& b) {
  return a.first.space == b.first.space && std::minmax(a.first.earlier.op, a.first.later.op) ==
                                               std::minmax(b.first.earlier.op, b.first.later.op);
}

// Lanes of one warp race by the edge that its other warps lack too: a barrier of the CTA would
// order both, so that one is named.
bool inside_warp(diagnose::RuleId rule) {
  using diagnose::RuleId;
  return rule == RuleId::kW1 || rule == RuleId::kW2 || rule == RuleId::kW4;
}

bool same_edge(const RaceGroup& a, const RaceGroup& b) {
  const diagnose::RuleId rule_a = a.first.rule;
  const diagnose::RuleId rule_b = b.first.rule;
  const bool covered = (inside_warp(rule_a) && rule_b == diagnose::RuleId::kB1) ||
                       (inside_warp(rule_b) && rule_a == diagnose::RuleId::kB1);
  return same_instructions(a, b) && a.first.tier == b.first.tier && (rule_a == rule_b || covered);
}

// The story of a group, if it was rebuilt.
const order::Story* story_of(const RaceGroup& group, const Facts& told) {
  for (const order::Story& story : told.stories) {
    const order::Race& race = story.race;
    if (race.space == group.first.space && race.rule == group.first.rule &&
        race.earlier.op == group.first.earlier.op && race.later.op == group.first.later.op) {
      return &story;
    }
  }
  return nullptr;
}

// Does one warp's own program have `b` before `a`?
bool program_swaps(const Party& a, const Party& b, const Diary& diary) {
  for (const Party& who : {b, a}) {
    const uint64_t at_a = diary.position(who.cta, who.warp, a.op, a.execution);
    const uint64_t at_b = diary.position(who.cta, who.warp, b.op, b.execution);
    if (at_a != 0 && at_b != 0 && at_a != at_b) return at_b < at_a;
  }
  return false;
}

// The copy engine wrote what a thread then read, but the copy was a later round's than the read: it
// ran ahead of a reader that it should have waited for. The edge that is missing is that from the
// reader to the copy, whatever came first in this run.
bool copy_ran_ahead(const order::Race& race) {
  const bool copy =
      race.earlier.agent == order::Agent::kBulkLoad || race.earlier.agent == order::Agent::kCpAsync;
  return copy && race.later.kind == order::Kind::kRead && race.later.execution != 0 &&
         race.earlier.execution > race.later.execution;
}

Hazard hazard_of(const RacePair& pair) {
  if (pair.first().kind == order::Kind::kRead) return Hazard::write_after_read;
  return pair.second().kind == order::Kind::kRead ? Hazard::read_after_write
                                                  : Hazard::write_after_write;
}

void absorb(RaceGroup& into, const RaceGroup& from) {
  into.bytes.add(from.bytes);
  into.instances += from.instances;
  into.ctas.insert(from.ctas.begin(), from.ctas.end());
  const bool turned = into.first.earlier.op != from.first.earlier.op;
  const auto& earlier = turned ? from.later_warps : from.earlier_warps;
  const auto& later = turned ? from.earlier_warps : from.later_warps;
  into.earlier_warps.insert(earlier.begin(), earlier.end());
  into.later_warps.insert(later.begin(), later.end());
  into.first.after_unforced &= from.first.after_unforced;
  into.first.after_race &= from.first.after_race;
  into.first.implied &= from.first.implied;
}

bool overlap(const RaceGroup& a, const RaceGroup& b) {
  for (const order::Interval& x : a.addresses) {
    for (const order::Interval& y : b.addresses) {
      if (x.begin < y.end && y.begin < x.end) return true;
    }
  }
  return false;
}

bool one_source_line(base::OpId a, base::OpId b, std::span<const program::Place> places) {
  if (a == b) return true;
  const auto lines_a = schedule::source_lines(places[a.value]);
  const auto lines_b = schedule::source_lines(places[b.value]);
  return !lines_a.empty() && !lines_b.empty() && lines_a.front().line == lines_b.front().line &&
         lines_a.front().file == lines_b.front().file;
}

class Grouping {
 public:
  explicit Grouping(const Run& told) : told_(told), machine_(*told.set_up.machine) {}

  void add(const RaceGroup& group) {
    for (RacePair& pair : pairs_) {
      if (!same_edge(pair.group, group)) continue;
      if (inside_warp(pair.group.first.rule) && !inside_warp(group.first.rule)) {
        RacePair wider = tell(group);
        absorb(wider.group, pair.group);
        pair = std::move(wider);
      } else {
        absorb(pair.group, group);
      }
      return;
    }
    pairs_.push_back(tell(group));
  }

  std::vector<RaceFinding> findings() {
    std::ranges::stable_partition(pairs_,
                                  [](const RacePair& pair) { return !pair.group.first.implied; });
    for (RacePair& pair : pairs_) place(std::move(pair));
    return std::move(findings_);
  }

 private:
  RacePair tell(const RaceGroup& group) const {
    RacePair pair{group, false, {}, {}, {}};
    const order::Story* story = story_of(group, told_.facts);
    if (story != nullptr) pair.group.first = story->race;
    if (story != nullptr && story->other_warp && inside_warp(pair.group.first.rule)) {
      pair.group.first.rule = diagnose::RuleId::kB1;
      pair.group.later_warps.insert(story->other_warp->warp.value);
    }
    pair.group.first.after_unforced = group.first.after_unforced;
    pair.group.first.after_race = group.first.after_race;
    pair.group.first.serial = group.first.serial;
    pair.group.first.implied = group.first.implied;
    const order::Race& race = pair.group.first;
    pair.swapped = program_swaps(race.earlier, race.later, told_.diary) || wants_the_write(race);
    if (story != nullptr) {
      pair.common = story->common;
      pair.released = story->released;
      pair.acquired = story->acquired;
    }
    if (copy_ran_ahead(pair.group.first)) {
      pair.common = {};
      pair.swapped = true;
      pair.group.first.rule = diagnose::RuleId::kB1;
    }
    return pair;
  }

  // A read of bytes that nobody had written yet wants the write before it.
  bool wants_the_write(const order::Race& race) const {
    return race.earlier.kind == order::Kind::kRead &&
           std::ranges::any_of(told_.facts.unwritten, [&](const order::Unwritten& read) {
             return read.party.op == race.earlier.op && read.space == race.space;
           });
  }

  void place(RacePair pair) {
    const order::Race& race = pair.group.first;
    RaceFinding fresh;
    fresh.rule = race.rule;
    fresh.tier = race.tier;
    fresh.hazard = hazard_of(pair);
    fresh.object = object_of(machine_, race.space, race.owner, race.address);
    fresh.in_all_schedules = !race.after_unforced && !race.after_race;
    fresh.after_race = !race.after_unforced && race.after_race;
    const Party& writer = pair.second().kind == order::Kind::kRead ? pair.first() : pair.second();
    if (fresh.object.kind == Object::Kind::dynamic_shared) fresh.object.writer = writer.op;
    for (RaceFinding& finding : findings_) {
      if (!belongs(fresh, pair, finding) && !is_implied(fresh, pair, finding)) continue;
      finding.in_all_schedules |= fresh.in_all_schedules;
      finding.after_race |= fresh.after_race;
      finding.pairs.push_back(std::move(pair));
      return;
    }
    fresh.common = pair.common;
    fresh.pairs.push_back(std::move(pair));
    findings_.push_back(std::move(fresh));
  }

  bool belongs(const RaceFinding& fresh, const RacePair& pair, const RaceFinding& finding) const {
    if (fresh.rule != finding.rule || fresh.tier != finding.tier ||
        fresh.hazard != finding.hazard || fresh.object.kind != finding.object.kind ||
        fresh.object.launch != finding.object.launch ||
        fresh.object.index != finding.object.index) {
      return false;
    }
    if (fresh.object.kind != Object::Kind::dynamic_shared) return true;
    return one_source_line(fresh.object.writer, finding.object.writer, machine_.places()) ||
           std::ranges::any_of(finding.pairs, [&](const RacePair& other) {
             return overlap(other.group, pair.group);
           });
  }

  // The edge that the finding lacks is all that this pair lacks.
  static bool is_implied(const RaceFinding& fresh, const RacePair& pair,
                         const RaceFinding& finding) {
    const order::Race& race = pair.group.first;
    return race.implied && fresh.tier == finding.tier && fresh.object == finding.object &&
           std::ranges::any_of(finding.pairs, [&](const RacePair& other) {
             const order::Race& load = other.group.first;
             return load.earlier.agent == order::Agent::kTensorLoad &&
                    load.later.op == race.later.op && overlap(other.group, pair.group);
           });
  }

  const Run& told_;
  machine::Machine& machine_;
  std::vector<RacePair> pairs_;
  std::vector<RaceFinding> findings_;
};

}  // namespace

std::vector<RaceFinding> group_races(const Facts& facts, const Run& told) {
  Grouping grouping(told);
  for (const RaceGroup& group : facts.races) grouping.add(group);
  return grouping.findings();
}

bool all_told(const Facts& facts, const Facts& told) {
  // Whether other warps join a race inside one shows at the end only.
  const auto is_told = [&](const RaceGroup& group) {
    const order::Story* story = story_of(group, told);
    // And whom else the late one tells after the access, once it is done.
    const bool frees = group.first.later.agent == order::Agent::kTensorFree;
    return story != nullptr && !frees && (story->other_warp || !inside_warp(group.first.rule));
  };
  const size_t watched = std::min(facts.races.size(), kMostWatches);
  return std::all_of(facts.races.begin(), facts.races.begin() + static_cast<ptrdiff_t>(watched),
                     is_told);
}

std::vector<order::Watch> watches_of(const Facts& facts) {
  std::vector<order::Watch> watches;
  for (const RaceGroup& group : facts.races) {
    if (watches.size() == kMostWatches) break;
    const order::Race& race = group.first;
    watches.push_back({race.space, race.owner, race.address, race.address + race.bytes});
  }
  return watches;
}

std::vector<base::OpId> instructions_of(const Facts& facts) {
  std::set<base::OpId> ops;
  for (const RaceGroup& group : facts.races) {
    ops.insert(group.first.earlier.op);
    ops.insert(group.first.later.op);
  }
  return {ops.begin(), ops.end()};
}

}  // namespace lw::prove
