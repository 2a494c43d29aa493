// The accesses of the naive engine: every pair on every byte.

#include <algorithm>

#include "reference.h"

namespace lw::reference_order {
bool Reference::conflict(const Record& x, const Record& y) const {
  if (x.instruction == y.instruction) return false;
  if (!x.writes && !y.writes) return false;
  const bool morally_strong = x.strong && y.strong && x.async_proxy == y.async_proxy &&
                              x.element_bytes == y.element_bytes &&
                              includes(x.scope, x.lane, y.lane) &&
                              includes(y.scope, x.lane, y.lane);
  return !morally_strong;
}

bool Reference::grid_over(int earlier, int lane) {
  return over_[state(lane).grid].contains(state(earlier).grid);
}

bool Reference::knows(int view, int lane, const Record& x) {
  const Knowledge& knowledge = state(lane).views[view];
  if (knows_grid_end(view, lane, x.lane)) return true;
  if (x.async) return knowledge.knows_milestone(x.milestone);
  const bool own_counts = view == kH || view == kE || view == kC;
  const auto known = [&](int who, uint32_t event) {
    return (own_counts && who == lane) || knowledge.knows_lane(who, event);
  };
  if (x.receivers.empty()) return known(x.lane, x.event);
  return std::any_of(x.receivers.begin(), x.receivers.end(),
                     [&](const auto& receiver) { return known(receiver.first, receiver.second); });
}

// The write's thread went through a fence that the reader has heard of, and of some thread of that
// CTA the last fence that it has heard of was acquired.
bool Reference::is_classic_last_block(const Record& x, int lane) {
  const auto knows_fence = [&](int view, int who, uint32_t event) {
    return state(lane).views[view].knows_lane(who, event);
  };
  if (cta_of(x.lane) == cta_of(lane) || !x.writes || x.reads || x.async) return false;
  const auto& own = state(x.lane).wide_fences;
  const bool fenced = std::any_of(own.begin(), own.end(), [&](uint32_t event) {
    return event > x.event && knows_fence(kC, x.lane, event);
  });
  if (!fenced) return false;
  for (int who = static_cast<int>(cta_of(x.lane)) * kLanesPerCta, end = who + kLanesPerCta;
       who < end; ++who) {
    const auto& fences = state(who).wide_fences;
    const auto last = std::find_if(fences.rbegin(), fences.rend(),
                                   [&](uint32_t event) { return knows_fence(kC, who, event); });
    if (last != fences.rend() && knows_fence(kH, who, *last)) return true;
  }
  return false;
}

// Some lane's strong read observed the write and comes before what the lane does.
bool Reference::is_observed(ByteKey byte, const Record& x, int lane) {
  if (!x.strong || !x.writes || x.async_proxy) return false;
  byte.address -= byte.address % x.element_bytes;
  return std::ranges::any_of(sightings_[byte], [&](const Sighting& one) {
    return one.writer == x.lane && one.instruction == x.instruction &&
           cta_of(one.reader) == cta_of(lane) &&
           (one.reader == lane || state(lane).views[kH].knows_lane(one.reader, one.event));
  });
}

std::pair<int, int> Reference::judge(const ByteKey& byte, const Record& x, const Record& y) {
  if (grid_over(x.lane, y.lane)) return {kOrdered, 0};
  if (byte.cta >= kTensorOwner) return judge_tensor(x, y);
  const std::vector<int> lanes = y.together.empty() ? std::vector<int>{y.lane} : y.together;
  const auto known = [&](int view) {
    return std::ranges::all_of(lanes, [&](int lane) { return knows(view, lane, x); });
  };
  if (known(kH)) {
    if (!y.async_proxy || x.async_proxy) return {kOrdered, 0};
    if (known(byte.global ? kAGlobal : kAShared)) return {kOrdered, 0};
    const int path = static_cast<int>(Path::kNoProxyFence);
    if (x.cp_async) return {path, 1};
    const bool word = x.agent == Agent::kTensorAlloc && y.writes;
    return {path, (!x.writes || word) && known(kCrossing) ? 1 : 2};
  }
  if (!y.async_proxy &&
      std::ranges::all_of(lanes, [&](int lane) { return is_observed(byte, x, lane); }))
    return {kOrdered, 0};
  if (known(kE)) return {static_cast<int>(Path::kExecution), x.writes ? 2 : 1};
  if (known(kC)) {
    const bool classic =
        std::ranges::all_of(lanes, [&](int lane) { return is_classic_last_block(x, lane); });
    return {static_cast<int>(Path::kControl), classic ? 0 : 2};
  }
  return {static_cast<int>(Path::kNone), 2};
}

// The least ordered pair of those with the worst tier.
std::pair<int, int> Reference::judge_byte(const ByteKey& key, const std::vector<Record>& now) {
  std::pair<int, int> worst{kOrdered, 0};
  for (const Record& x : bytes_[key].records) {
    for (const Record& y : now) {
      if (!conflict(x, y) || follows_a_reader(key, x, y)) continue;
      const auto [path, tier] = judge(key, x, y);
      if (tier > worst.second || (tier == worst.second && path < worst.first)) worst = {path, tier};
    }
  }
  return worst;
}

std::map<ByteKey, std::vector<Record>> Reference::by_byte(
    const std::vector<Touched>& touched) const {
  std::map<ByteKey, std::vector<Record>> result;
  for (const Touched& one : touched) result[one.byte].push_back(one.record);
  return result;
}

DryRun Reference::try_access(const std::vector<Touched>& touched) {
  DryRun dry{false, true};
  for (const auto& [key, now] : by_byte(touched)) {
    if (bytes_[key].dead || judge_byte(key, now).second != 2) continue;
    dry.races = true;
    dry.narrowly &= last_is_ordered(key, now);
  }
  dry.narrowly &= dry.races;
  return dry;
}

// Of the earlier accesses to the byte that conflict, is the last one ordered before these?
bool Reference::last_is_ordered(const ByteKey& key, const std::vector<Record>& now) {
  const std::vector<Record>& records = bytes_[key].records;
  for (size_t i = records.size(); i-- > 0;) {
    const Record& x = records[i];
    const auto meets = [&](const Record& y) { return conflict(x, y); };
    if (std::none_of(now.begin(), now.end(), meets)) continue;
    return std::all_of(now.begin(), now.end(), [&](const Record& y) {
      return !conflict(x, y) || judge(key, x, y).second != 2;
    });
  }
  return false;
}

// A strong write retires only what every later access would see as it sees the write itself.
bool Reference::retires(const Record& y, const Record& x, const std::vector<Record>& now) {
  if (!y.strong) return true;
  const bool same = x.strong && cta_of(x.lane) == cta_of(y.lane) && x.scope >= y.scope &&
                    x.element_bytes == y.element_bytes && x.async_proxy == y.async_proxy;
  return same && std::all_of(now.begin(), now.end(),
                             [&](const Record& one) { return knows(kH, one.lane, x); });
}

void Reference::access(const std::vector<Touched>& touched) {
  for (const auto& [key, now] : by_byte(touched)) {
    Byte& byte = bytes_[key];
    if (byte.dead) continue;
    const bool reads = std::any_of(now.begin(), now.end(), [](const Record& r) { return r.reads; });
    const bool writes =
        std::any_of(now.begin(), now.end(), [](const Record& r) { return r.writes; });
    if (reads && !byte.written && !key.global)
      unwritten_bytes_ += key.cta >= kTensorOwner ? TensorCell::kBytes : 1;
    const auto [path, tier] = judge_byte(key, now);
    const ByteRace race{instruction_, key.global, key.cta, key.address, path};
    if (tier == 1 && strict_) strict_found_.insert(race);
    if (tier == 2) {
      races_.insert(race);
      byte.dead = true;
      continue;
    }
    if (writes) {
      byte.written = true;
      byte.last_write_weak = !now.front().strong;
      std::erase_if(byte.records, [&](const Record& x) { return retires(now.front(), x, now); });
    }
    byte.records.insert(byte.records.end(), now.begin(), now.end());
  }
}

}  // namespace lw::reference_order
