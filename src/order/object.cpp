#include "order/object.h"

#include <algorithm>

#include "base/check.h"

namespace lw::order {
namespace {

constexpr size_t kEachSlots = 4096;
constexpr uint32_t kMostOrders = 1u << 25;  // so many fit a shape's code

size_t slot_of(const EachShape& each) {
  constexpr uint64_t kOdd = 0x9e3779b97f4a7c15u;
  // A product for each lane, none waiting for another.
  uint64_t hash = each.lanes * kOdd + each.bytes;
  for (uint64_t lane = 0; lane < kWarpSize; ++lane) hash += each.address[lane] * (kOdd + 2 * lane);
  return (hash ^ hash >> 32) * kOdd >> 52;
}

}  // namespace

LaneMask EachShape::lanes_over(uint64_t at) const {
  LaneMask mask = 0;
  for (int lane = 0; lane < kWarpSize; ++lane) {
    mask |= static_cast<LaneMask>(at - address[lane] < bytes) << lane;
  }
  return mask & lanes;
}

Objects::Objects() : objects_(kFirstObject), keys_(kFirstObject), each_index_(kEachSlots) {
  // What the host left is ordered before everybody, in every CTA.
  keys_[kInitial] = {0, kAllLanes, 0};
}

ObjectId Objects::add(uint64_t key) {
  ++live_;
  if (free_.empty()) {
    objects_.emplace_back();
    keys_.emplace_back().key = key;
    return static_cast<ObjectId>(objects_.size() - 1);
  }
  const ObjectId id = free_.back();
  free_.pop_back();
  objects_[id] = {};  // by `sweep`, its key is as new
  keys_[id].key = key;
  return id;
}

uint32_t Objects::add_each(const EachShape& each) {
  uint32_t& slot = each_index_[slot_of(each) % kEachSlots];
  if (slot != 0 && each_[slot - 1] == each) return slot - 1;
  uint32_t index = static_cast<uint32_t>(each_.size());
  if (free_each_.empty()) {
    each_.push_back(each);
  } else {
    index = free_each_.back();
    free_each_.pop_back();
    each_[index] = each;
  }
  LW_CHECK(index < 1u << 29, index);
  slot = index + 1;
  return index;
}

uint32_t Objects::add_order(const LaneOrder& place) {
  const auto [at, is_new] = order_index_.emplace(place, static_cast<uint32_t>(orders_.size()));
  if (!is_new) return at->second;
  Order& order = orders_.emplace_back(Order{place, {}});
  for (uint8_t lane = 0; lane < kWarpSize; ++lane) order.lane_at[place[lane]] = lane;
  LW_CHECK(at->second < kMostOrders, at->second);
  return at->second;
}

uint32_t Objects::add_lanes(LaneMask lanes) {
  return masks_.emplace(lanes, static_cast<uint32_t>(masks_.size())).first->second;
}

LaneMask Objects::lanes_at(const Object& object, uint64_t address) const {
  switch (object.shape) {
    case ShapeKind::kAffine:
      return 1u << ((static_cast<uint32_t>(address) - object.base) >> object.shift & 31);
    case ShapeKind::kEach:
      return each_[object.base].lanes_over(address);
    case ShapeKind::kOneLane:
    case ShapeKind::kLanes:
    case ShapeKind::kAnyLane:
    case ShapeKind::kAgent:
      return object.lanes;
    case ShapeKind::kPermuted:
      return 1u << orders_[object.base].lane_at[address >> object.shift & 31];
    case ShapeKind::kSet:
      break;
  }
  return 0;
}

ObjectId Objects::extend(ObjectId readers, ObjectId reader) {
  if (const ObjectId known = extended(readers, reader); known != 0) return known;
  // Of several CTAs: the last one. When its grid is over, all are; `ordered` then stays empty.
  const uint64_t cta = std::max(keys_[readers].key, keys_[reader].key) >> kKeyCtaShift;
  const ObjectId id = add(cta << kKeyCtaShift | shape_code(ShapeKind::kSet, 0) |
                          reader_bits(readers) | reader_bit(reader));
  Object& set = objects_[id];
  set.shape = ShapeKind::kSet;
  set.base = readers;
  set.lanes = reader;
  set.count = count_readers(readers) + 1;
  remember_extended(readers, reader, id);
  return id;
}

void Objects::mark(ObjectId id) {
  while (keys_[id].marked == 0) {
    keys_[id].marked = 1;
    if (!is_set(id)) return;
    mark(objects_[id].lanes);
    id = objects_[id].base;
  }
}

size_t Objects::bytes() const {
  return objects_.capacity() * sizeof(Object) + keys_.capacity() * sizeof(ObjectKey) +
         each_.capacity() * sizeof(EachShape) + free_.capacity() * sizeof(ObjectId) +
         each_index_.capacity() * sizeof(uint32_t);
}

void Objects::sweep() {
  std::vector<bool> each_used(each_.size());
  free_.clear();
  for (ObjectId id = kFirstObject; id < objects_.size(); ++id) {
    if (keys_[id].marked == 0) {
      free_.push_back(id);
      keys_[id] = {};
    } else if (objects_[id].shape == ShapeKind::kEach) {
      each_used[objects_[id].base] = true;
    }
    keys_[id].marked = 0;
  }
  live_ = objects_.size() - kFirstObject - free_.size();
  free_each_.clear();
  for (uint32_t i = 0; i < each_.size(); ++i) {
    if (!each_used[i]) free_each_.push_back(i);
  }
  // A slot may point at a freed shape: it must not be found again, its index gets a new owner.
  std::fill(each_index_.begin(), each_index_.end(), 0);
  extensions_.fill({});
}

}  // namespace lw::order
