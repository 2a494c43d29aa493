#include "order/story.h"

#include <algorithm>

#include "order/judge.h"
#include "order/pair.h"

namespace lw::order {
namespace {

constexpr size_t kMostEntries = 1u << 16;
constexpr size_t kMostSteps = 16;  // of each list in a story

bool leaves(SyncStep::Kind kind) {
  return kind == SyncStep::Kind::kBarrierLeave || kind == SyncStep::Kind::kMbarrierWait ||
         kind == SyncStep::Kind::kWarpSync;
}

bool releases(SyncStep::Kind kind) {
  return kind == SyncStep::Kind::kBarrierArrive || kind == SyncStep::Kind::kMbarrierArrive ||
         kind == SyncStep::Kind::kStrongRelease || kind == SyncStep::Kind::kWarpSync;
}

bool takes_part(const SyncStep& step, const Party& party) {
  return step.warp == party.warp && (step.lanes & party.lanes) != 0;
}

bool same_meeting(const SyncStep& a, const SyncStep& b) {
  return a.kind == b.kind && a.owner == b.owner && a.object == b.object &&
         a.generation == b.generation;
}

Common::Kind common_kind(SyncStep::Kind kind) {
  if (kind == SyncStep::Kind::kWarpSync) return Common::Kind::kWarpSync;
  return kind == SyncStep::Kind::kBarrierLeave ? Common::Kind::kNamedBarrier
                                               : Common::Kind::kMbarrier;
}

// The later party's step that belongs to the earlier one's; the end if there is none.
size_t partner(const std::vector<SyncStep>& steps, size_t index, const Party& later) {
  const SyncStep& step = steps[index];
  if (step.kind == SyncStep::Kind::kWarpSync) return takes_part(step, later) ? index : steps.size();
  for (size_t i = steps.size(); i-- > 0;) {
    if (same_meeting(steps[i], step) && takes_part(steps[i], later)) return i;
  }
  return steps.size();
}

}  // namespace

void StoryLog::sync(const Warp& warp, const SyncStep& step) {
  steps_[warp.cta->id].push_back(step);
}

bool StoryLog::is_watched(Space space, uint32_t cta, uint64_t begin, uint64_t end) const {
  return std::any_of(watches_.begin(), watches_.end(), [&](const Watch& watch) {
    return watch.space == space && (space == Space::kGlobal || watch.cta.value == cta) &&
           watch.begin < end && begin < watch.end;
  });
}

void StoryLog::keep(const Doing& doing, uint32_t owner, Entry entry) {
  entry.id = doing.id;
  entry.space = doing.space;
  entry.cta = owner;
  entry.execution = doing.core.values != nullptr ? doing.core.values->execution() : 0;
  entry.position = steps_[doing.warp.cta->id].size();
  entries_.push_back(std::move(entry));
  for (Story& story : doing.core.findings.facts().stories)
    look_for_other_warp(doing, entries_.back(), story);
  if (entries_.size() > kMostEntries) entries_.pop_front();
}

void StoryLog::access(const Doing& doing, const EachShape& lanes) {
  const uint32_t cta = doing.place().id;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if ((lanes.lanes >> lane & 1) == 0) continue;
    const uint64_t begin = lanes.address[lane];
    if (!is_watched(doing.space, cta, begin, begin + lanes.bytes)) continue;
    return keep(doing, cta, Entry{0, {}, 0, lanes, {}, 0, 0});
  }
}

void StoryLog::access(const Doing& doing, std::span<const Range> ranges, CtaId owner) {
  for (const Range& range : ranges) {
    if (!is_watched(doing.space, owner.value, range.base, range.base + range.bytes)) continue;
    return keep(doing, owner.value, Entry{0, {}, 0, {}, {ranges.begin(), ranges.end()}, 0, 0});
  }
}

// Which lanes touched [begin, end); `issuer` stands for the ranges of a copy.
LaneMask StoryLog::touching(const Entry& entry, uint64_t begin, uint64_t end, LaneMask issuer) {
  LaneMask mask = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    const uint64_t at = entry.lanes.address[lane];
    mask |= static_cast<LaneMask>(at < end && begin < at + entry.lanes.bytes) << lane;
  }
  mask &= entry.lanes.lanes;
  for (const Range& range : entry.ranges) {
    if (range.base < end && begin < range.base + range.bytes) mask |= issuer;
  }
  return mask;
}

const StoryLog::Entry* StoryLog::entry_of(ObjectId id, const Race& race) const {
  for (auto at = entries_.rbegin(); at != entries_.rend(); ++at) {
    if (at->id == id && touching(*at, race.address, race.address + race.bytes, kAllLanes) != 0) {
      return &*at;
    }
  }
  return nullptr;
}

bool StoryLog::races(const Doing& doing, const Entry& entry, uint64_t begin, uint64_t end,
                     LaneMask later) const {
  const Object& now = doing.core.objects[doing.id];
  const Object& object = doing.core.objects[entry.id];
  const LaneMask lanes = touching(entry, begin, end, object.lanes);
  const bool same_place = entry.space == doing.space &&
                          (entry.space == Space::kGlobal || entry.cta == doing.place().id);
  if (lanes == 0 || !same_place || entry.id == doing.id) return false;
  if (!object.writes() && !now.writes()) return false;
  if (morally_strong(object, now)) return false;
  return !Pair(doing, object).ordered(View::kCausality, lanes, later);
}

// Earlier accesses to the racing bytes that nothing orders before the later one either.
void StoryLog::add_others(const Doing& doing, const Entry* told, Story& story) const {
  const uint64_t begin = story.race.address, end = begin + story.race.bytes;
  for (const Entry& entry : entries_) {
    if (&entry == told || !races(doing, entry, begin, end, story.race.later.lanes)) continue;
    const Object& object = doing.core.objects[entry.id];
    Party party = party_of(object, touching(entry, begin, end, object.lanes));
    party.execution = entry.execution;
    story.others.push_back(party);
    if (story.others.size() == kMostSteps) return;
  }
}

void StoryLog::look_for_other_warp(const Doing& doing, const Entry& now, Story& story) const {
  const Race& race = story.race;
  const uint64_t begin = race.address, end = begin + race.bytes;
  const bool in_warp = race.earlier.cta == race.later.cta && race.earlier.warp == race.later.warp;
  const bool own =
      race.later.cta.value == doing.warp.cta->id && race.later.warp.value == doing.warp.index;
  const LaneMask lanes = touching(now, begin, end, doing.lanes);
  if (story.other_warp || !in_warp || own || lanes == 0) return;
  for (const Entry& entry : entries_) {
    const Object& object = doing.core.objects[entry.id];
    const bool told = (object.op == race.earlier.op || object.op == race.later.op) &&
                      object.cta == race.later.cta.value && object.warp == race.later.warp.value;
    if (!told || !races(doing, entry, begin, end, lanes)) continue;
    story.other_warp = party_of(doing.core.objects[doing.id], lanes);
    return;
  }
}

void StoryLog::add_steps(size_t earlier_position, Story& story) const {
  const Party& earlier = story.race.earlier;
  const Party& later = story.race.later;
  const auto found = steps_.find(earlier.cta.value);
  if (earlier.cta != later.cta || found == steps_.end()) return;
  const std::vector<SyncStep>& steps = found->second;
  size_t acquired_from = 0;
  for (size_t i = earlier_position; i-- > 0;) {
    if (!leaves(steps[i].kind) || !takes_part(steps[i], earlier)) continue;
    const size_t other = partner(steps, i, later);
    if (other == steps.size()) continue;
    story.common = {common_kind(steps[i].kind), steps[i].object, steps[i].generation, steps[i].op,
                    steps[other].op};
    acquired_from = other + 1;
    break;
  }
  story.released_from = earlier_position;
  for (size_t i = acquired_from; i < steps.size() && story.acquired.size() < kMostSteps; ++i) {
    if (leaves(steps[i].kind) && takes_part(steps[i], later)) story.acquired.push_back(steps[i]);
  }
}

void StoryLog::finish(std::vector<Story>& stories) const {
  for (Story& story : stories) {
    if (!story.released_from) continue;
    const Party& earlier = story.race.earlier;
    const std::vector<SyncStep>& steps = steps_.at(earlier.cta.value);
    story.released.clear();
    for (size_t i = *story.released_from; i < steps.size() && story.released.size() < kMostSteps;
         ++i) {
      if (releases(steps[i].kind) && takes_part(steps[i], earlier))
        story.released.push_back(steps[i]);
    }
  }
}

void StoryLog::tell(const Doing& doing, ObjectId earlier, Race& race, std::vector<Story>& stories) {
  const uint32_t owner = race.owner.value;
  if (!is_watched(race.space, owner, race.address, race.address + race.bytes)) return;
  const bool known = std::any_of(stories.begin(), stories.end(), [&](const Story& story) {
    return story.race.earlier.op == race.earlier.op && story.race.later.op == race.later.op &&
           story.race.space == race.space && story.race.rule == race.rule;
  });
  if (known) return;
  Story story;
  const Entry* told = entry_of(earlier, race);
  if (told != nullptr) race.earlier.execution = told->execution;
  story.race = race;
  add_others(doing, told, story);
  if (told != nullptr) add_steps(told->position, story);
  stories.push_back(std::move(story));
}

}  // namespace lw::order
