#pragma once
// What an agent knows of the others: for every component of a CTA the count up to which it is
// known.
//
// A component is anything that can be waited for and counts upwards: a warp's release epochs, its
// cp.async groups, its bulk groups (reads, writes), the phases of an mbarrier, the generations of a
// named barrier. An access carries (component, count); "before" is one comparison.
//
// Clocks never change once made and are shared: a barrier of 1,024 threads makes one, and whoever
// learns nothing new keeps the pointer it has. Lanes of one warp are nearly always known to the
// same count; where they are not, the component is kept lane by lane as an exception ("ragged").
//
// Other CTAs are a sorted list of (CTA, its clock) beside the counts: only strong accesses across
// CTAs (PTX ISA 8.8) and what the CTAs of a cluster signal each other ever fill it. Tested in
// clock_test.cpp and against tests/reference_order.

#include <array>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "order/event.h"

namespace lw::order {

using Component = uint32_t;                      // index inside its CTA
inline constexpr uint32_t kNoCta = 0xffffffffu;  // of a clock that belongs to no CTA
using LaneCounts = std::array<uint32_t, kWarpSize>;

// Which lanes have a count of at least `count`.
LaneMask lanes_at_least(const LaneCounts& counts, uint32_t count);

class Clock;

// A counted reference; null means "knows nothing".
class ClockRef {
 public:
  ClockRef() = default;
  explicit ClockRef(Clock* clock);
  ClockRef(const ClockRef& other);
  ClockRef(ClockRef&& other) noexcept : clock_(std::exchange(other.clock_, nullptr)) {}
  ClockRef& operator=(ClockRef other) noexcept {
    std::swap(clock_, other.clock_);
    return *this;
  }
  ~ClockRef();

  const Clock* get() const { return clock_; }
  const Clock* operator->() const { return clock_; }
  explicit operator bool() const { return clock_ != nullptr; }
  friend bool operator==(const ClockRef& a, const ClockRef& b) { return a.clock_ == b.clock_; }

 private:
  Clock* clock_ = nullptr;
};

class Clock {
 public:
  struct Ragged {
    Component component;
    LaneCounts lanes;
  };
  struct Foreign {
    uint32_t cta;
    ClockRef clock;
  };

  // Known of every lane of the component.
  uint32_t all_lanes(Component component) const {
    return component < counts_.size() ? counts_[component] : 0;
  }
  LaneMask lanes_at_least(Component component, uint32_t count) const {
    if (all_lanes(component) >= count) return kAllLanes;
    return ragged_.empty() ? 0 : ragged_at_least(component, count);
  }
  uint32_t lane(Component component, int lane) const;
  // What is known of another CTA; null: nothing.
  const Clock* foreign(uint32_t cta) const;

  const std::vector<uint32_t>& counts() const { return counts_; }
  const std::vector<Ragged>& ragged() const { return ragged_; }
  const std::vector<Foreign>& foreigns() const { return foreign_; }
  size_t bytes() const;

 private:
  friend class ClockRef;
  friend class ClockBuilder;
  LaneMask ragged_at_least(Component component, uint32_t count) const;

  uint32_t references_ = 0;
  std::vector<uint32_t> counts_;
  std::vector<Ragged> ragged_;    // ascending by component; counts_ holds the least of the lanes
  std::vector<Foreign> foreign_;  // ascending by CTA
};

// Makes one clock out of others. Start, join and raise, finish.
class ClockBuilder {
 public:
  explicit ClockBuilder(ClockRef base);
  void join(const Clock* other);
  void raise(Component component, uint32_t count);
  void raise_lanes(Component component, const LaneCounts& counts);
  // Joins what `home` (a clock of CTA `from`) says into this clock of CTA `to`.
  void join_from(uint32_t from, const ClockRef& home, uint32_t to);
  // Joins a clock of no CTA (kNoCta: all it knows is in its list) into this clock of CTA `to`.
  void join_neutral(const Clock* neutral, uint32_t to);
  // The base itself if nothing was added to it.
  ClockRef finish();

 private:
  void own();  // from now on `next_` is ours to change
  void join_foreign(uint32_t cta, const ClockRef& clock);
  Clock::Ragged& ragged(Component component);
  void settle(Component component);

  ClockRef base_;
  std::unique_ptr<Clock> next_;  // null while nothing differs from the base
};

bool covers(const Clock* big, const Clock* small);
ClockRef join(const ClockRef& a, const ClockRef& b);

}  // namespace lw::order
