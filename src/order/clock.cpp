#include "order/clock.h"

#include <algorithm>

namespace lw::order {

LaneMask lanes_at_least(const LaneCounts& counts, uint32_t count) {
  LaneMask mask = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    mask |= static_cast<LaneMask>(counts[lane] >= count) << lane;
  }
  return mask;
}

ClockRef::ClockRef(Clock* clock) : clock_(clock) {
  if (clock_ != nullptr) ++clock_->references_;
}

ClockRef::ClockRef(const ClockRef& other) : ClockRef(other.clock_) {}

ClockRef::~ClockRef() {
  if (clock_ != nullptr && --clock_->references_ == 0) delete clock_;
}

LaneMask Clock::ragged_at_least(Component component, uint32_t count) const {
  for (const Ragged& entry : ragged_) {
    if (entry.component == component) return order::lanes_at_least(entry.lanes, count);
  }
  return 0;
}

uint32_t Clock::lane(Component component, int lane) const {
  for (const Ragged& entry : ragged_) {
    if (entry.component == component) return entry.lanes[lane];
  }
  return all_lanes(component);
}

const Clock* Clock::foreign(uint32_t cta) const {
  const auto at =
      std::lower_bound(foreign_.begin(), foreign_.end(), cta,
                       [](const Foreign& entry, uint32_t id) { return entry.cta < id; });
  return at != foreign_.end() && at->cta == cta ? at->clock.get() : nullptr;
}

size_t Clock::bytes() const {
  return sizeof(Clock) + counts_.capacity() * sizeof(uint32_t) +
         ragged_.capacity() * sizeof(Ragged) + foreign_.capacity() * sizeof(Foreign);
}

ClockBuilder::ClockBuilder(ClockRef base) : base_(std::move(base)) {}

void ClockBuilder::own() {
  if (next_) return;
  next_ = std::make_unique<Clock>();
  if (!base_) return;
  next_->counts_ = base_->counts_;
  next_->ragged_ = base_->ragged_;
  next_->foreign_ = base_->foreign_;
}

void ClockBuilder::raise(Component component, uint32_t count) {
  const Clock* now = next_ ? next_.get() : base_.get();
  if (count == 0 || (now != nullptr && now->all_lanes(component) >= count)) return;
  own();
  if (component >= next_->counts_.size()) next_->counts_.resize(component + 1);
  next_->counts_[component] = count;
  for (Clock::Ragged& entry : next_->ragged_) {
    if (entry.component != component) continue;
    for (uint32_t& lane : entry.lanes) lane = std::max(lane, count);
    settle(component);
    break;
  }
}

void ClockBuilder::raise_lanes(Component component, const LaneCounts& counts) {
  own();
  Clock::Ragged& entry = ragged(component);
  for (int lane = 0; lane < kWarpSize; ++lane) {
    entry.lanes[lane] = std::max(entry.lanes[lane], counts[lane]);
  }
  settle(component);
}

Clock::Ragged& ClockBuilder::ragged(Component component) {
  auto at = std::lower_bound(
      next_->ragged_.begin(), next_->ragged_.end(), component,
      [](const Clock::Ragged& entry, Component wanted) { return entry.component < wanted; });
  if (at == next_->ragged_.end() || at->component != component) {
    Clock::Ragged entry{component, {}};
    entry.lanes.fill(next_->all_lanes(component));
    at = next_->ragged_.insert(at, entry);
  }
  return *at;
}

// Restores the invariant: the count is the least of the lanes, and an exception has unequal lanes.
void ClockBuilder::settle(Component component) {
  Clock::Ragged& entry = ragged(component);
  const auto [least, most] = std::minmax_element(entry.lanes.begin(), entry.lanes.end());
  if (component >= next_->counts_.size()) next_->counts_.resize(component + 1);
  next_->counts_[component] = *least;
  if (*least == *most) next_->ragged_.erase(next_->ragged_.begin() + (&entry - &next_->ragged_[0]));
}

void ClockBuilder::join(const Clock* other) {
  const Clock* now = next_ ? next_.get() : base_.get();
  if (other == nullptr || covers(now, other)) return;
  own();
  // Exceptions first: they need the counts as they were.
  const std::vector<Clock::Ragged> mine = next_->ragged_;
  for (const Clock::Ragged& entry : other->ragged_) raise_lanes(entry.component, entry.lanes);
  for (const Clock::Ragged& entry : mine) raise(entry.component, other->all_lanes(entry.component));
  std::vector<uint32_t>& counts = next_->counts_;
  if (counts.size() < other->counts_.size()) counts.resize(other->counts_.size());
  // A ragged component of ours is settled above; the maximum below leaves it as it is, because the
  // least of its lanes is at least what the other knows of all lanes.
  for (size_t i = 0; i < other->counts_.size(); ++i) {
    counts[i] = std::max(counts[i], other->counts_[i]);
  }
  for (const Clock::Foreign& entry : other->foreign_) join_foreign(entry.cta, entry.clock);
}

void ClockBuilder::join_foreign(uint32_t cta, const ClockRef& clock) {
  const Clock* now = next_ ? next_.get() : base_.get();
  if (now != nullptr && covers(now->foreign(cta), clock.get())) return;
  own();
  auto at = std::lower_bound(
      next_->foreign_.begin(), next_->foreign_.end(), cta,
      [](const Clock::Foreign& entry, uint32_t wanted) { return entry.cta < wanted; });
  if (at == next_->foreign_.end() || at->cta != cta) {
    next_->foreign_.insert(at, Clock::Foreign{cta, clock});
  } else {
    at->clock = order::join(at->clock, clock);
  }
}

void ClockBuilder::join_from(uint32_t from, const ClockRef& home, uint32_t to) {
  if (!home) return;
  if (from == to) return join(home.get());
  ClockBuilder bare({});
  bare.own();
  bare.next_->counts_ = home->counts_;
  bare.next_->ragged_ = home->ragged_;
  join_foreign(from, bare.finish());
  for (const Clock::Foreign& entry : home->foreign_) {
    if (entry.cta == to) {
      join(entry.clock.get());
    } else {
      join_foreign(entry.cta, entry.clock);
    }
  }
}

void ClockBuilder::join_neutral(const Clock* neutral, uint32_t to) {
  if (neutral == nullptr) return;
  for (const Clock::Foreign& entry : neutral->foreign_) {
    if (entry.cta == to) {
      join(entry.clock.get());
    } else {
      join_foreign(entry.cta, entry.clock);
    }
  }
}

ClockRef ClockBuilder::finish() {
  if (!next_) return std::move(base_);
  return ClockRef(next_.release());
}

bool covers(const Clock* big, const Clock* small) {
  if (small == nullptr || big == small) return true;
  if (big == nullptr) return false;
  const size_t size = small->counts().size();
  const size_t common = std::min(size, big->counts().size());
  uint32_t behind = 0;
  for (size_t i = 0; i < common; ++i) behind |= big->counts()[i] < small->counts()[i];
  for (size_t i = common; i < size; ++i) behind |= small->counts()[i] != 0;
  if (behind != 0) return false;
  for (const Clock::Ragged& entry : small->ragged()) {
    for (int lane = 0; lane < kWarpSize; ++lane) {
      if (big->lane(entry.component, lane) < entry.lanes[lane]) return false;
    }
  }
  return std::all_of(small->foreigns().begin(), small->foreigns().end(), [&](const auto& entry) {
    return covers(big->foreign(entry.cta), entry.clock.get());
  });
}

ClockRef join(const ClockRef& a, const ClockRef& b) {
  if (covers(a.get(), b.get())) return a;
  if (covers(b.get(), a.get())) return b;
  ClockBuilder builder(a);
  builder.join(b.get());
  return builder.finish();
}

}  // namespace lw::order
