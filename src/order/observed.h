#pragma once
// A write that a strong read has observed comes before all that the read comes before, even if no
// release and no acquire had a part in it (rule book M-15; PTX ISA 8.9.5). It is one step and
// carries nothing else: the thread that drew the last ticket may set the counter back by a plain
// store, but what others wrote before their tickets is not ordered by that.
//
// A read observes the last plain write to its word and the atomics since, so it is enough to number
// the writes of a word. Only reads whose value is used count: D-5 and D-6 ask for those whether
// they find the same in every schedule.
//
// misses (an alarm too many at most): what a thread knows of the reads of other CTAs; a proxy fence
// between the read and an access of the async proxy, which needs one (8.9.5).

#include <cstdint>
#include <map>
#include <tuple>
#include <vector>

#include "order/facts.h"
#include "order/publish.h"

namespace lw::order {

struct Doing;
struct Object;

class Observations {
 public:
  // Lanes of a warp that went to the word together, and how.
  struct Visit {
    uint32_t cta = 0;
    ControlEvent event;
    Scope scope = Scope::kCta;
    uint8_t bytes = 0;
  };

  // In this order for an atomic.
  void read(const Visit& visit);
  void write(const Visit& visit, bool atomic);
  // A weak write went over the word.
  void cut() { since_ = version_ + 1; }

  // Does the later lane come after a read that has observed the write `earlier` by the lanes `x`?
  bool ordered(const Doing& doing, const Object& earlier, LaneMask x, LaneMask lane) const;

 private:
  using Who = std::tuple<uint32_t, uint32_t, LaneMask, uint8_t>;  // CTA, warp, lanes, bytes
  static Who who(const Visit& visit) {
    return {visit.cta, visit.event.warp, visit.event.lanes, visit.bytes};
  }
  struct Write {
    Visit visit;
    uint32_t version = 0;
  };
  struct Read {
    Visit visit;
    uint32_t first = 0;  // versions of what it observed
    uint32_t last = 0;
  };

  uint32_t version_ = 0;                    // the last write
  uint32_t since_ = 1;                      // the first that is observed now
  std::map<Who, Write> writes_;             // the last of each
  std::map<Who, std::vector<Read>> reads_;  // the latest of each
};

// The same of the word in which `address` lies, and of each of the lanes `y`.
bool is_observed(const Doing& doing, const Object& earlier, uint64_t address, LaneMask x,
                 LaneMask y);

}  // namespace lw::order
