#pragma once
// mbarrier objects (PTX: Parallel Synchronization and Communication Instructions, mbarrier) as a
// state machine, and the table of those that live in one CTA's shared memory.
//
// An object counts down `pending` arrivals and a signed number of bytes (`tx`) of its current
// phase; when both are zero the phase is complete at once: the phase number goes up by one, pending
// starts again from `expected`. A wait may ask for the current phase (false) or the one just before
// (true), by the state that an arrive returned, or by the parity of its number. The phase before
// phase 0 counts as complete, so a wait for parity 1 passes on a fresh object (rule MB-21).
//
// The 64 bits in shared memory are opaque and no ordinary access may touch them while the object is
// valid (rule MB-33), so the truth is kept here and the bytes hold a picture of it (`image`), for
// kernels that look nevertheless and for dumps. A state is ours to choose too:
//
//   bits 63..20  number of the phase current at the arrive      bits 19..0  pending arrivals before
//   it
//
// Full phase numbers make a state that is two phases old an error (E-5) instead of an alias.

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/ids.h"

namespace lw::machine {

enum class MbarrierFault : uint8_t {
  none,
  count_range,         // init or arrive with a count outside 1..2^20-1
  too_many_arrivals,   // more than are pending in the phase
  completes_phase,     // a `.noComplete` arrival that would be the last
  drops_to_zero,       // arrive_drop leaves no expected arrival
  tx_range,            // bytes outside -(2^20-1)..2^20-1
  phase_not_waitable,  // a state of neither the current phase nor the one before
};
std::string_view mbarrier_fault_text(MbarrierFault fault);

class Mbarrier {
 public:
  static constexpr uint32_t kMaxCount = (1u << 20) - 1;
  static constexpr int32_t kMaxTx = (1 << 20) - 1;
  static constexpr int64_t kBeforeFirst = -1;  // the phase that is complete on a fresh object

  struct Arrive {
    uint32_t count = 1;
    bool drop = false;
    bool no_complete = false;
  };
  // What an operation did. Nothing has changed if there is a fault.
  struct Outcome {
    MbarrierFault fault = MbarrierFault::none;
    bool completed = false;  // the phase that was current is complete
  };

  // `count` must be in range: see check_count.
  explicit Mbarrier(uint32_t count) : expected_(count), pending_(count) {}
  static MbarrierFault check_count(uint32_t count);

  Outcome arrive(const Arrive& arrive);
  // `arrive.expect_tx`: the bytes first, then one arrival, in one step.
  Outcome arrive_expect(int64_t bytes, const Arrive& arrive);
  Outcome expect(int64_t bytes);
  Outcome complete(int64_t bytes) { return expect(-bytes); }
  // `cp.async.mbarrier.arrive` without `.noinc`: one arrival more in the current phase.
  MbarrierFault add_pending();

  uint64_t state() const { return (static_cast<uint64_t>(phase_) << 20) | pending_; }
  static uint32_t pending_of(uint64_t state) { return static_cast<uint32_t>(state & kMaxCount); }
  static int64_t phase_of(uint64_t state) { return static_cast<int64_t>(state >> 20); }

  bool passes_parity(uint32_t parity) const { return (phase_ & 1) != (parity & 1); }
  MbarrierFault check_state(uint64_t state) const;
  bool passes_state(uint64_t state) const { return phase_of(state) < phase_; }

  int64_t phase() const { return phase_; }  // the current, incomplete one
  int64_t last_complete() const { return phase_ - 1; }
  uint32_t expected() const { return expected_; }
  uint32_t pending() const { return pending_; }
  int32_t tx() const { return tx_; }
  uint64_t image() const;

 private:
  bool settle();

  int64_t phase_ = 0;
  uint32_t expected_;
  uint32_t pending_;
  int32_t tx_ = 0;
};

// The valid objects of a CTA, by offset in its shared memory. Few, and asked for in bursts.
class MbarrierTable {
 public:
  static constexpr uint32_t kObjectBytes = 8;

  struct Entry {
    uint32_t offset;
    base::OpId initialised_by;
    Mbarrier object;
    uint32_t signals_pending = 0;  // asynchronous operations in flight that will signal it
  };

  Entry* find(uint32_t offset);
  Entry& add(uint32_t offset, uint32_t count, base::OpId op);  // no valid object may be there
  void remove(uint32_t offset);

  // The first object that shares a byte with [begin, begin + size); most accesses are outside the
  // span of all objects and cost two comparisons.
  const Entry* overlapping(uint32_t begin, uint32_t size) const {
    if (begin >= end_ || begin + size <= begin_) return nullptr;
    return search(begin, size);
  }
  std::span<const Entry> entries() const { return entries_; }
  // All objects lie in [begin, end) of the shared memory; begin >= end if there are none.
  uint32_t begin() const { return begin_; }
  uint32_t end() const { return end_; }

 private:
  const Entry* search(uint32_t begin, uint32_t size) const;
  void measure();

  std::vector<Entry> entries_;  // by offset
  uint32_t begin_ = 0;          // all objects lie in [begin_, end_)
  uint32_t end_ = 0;
};

}  // namespace lw::machine
