#include "order/warp.h"

#include <algorithm>

#include "order/strong.h"
#include "order/tensor.h"

namespace lw::order {

uint64_t place_key(const Warp& warp, const Cta* peer) {
  if (peer == nullptr) return warp.key;
  return uint64_t{peer->id + 1} << kKeyCtaShift | uint64_t{warp.index} << 32;
}

uint64_t async_object_key(const Warp& warp, const Cta* peer) {
  return place_key(warp, peer) | shape_code(ShapeKind::kAgent, 0);
}

uint64_t async_doing_key(const Warp& warp, const Cta* peer) {
  return place_key(warp, peer) | shape_code(ShapeKind::kAgent, 1);
}

LaneMask Met::at_least(uint32_t count) const {
  if (ragged_) return lanes_at_least(lane_, count);
  return all_ >= count ? kAllLanes : 0;
}

uint32_t Met::least() const {
  return ragged_ ? *std::min_element(lane_.begin(), lane_.end()) : all_;
}

void Met::raise_all(uint32_t count) {
  if (!ragged_) {
    all_ = std::max(all_, count);
    return;
  }
  bool equal = true;
  for (uint32_t& lane : lane_) {
    lane = std::max(lane, count);
    equal &= lane == lane_[0];
  }
  if (equal) {
    ragged_ = false;
    all_ = lane_[0];
  }
}

void Met::raise(int lane, uint32_t count) {
  if (of(lane) >= count) return;
  if (!ragged_) {
    ragged_ = true;
    lane_.fill(all_);
  }
  lane_[lane] = count;
}

void Met::join(const Met& other) {
  if (!other.ragged_) return raise_all(other.all_);
  for (int lane = 0; lane < kWarpSize; ++lane) raise(lane, other.lane_[lane]);
}

bool operator==(const Met& a, const Met& b) {
  for (int lane = 0; lane < kWarpSize; ++lane) {
    if (a.of(lane) != b.of(lane)) return false;
  }
  return true;
}

bool LaneGroup::knows_the_same(const LaneGroup& other) const {
  return bundle == other.bundle && fenced == other.fenced && met == other.met;
}

uint32_t AsyncGroups::complete(int lane, uint32_t left) const {
  for (size_t i = commits.size(); i-- > 0;) {
    if ((commits[i].lanes >> lane & 1) == 0) continue;
    if (left-- == 0) return commits[i].number;
  }
  return 0;
}

void AsyncGroups::commit(LaneMask lanes) { commits.push_back({lanes, next++}); }

// A lane that asks for its newest n groups never needs those older than the last it waited for.
void AsyncGroups::forget(const LaneCounts& done) {
  size_t old = 0;
  for (; old < commits.size(); ++old) {
    LaneMask waited = lanes_at_least(done, commits[old].number);
    if ((commits[old].lanes & ~waited) != 0) break;
  }
  commits.erase(commits.begin(), commits.begin() + static_cast<ptrdiff_t>(old));
}

Standing Standing::snapshot() const {
  Standing copy;
  copy.cta = cta;
  copy.index = index;
  copy.exists = exists;
  copy.since_access = since_access;
  copy.since_control = since_control;
  copy.met_access = met_access;
  copy.met_control = met_control;
  copy.groups = groups;
  if (async) copy.async = std::make_unique<WarpAsync>(*async);
  return copy;
}

Warp::Warp() = default;
Warp::~Warp() = default;

void Warp::split(LaneMask lanes) {
  const size_t before = groups.size();
  for (size_t i = 0; i < before; ++i) {
    const LaneMask inside = groups[i].lanes & lanes;
    if (inside == 0 || inside == groups[i].lanes) continue;
    LaneGroup part = groups[i];
    part.lanes = inside;
    groups[i].lanes &= ~lanes;
    groups.push_back(std::move(part));
  }
}

void Warp::coalesce() {
  for (size_t i = 0; i + 1 < groups.size(); ++i) {
    for (size_t j = i + 1; j < groups.size();) {
      if (groups[i].knows_the_same(groups[j])) {
        groups[i].lanes |= groups[j].lanes;
        groups.erase(groups.begin() + static_cast<ptrdiff_t>(j));
      } else {
        ++j;
      }
    }
  }
}

void Warp::exit(LaneMask lanes) {
  live &= ~lanes;
  for (LaneGroup& group : groups) group.lanes &= ~lanes;
  std::erase_if(groups, [](const LaneGroup& group) { return group.lanes == 0; });
}

}  // namespace lw::order
