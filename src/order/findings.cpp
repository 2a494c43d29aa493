#include "order/findings.h"

#include <algorithm>
#include <limits>

namespace lw::order {
namespace {

// Keeps the list of racing addresses short: beyond this many pieces the last one grows.
constexpr size_t kMaxIntervals = 64;

void add_interval(std::vector<Interval>& list, uint64_t begin, uint64_t end,
                  size_t most = kMaxIntervals) {
  auto at = std::lower_bound(list.begin(), list.end(), begin,
                             [](const Interval& one, uint64_t value) { return one.end < value; });
  if (at == list.end() || at->begin > end) {
    if (list.size() == most) {
      list.back().begin = std::min(list.back().begin, begin);
      list.back().end = std::max(list.back().end, end);
      return;
    }
    at = list.insert(at, {begin, end});
  }
  at->begin = std::min(at->begin, begin);
  at->end = std::max(at->end, end);
  auto next = at + 1;
  while (next != list.end() && next->begin <= at->end) {
    at->end = std::max(at->end, next->end);
    next = list.erase(next);
  }
}

void take_interval(std::vector<Interval>& list, uint64_t begin, uint64_t end) {
  std::vector<Interval> left;
  for (const Interval& one : list) {
    if (one.begin < std::min(one.end, begin)) left.push_back({one.begin, std::min(one.end, begin)});
    if (std::max(one.begin, end) < one.end) left.push_back({std::max(one.begin, end), one.end});
  }
  list = std::move(left);
}

// The entry of `key`, and whether it is new.
template <class Key, class Entry>
Entry& entry_of(std::map<Key, size_t>& index, std::vector<Entry>& entries, const Key& key,
                const Entry& fresh) {
  const auto [at, is_new] = index.try_emplace(key, entries.size());
  if (is_new) entries.push_back(fresh);
  return entries[at->second];
}

}  // namespace

void Findings::race(const Race& race, uint64_t serial) {
  RaceGroup fresh;
  fresh.first = race;
  facts_.names_instructions = true;
  RaceGroup& group = entry_of(race_index_, facts_.races, key_of(race), fresh);
  const bool one_memory = race.space == Space::kGlobal;
  group.bytes.add(one_memory ? 0 : race.later.cta.value, race.address, race.address + race.bytes);
  if (race.later.agent == Agent::kTensorFree && !race.implied) {
    add_interval(unread_[unread_key(race.earlier.op, race.later.op, race.later.cta)], race.address,
                 race.address + race.bytes, std::numeric_limits<size_t>::max());
  }
  race_serial_.resize(facts_.races.size());
  uint64_t& last = race_serial_[static_cast<size_t>(&group - facts_.races.data())];
  if (last != serial) ++group.instances;
  last = serial;
  group.ctas.insert(race.later.cta.value);
  group.earlier_warps.insert(race.earlier.warp.value);
  group.later_warps.insert(race.later.warp.value);
  add_interval(group.addresses, race.address, race.address + race.bytes);
}

void Findings::brought(OpId write, OpId free, CtaId cta, uint64_t begin, uint64_t end) {
  const auto at = unread_.find(unread_key(write, free, cta));
  if (at != unread_.end()) take_interval(at->second, begin, end);
}

// Every cell of the group had a load that brings the write.
bool Findings::is_implied(const RaceGroup& group) const {
  const Race& race = group.first;
  if (race.later.agent != Agent::kTensorFree || race.earlier.kind == Kind::kRead) return false;
  return std::ranges::all_of(group.ctas, [&](uint32_t cta) {
    const auto at = unread_.find(unread_key(race.earlier.op, race.later.op, CtaId{cta}));
    return at == unread_.end() || at->second.empty();
  });
}

void Findings::unforced(const Unforced& fact) {
  const PlaceKey key{fact.rule, fact.object + (fact.named_barrier ? 1u << 31 : 0),
                     fact.first.op.value, fact.second.op.value};
  Unforced& entry = entry_of(unforced_index_, facts_.unforced, key, fact);
  entry.since = std::min(entry.since, fact.since);
  entry.awaited &= fact.awaited;
  ++entry.count;
}

void Findings::error(const PlainError& fact) {
  facts_.names_instructions = true;
  ++entry_of(error_index_, facts_.errors, {fact.rule, fact.party.op.value}, fact).count;
}

void Findings::unwritten(const Unwritten& fact) {
  facts_.names_instructions = true;
  Unwritten fresh = fact;
  fresh.count = 0;
  entry_of(unwritten_index_, facts_.unwritten, fact.party.op.value, fresh).count += fact.count;
}

void Findings::not_modelled(OpId op, RuleId rule) {
  ++entry_of(not_modelled_index_, facts_.not_modelled, {rule, op.value}, NotModelled{op, rule, 0})
        .count;
}

void Findings::settle() {
  uint64_t since = std::numeric_limits<uint64_t>::max();
  for (const Unforced& fact : facts_.unforced) since = std::min(since, fact.since);
  for (RaceGroup& group : facts_.races) {
    group.first.after_unforced = group.first.serial >= since;
    group.first.implied = is_implied(group);
  }
  const bool raced = std::any_of(facts_.races.begin(), facts_.races.end(),
                                 [](const auto& group) { return group.first.tier != Tier::kNote; });
  for (PlainError& error : facts_.errors) error.in_all_schedules &= !raced && error.serial < since;
}

}  // namespace lw::order
