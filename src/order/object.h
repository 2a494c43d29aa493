#pragma once
// Access objects: one immutable record for all that a warp instruction did, named by a 32-bit id,
// so that the shadow stores one number per 128 bytes and "checked already" is one comparison.
//
// An object says who (CTA, warp), when it is finished (the count of a component of CTA `home`), and
// by its shape which lane touched which byte. One is made per warp, release epoch, instruction and
// shape; shapes repeat modulo 32 strides, so a loop over a buffer uses one object. The only fields
// that change are those of the end of an asynchronous operation, which is unknown (kPending) until
// its milestone.
//
// Where is the shadow's business. But an object in the shared memory of another CTA of the cluster
// is in no other memory, and is keyed by the CTA that owns the memory, whose warps meet it most.
//
// `ordered` has a bit per warp of the CTA in the key: every lane of that warp knows the whole
// object in H. Clocks only grow, so a set bit stays true; that makes it an exact memo.
//
// Readers that went over the same cells, one after the other, are a set: an object too, made of the
// set (or object) before and one reader more. Warps that read a tile row by row pass through the
// same sets on every row, and each step is found again in a small table.

#include <array>
#include <cstdint>
#include <map>
#include <unordered_map>
#include <utility>
#include <vector>

#include "order/clock.h"
#include "order/facts.h"

namespace lw::order {

using ObjectId = uint32_t;

// Ids that are no object, for bytes without one.
inline constexpr ObjectId kInitial = 0;    // as the host left them
inline constexpr ObjectId kUnwritten = 1;  // nobody wrote them
inline constexpr ObjectId kRaced = 2;      // raced once: no longer checked
inline constexpr ObjectId kMixed = 3;      // of a block: see its cells
inline constexpr ObjectId kSplit = 4;      // of a block: see its four fine blocks
inline constexpr ObjectId kMbarrier = 5;   // a live mbarrier object lies there (MB-33)
inline constexpr ObjectId kFirstObject = 6;

inline constexpr uint32_t kPending = 0xffffffffu;  // a milestone that nobody can know yet

enum class ShapeKind : uint8_t {
  kAffine,    // lane = ((address - base) >> shift) & 31
  kOneLane,   // one lane touched all
  kLanes,     // every lane of `lanes` touched every byte
  kAnyLane,   // known when any lane of `lanes` is (W-5)
  kEach,      // per-lane addresses, kept aside
  kAgent,     // an asynchronous operation without lanes
  kSet,       // no access: readers that went over the same cells
  kPermuted,  // as kAffine, but lanes in an order of their own
};

// Of each lane its place in a row, or of each place its lane.
using LaneOrder = std::array<uint8_t, kWarpSize>;

// The lane function of an instruction and its identity in 32 bits.
struct Shape {
  ShapeKind kind = ShapeKind::kOneLane;
  uint8_t shift = 0;
  bool injective = true;  // no byte belongs to two lanes
  LaneMask lanes = kAllLanes;
  uint32_t base = 0;  // kAffine: start modulo 32 strides; kEach, kPermuted: index in Objects
  uint32_t code = 0;  // equal codes: equal lane functions
};

struct Object {
  OpId op;
  uint32_t cta = 0;
  uint32_t cluster = 0;  // its CTA's
  uint32_t home = 0;     // CTA of the component; its CTA's own, or that of the mbarrier signalled
  Component component = 0;
  uint32_t count = 0;  // of a set: how many readers
  LaneMask lanes = 0;  // of a set: the reader that it adds
  uint32_t base = 0;   // as in Shape; of a set: the set or object before
  uint16_t warp = 0;
  ShapeKind shape = ShapeKind::kOneLane;
  uint8_t shift = 0;
  Kind kind = Kind::kRead;
  Agent agent = Agent::kLanes;
  bool strong = false;
  bool async_proxy = false;
  Scope scope = Scope::kCta;
  uint8_t element_bytes = 0;

  bool writes() const { return kind != Kind::kRead; }
};

// What the fast path needs of an object.
struct ObjectKey {
  uint64_t key = ~uint64_t{0};  // CTA + 1 (27 bits), warp of the actor (5), shape code (32)
  uint32_t ordered = 0;
  uint32_t marked = 0;  // by the collector
};
static_assert(sizeof(ObjectKey) == 16);

inline constexpr int kKeyCtaShift = 37;

// Is the earlier object ordered before the whole warp, by what is remembered of it? `key` has the
// warp's CTA, and objects of the CTAs below `ordered_below` are ordered before it. In a CTA's own
// shared memory all keys have that CTA.
template <Space kSpace>
[[gnu::always_inline]] inline bool is_remembered_ordered(const ObjectKey& earlier, uint64_t key,
                                                         uint32_t warp_bit,
                                                         uint64_t ordered_below) {
  const uint64_t cta = earlier.key >> kKeyCtaShift;
  if (kSpace == Space::kShared || cta == key >> kKeyCtaShift)
    return (earlier.ordered & warp_bit) != 0;
  return cta < ordered_below;
}

// The static side of an access: what its instruction is.
struct Deed {
  OpId op;
  Kind kind = Kind::kRead;
  Agent agent = Agent::kLanes;
  bool strong = false;
  Scope scope = Scope::kCta;
  uint8_t element_bytes = 0;
};

constexpr uint32_t shape_code(ShapeKind kind, uint32_t payload) {
  return static_cast<uint32_t>(kind) << 29 | payload;
}

// Codes of kAgent: two that match no lanes' (warp.h), then those of what warps do in the shared
// memory of other CTAs, by actor and shape.
inline constexpr uint32_t kFirstForeignCode = 2;

// Addresses of an instruction whose lanes follow no simple law.
struct EachShape {
  std::array<uint64_t, kWarpSize> address{};
  LaneMask lanes = 0;
  uint32_t bytes = 0;

  // Which lanes go over the byte at `at`.
  LaneMask lanes_over(uint64_t at) const;
  friend bool operator==(const EachShape& a, const EachShape& b) {
    return a.lanes == b.lanes && a.bytes == b.bytes && a.address == b.address;
  }
};

class Objects {
 public:
  Objects();

  const ObjectKey& key(ObjectId id) const { return keys_[id]; }
  ObjectKey& key(ObjectId id) { return keys_[id]; }
  const Object& operator[](ObjectId id) const { return objects_[id]; }
  Object& operator[](ObjectId id) { return objects_[id]; }

  // A new object, for the caller to describe.
  ObjectId add(uint64_t key);
  // The index of an equal shape that is kept, or of this one, kept from now on.
  uint32_t add_each(const EachShape& each);
  const EachShape& each(uint32_t index) const { return each_[index]; }
  // The index of a mask of lanes, for shapes that need one in their code.
  uint32_t add_lanes(LaneMask lanes);
  // The same of an order of lanes, by each lane's place.
  uint32_t add_order(const LaneOrder& place);
  const LaneOrder& order(uint32_t index) const { return orders_[index].place; }
  // The code by which lanes of `cta` with a shape of this code are keyed in another CTA's memory.
  uint32_t foreign_code(uint32_t cta, uint32_t code) {
    const auto next = static_cast<uint32_t>(foreign_codes_.size()) + kFirstForeignCode;
    return shape_code(ShapeKind::kAgent,
                      foreign_codes_.try_emplace({cta, code}, next).first->second);
  }
  // Which lanes touched the byte at `address`.
  LaneMask lanes_at(const Object& object, uint64_t address) const;

  bool is_set(ObjectId id) const {
    return id >= kFirstObject &&
           (keys_[id].key >> 29 & 7) == static_cast<uint64_t>(ShapeKind::kSet);
  }
  uint32_t count_readers(ObjectId readers) const {
    return is_set(readers) ? objects_[readers].count : 1;
  }
  // False: `reader` is surely none of the readers of this set. Its key has a bit for each of them.
  bool may_hold(ObjectId set, ObjectId reader) const {
    return (keys_[set].key & reader_bit(reader)) != 0;
  }
  // A set of `readers` and one more.
  ObjectId extend(ObjectId readers, ObjectId reader);
  // What was said lately to stand for `readers` and one more, else 0.
  void remember_extended(ObjectId readers, ObjectId reader, ObjectId both) {
    extensions_[extension_slot(readers, reader)] = {readers, reader, both};
  }
  ObjectId extended(ObjectId readers, ObjectId reader) const {
    const Extension& known = extensions_[extension_slot(readers, reader)];
    return known.readers == readers && known.reader == reader ? known.set : 0;
  }
  // Calls `visit(id)` for each reader, the last one first; ends when it says false.
  template <class Visit>
  bool each_reader(ObjectId readers, Visit visit) const {
    for (; is_set(readers); readers = objects_[readers].base) {
      if (!visit(ObjectId{objects_[readers].lanes})) return false;
    }
    return visit(readers);
  }

  size_t live() const { return live_; }
  size_t bytes() const;
  void mark(ObjectId id);
  void sweep();  // frees what is not marked, and unmarks the rest

 private:
  struct Extension {
    ObjectId readers = 0;
    ObjectId reader = 0;
    ObjectId set = 0;
  };
  static constexpr int kPayloadBits = 29;  // of a shape's code
  static uint64_t reader_bit(ObjectId reader) { return uint64_t{1} << reader % kPayloadBits; }
  uint64_t reader_bits(ObjectId readers) const {
    return is_set(readers) ? keys_[readers].key & ((1u << kPayloadBits) - 1) : reader_bit(readers);
  }
  static constexpr size_t kExtensions = 1024;
  static size_t extension_slot(ObjectId readers, ObjectId reader) {
    return (readers * 0x9e3779b1u ^ reader * 0x85ebca6bu) >> 22;
  }

  std::array<Extension, kExtensions> extensions_{};
  size_t live_ = 0;
  std::vector<Object> objects_;
  std::vector<ObjectKey> keys_;
  std::vector<ObjectId> free_;
  std::vector<EachShape> each_;
  std::vector<uint32_t> free_each_;
  std::vector<uint32_t> each_index_;  // hash of the addresses to an index + 1, newest wins
  std::unordered_map<LaneMask, uint32_t> masks_;
  struct Order {
    LaneOrder place;
    LaneOrder lane_at;
  };
  std::vector<Order> orders_;
  std::map<LaneOrder, uint32_t> order_index_;
  std::map<std::pair<uint32_t, uint32_t>, uint32_t> foreign_codes_;  // by CTA and code
};

}  // namespace lw::order
