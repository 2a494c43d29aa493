#include "order/observed.h"

#include <algorithm>

#include "order/check.h"

namespace lw::order {
namespace {

constexpr size_t kMostVisitors = 4096;  // of one word; of others nothing is known
constexpr size_t kMostReads = 64;       // of one visitor

template <class Map, class Value>
void keep(Map& map, const typename Map::key_type& key, Value value) {
  if (map.size() < kMostVisitors || map.contains(key)) map.insert_or_assign(key, value);
}

// Of lanes that read together each has observed what all have.
bool comes_after(const Warp& warp, LaneMask lane, const ControlEvent& read) {
  if (warp.index == read.warp && (lane & read.lanes) != 0) return true;
  for (LaneMask rest = read.lanes; rest != 0; rest &= rest - 1) {
    ControlEvent one = read;
    one.lanes = rest & -rest;
    if (knows_event(warp, lane, one, View::kCausality)) return true;
  }
  return false;
}

}  // namespace

void Observations::read(const Visit& visit) {
  if (version_ < since_ || (reads_.size() == kMostVisitors && !reads_.contains(who(visit)))) return;
  std::vector<Read>& reads = reads_[who(visit)];
  const auto same = [&](const Read& one) {
    return one.first == since_ && one.last == version_ && one.visit.scope >= visit.scope;
  };
  if (std::ranges::any_of(reads, same)) return;  // of two the first is known to more
  if (reads.size() == kMostReads) reads.erase(reads.begin());
  reads.push_back({visit, since_, version_});
}

void Observations::write(const Visit& visit, bool atomic) {
  ++version_;
  if (!atomic) since_ = version_;
  // Of lanes that store to one word together only one is observed.
  const bool one = (visit.event.lanes & (visit.event.lanes - 1)) == 0;
  if (atomic || one) keep(writes_, who(visit), Write{visit, version_});
}

bool Observations::ordered(const Doing& doing, const Object& earlier, LaneMask x,
                           LaneMask lane) const {
  const uint32_t cta = doing.warp.cta->id;
  const auto observed = [&](const Write& write, const Read& read) {
    const auto& [visit, first, last] = read;
    const bool reach = visit.cta == write.visit.cta ||
                       (reaches_other_ctas(visit.scope) && reaches_other_ctas(write.visit.scope));
    return visit.cta == cta && first <= write.version && write.version <= last &&
           visit.bytes == write.visit.bytes && reach && comes_after(doing.warp, lane, visit.event);
  };
  const auto observed_by_any = [&](const Write& write) {
    return std::ranges::any_of(reads_, [&](const auto& visitor) {
      return std::ranges::any_of(visitor.second,
                                 [&](const Read& read) { return observed(write, read); });
    });
  };
  for (auto at = writes_.lower_bound({earlier.cta, earlier.warp, 0, 0});
       at != writes_.end() && at->second.visit.cta == earlier.cta &&
       at->second.visit.event.warp == earlier.warp;
       ++at) {
    const Write& write = at->second;
    if ((x & ~write.visit.event.lanes) == 0 && write.visit.event.count >= earlier.count &&
        observed_by_any(write))
      return true;
  }
  return false;
}

bool is_observed(const Doing& doing, const Object& earlier, uint64_t address, LaneMask x,
                 LaneMask y) {
  if (!earlier.strong || !earlier.writes() || earlier.async_proxy) return false;
  const uint64_t start = address & ~uint64_t{earlier.element_bytes - 1u};
  const uint32_t owner = doing.peer == nullptr ? doing.warp.cta->id : doing.peer->id;
  const auto word = doing.core.words.find(Core::word_key(doing.space, owner, start));
  if (word == doing.core.words.end()) return false;
  for (LaneMask rest = y; rest != 0; rest &= rest - 1)
    if (!word->second.observations.ordered(doing, earlier, x, rest & -rest)) return false;
  return true;
}

}  // namespace lw::order
